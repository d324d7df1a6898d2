"""Kernels from the user's own Python functions: of two collections, or of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import Kernel
from .definiteness import PSD, UNKNOWN, Definiteness
from .objects import Objects, count, stored_alike
from .parameters import show
from .vectors import Linear


class FromFunction(Kernel):
    r"""A vectorised Python function as a kernel on any objects.

    .. math:: k(x, z) = f(x, z)

    The function is called once per tile of the kernel matrix, with two collections of objects,
    and returns the matrix of their values; it must be symmetric in its two arguments and treat
    each pair on its own. Its definiteness is unknown unless declared.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns an array of shape (len(A), len(B)). A and B are of the kind
        that was passed in: arrays, CSR matrices or lists of objects.
    definiteness : str, default="unknown"
        What you know about the function, as one of the values of :class:`Definiteness`.
    diagonal : callable, optional
        ``diagonal(A)`` returns the values k(x, x), if there is a faster way than small tiles.

    Examples
    --------
    >>> from mercer.kernels import FromFunction
    >>> common = FromFunction(lambda A, B: [[len(a & b) for b in B] for a in A])
    >>> common([{1, 2}, {2, 3, 4}])
    array([[2., 1.],
           [1., 3.]])
    """

    _objects: ClassVar[Objects] = Objects("any objects its function accepts", accepts_sparse=True)

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        definiteness: str = UNKNOWN,
        diagonal: Callable[[Any], Any] | None = None,
    ) -> None:
        self.function = function
        self.definiteness = definiteness  # type: ignore[assignment]
        self.diagonal = diagonal
        self._check()

    def _check(self) -> None:
        _require_callable(self.function, "function")
        if self.diagonal is not None:
            _require_callable(self.diagonal, "diagonal")

    @property
    def definiteness(self) -> Definiteness:
        """What the user declared."""
        return self._definiteness

    @definiteness.setter
    def definiteness(self, claim: str) -> None:
        try:
            self._definiteness = Definiteness(claim)
        except ValueError:
            claims = ", ".join(repr(str(d)) for d in Definiteness)
            raise ValueError(f"definiteness must be one of {claims}; got {claim!r}.") from None

    def tile(self, A: Any, B: Any) -> np.ndarray:
        """Return the values of the function; see :meth:`Kernel.tile`."""
        return _checked(self.function(A, B), (count(A), count(B)), self.function)

    def tile_diagonal(self, A: Any) -> np.ndarray:
        """Return the values k(x, x); see :meth:`Kernel.tile_diagonal`."""
        if self.diagonal is None:
            return super().tile_diagonal(A)
        return _checked(self.diagonal(A), (count(A),), self.diagonal)


class FromFeatureMap(Kernel):
    r"""The dot product of features that a Python function computes.

    .. math:: k(x, z) = \phi(x) \cdot \phi(z)

    Positive semidefinite whatever the function.

    Parameters
    ----------
    phi : callable
        ``phi(A)`` returns an array or CSR matrix of shape (len(A), n_features); row i may
        depend on object i only.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import FromFeatureMap
    >>> lengths = FromFeatureMap(lambda words: np.array([[len(w)] for w in words]))
    >>> lengths(["a", "bcd"])
    array([[1., 3.],
           [3., 9.]])
    """

    _objects: ClassVar[Objects] = Objects(
        "any objects its feature map accepts", accepts_sparse=True
    )

    def __init__(self, phi: Callable[[Any], Any]) -> None:
        self.phi = phi
        self._check()

    def _check(self) -> None:
        _require_callable(self.phi, "phi")

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite: a dot product."""
        return PSD

    def feature_map(self, X: Any) -> Any:
        """Return the features of the objects `X`; see :meth:`Kernel.feature_map`."""
        return self._features(self.validate(X))

    def _features(self, A: Any) -> Any:
        features = self.phi(A)
        if sp.issparse(features):
            features = features.tocsr()
            _checked(features.data, features.data.shape, self.phi)
        else:
            features = _checked(features, (count(A), None), self.phi)
        if features.shape[0] != count(A):
            raise ValueError(
                f"{show(self.phi)} returned {features.shape[0]} rows for {count(A)} objects."
            )
        return features

    def tile(self, A: Any, B: Any) -> np.ndarray:
        """Return the dot products of the features; see :meth:`Kernel.tile`."""
        from mercer.gram import evaluate

        # Not left @ right.T: a value must not depend, in its last bits, on the size of the tile.
        return evaluate(Linear(), *stored_alike(self._features(A), self._features(B)))

    def tile_diagonal(self, A: Any) -> np.ndarray:
        """Return the squared norms of the features; see :meth:`Kernel.tile_diagonal`."""
        from .diagonal import squared_norms

        return squared_norms(self._features(A))


def _require_callable(function: Any, name: str) -> None:
    if not callable(function):
        raise TypeError(f"{name} must be callable; got {function!r}.")


def _checked(values: Any, shape: tuple[int | None, ...], function: Any) -> np.ndarray:
    """Return what a user's function returned as float64, or say what is wrong with it."""
    array = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("n_features" if want is None else str(want) for want in shape)
        raise ValueError(
            f"{show(function)} must return an array of shape ({wanted}); got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"{show(function)} returned NaN or infinity; a kernel value must be a finite number."
        )
    return array
