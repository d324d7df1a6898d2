"""Kernels from the user's own Python functions: of two collections, or of features."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import show
from mercer.objects.rows import canonical_rows, dense
from mercer.objects.validation import Objects, as_objects, count
from mercer.objects.vocabulary import Vocabulary

from .algebra.operands import require_kernel
from .base import Kernel
from .definiteness import PSD, UNKNOWN, Definiteness, through_a_map
from .mapping import FeaturesOf, ValidFor
from .vectors.linear import Linear


class FromFunction(Kernel):
    r"""A vectorised Python function as a kernel on any objects.

    .. math:: k(x, z) = f(x, z)

    The function is called once per tile of the kernel matrix, with two collections of objects,
    and returns the matrix of their values; it must be symmetric in its two arguments and treat
    each pair on its own. A machine refuses a function that it finds not to be symmetric. Its
    definiteness is unknown unless declared.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns an array of shape (len(A), len(B)). A and B are of the kind
        that was passed in: arrays, CSR matrices or lists of objects.
    definiteness : str, default="unknown"
        Definiteness of the function, if known: one of the values of :class:`Definiteness`.
    diagonal : callable, optional
        ``diagonal(A)`` returns the values k(x, x), if there is a faster way than small tiles.

    Notes
    -----
    Use it to try a similarity of your own in one line, on objects of any kind. Return a whole
    matrix per call with NumPy: the function runs in Python, once per tile, and the solver waits for
    it. Declare the definiteness if you know it, else test it with :func:`mercer.inspection.check`.
    Avoid it where there are explicit features: FromFeatureMap computes them once and compares
    natively.

    Examples
    --------
    >>> from mercer.kernels import FromFunction
    >>> common = FromFunction(lambda A, B: [[len(a & b) for b in B] for a in A])
    >>> common([{1, 2}, {2, 3, 4}])
    array([[2., 1.],
           [1., 3.]])
    """

    _given: ClassVar[bool] = True
    """Its values are the kernel, whatever they should be: a proof takes them for exact."""

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
        self._check_all()

    def _check(self) -> None:
        require_callable(self.function, "function")
        if not isinstance(self._definiteness, Definiteness):
            claims = ", ".join(repr(str(d)) for d in Definiteness)
            raise ValueError(f"definiteness must be one of {claims}; got {self.definiteness!r}.")
        if self.diagonal is not None:
            require_callable(self.diagonal, "diagonal")

    @property
    def definiteness(self) -> Definiteness:
        """What the user declared."""
        claim: Definiteness = self._definiteness
        return claim

    @definiteness.setter
    def definiteness(self, claim: str) -> None:
        known = claim in list(Definiteness)
        self._definiteness: Any = Definiteness(claim) if known else claim

    def tile(self, A: Any, B: Any) -> np.ndarray:
        try:
            return checked(self.function(A, B), (count(A), count(B)), self.function)
        except (TypeError, ValueError) as error:
            if _takes_single_objects(self.function, A, B):
                raise TypeError(
                    f"{show(self.function)} takes two objects and returns a number; the function "
                    "of a kernel takes two collections and returns the matrix of their values. "
                    "Wrap it: FromFunction(lambda A, B: [[f(a, b) for b in B] for a in A])."
                ) from error
            raise

    def tile_diagonal(self, A: Any) -> np.ndarray:
        if self.diagonal is None:
            return super().tile_diagonal(A)
        return checked(self.diagonal(A), (count(A),), self.diagonal)


class FromFeatureMap(Kernel):
    r"""A kernel on the images of objects under a Python function: any map, then any kernel.

    .. math:: k(x, z) = k_0(\phi(x), \phi(z)), \quad \text{by default } \phi(x) \cdot \phi(z)

    The function is called once for each set of objects, not for each tile of the kernel matrix,
    and the images are compared natively. The dot product is positive semidefinite whatever the
    function; with one feature it is the kernel f(x) f(z). Another kernel keeps its definiteness,
    without strictness: different objects may have the same image.

    Parameters
    ----------
    phi : callable
        ``phi(A)`` returns an array or CSR matrix of shape (len(A), n_features); row i may
        depend on object i only.
    kernel : Kernel, optional
        The kernel of the images, by default the dot product. Its ``gamma="scale"`` refers to the
        images.

    Notes
    -----
    Use it to bring your own features, from a neural network, a parser or a formula, to any kernel
    on vectors: the map runs once per object and the values are computed natively. Return a CSR
    matrix when most features are 0. Avoid it for maps that look at several objects at once, such as
    scaling by the mean; those are transformers in a pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF, FromFeatureMap
    >>> lengths = FromFeatureMap(lambda words: np.array([[len(w)] for w in words]))
    >>> lengths(["a", "bcd"])
    array([[1., 3.],
           [3., 9.]])
    >>> FromFeatureMap(lengths.phi, kernel=RBF(0.1))(["a", "bcd"]).round(6)
    array([[1.     , 0.67032],
           [0.67032, 1.     ]])
    """

    phi: Callable[[Any], Any]
    kernel: Kernel | None = None

    _objects: ClassVar[Objects] = Objects(
        "any objects its feature map accepts", accepts_sparse=True
    )
    translation_invariant = False  # not known of a function
    _is_restricted = False

    def _check(self) -> None:
        require_callable(self.phi, "phi")
        if self.kernel is not None:
            require_kernel(self.kernel, "kernel", "FromFeatureMap")
            if self.kernel.pairwise:
                raise ValueError(
                    "the images of a map are features, not rows of a kernel matrix; use a kernel "
                    "on vectors."
                )

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite for the dot product; what a map leaves of another kernel's."""
        return PSD if self.kernel is None else through_a_map(self.kernel.definiteness)

    @property
    def takes(self) -> Objects:
        """The objects that the function accepts."""
        return self._objects

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        if self.kernel is None or self.kernel.is_bound:
            return self.replace(kernel=deepcopy(self.kernel))

        images = views.over(as_objects(views.X, type(self).__name__)).images(self._map)
        return self.replace(kernel=self.kernel._bound(Views(images), weight, None))

    def validate(self, X: Any, against: Any = None) -> Any:
        return as_objects(X, type(self).__name__)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features of the objects `X`; see :meth:`Kernel.map_features`."""
        images = self._images(self.validate(X))
        return images if self.kernel is None else self.kernel.map_features(images, vocabulary)

    def features(self, X: Any) -> Any:
        """Return the images of validated objects, as the kernel of the images takes them."""
        images = self._images(X)
        return images if self.kernel is None else self.kernel.validate(images)

    def compile(self, builder: Builder) -> None:
        with builder.through(self._map):
            if self.kernel is None:
                Linear().compile(builder)
                return
            with builder.through(ValidFor(self.kernel)):
                self.kernel.compile(builder)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        if self.kernel is None:
            return {}
        A = self.features(X)
        inner = self.kernel._gradient(A, A if X is Z else self.features(Z))
        return {f"kernel__{name}": matrix for name, matrix in inner.items()}

    @property
    def _map(self) -> FeaturesOf:
        """The function as a map, which does not depend on the kernel of the images."""
        return FeaturesOf(self.replace(kernel=None))

    def _images(self, A: Any) -> Any:
        features = self.phi(A)
        if sp.issparse(features):
            features = canonical_rows(features)
            checked(features.data, features.data.shape, self.phi)
        else:
            features = checked(features, (count(A), None), self.phi)
        if features.shape[0] != count(A):
            raise ValueError(
                f"{show(self.phi)} returned {features.shape[0]} rows for {count(A)} objects."
            )
        return features


def _takes_single_objects(function: Callable[[Any, Any], Any], A: Any, B: Any) -> bool:
    """Return whether a function that fails on two collections gives a number for two objects."""
    try:
        return np.ndim(function(A[0], B[0])) == 0
    except Exception:  # the function is the user's
        return False


def require_callable(function: Any, name: str) -> None:
    """Reject a value that is not callable."""
    if not callable(function):
        raise TypeError(f"{name} must be callable; got {function!r}.")


def checked(values: Any, shape: tuple[int | None, ...], function: Any) -> np.ndarray:
    """Return the result of a user's function as float64, or refuse it."""
    array = dense(values)
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
