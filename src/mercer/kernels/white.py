"""White noise: a kernel that is 0 except between a sample and itself."""

from __future__ import annotations

from itertools import count as counter
from typing import Any, ClassVar

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import parameter, real_from
from mercer.objects.validation import ANY, Objects, count

from .base import Kernel, Wanted
from .definiteness import PD, PSD, Definiteness
from .hyperparameters import replaced

_FIRST = counter()  # blocks of identities that have been given out
_BLOCK = 1 << 40  # more than any set has objects


class White(Kernel):
    r"""White noise: a constant on the diagonal of the matrix of one set of objects.

    .. math:: k(x_i, x_j) = c \, \delta_{ij}

    The covariance of independent noise of variance c. It is the one kernel whose value depends on
    which sample an object is, not on what it looks like: ``k(X)`` and ``k.diag(X)`` carry the
    level, also for equal objects on the diagonal only; ``k(X, Z)`` of two sets is 0, and so is
    ``k(X, X)`` with two arguments. Subsets of a Gram matrix keep the identity of their rows.
    Positive definite.

    Parameters
    ----------
    level : float >= 0, default=1.0
        The variance c of the noise.

    Notes
    -----
    Use it as a term of the covariance of a Gaussian process, ``1.0 * RBF(0.5) + White(0.1)``: the
    noise level is then optimised with the other parameters. It costs nothing there. Avoid it in a
    support vector machine, where C plays this part: adding c to the diagonal gives the squared
    hinge loss with 1 / (2 C) = c. It does not change predictions, since new objects share no noise
    with training objects.

    Examples
    --------
    >>> from mercer.kernels import Linear, White
    >>> k = Linear() + White(0.5)
    >>> k([[1.0], [2.0]])
    array([[1.5, 2. ],
           [2. , 4.5]])
    >>> k([[1.0], [2.0]], [[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """

    level: float = parameter(real_from(0), default=1.0)

    _objects: ClassVar[Objects] = ANY
    depends_on_identity = True

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite; with level = 0 it is 0, which is semidefinite."""
        return PD if self.level > 0 else PSD

    def validate(self, X: Any, against: Any = None) -> Any:
        return X if hasattr(X, "shape") else super().validate(X, against)

    def compile(self, builder: Builder) -> None:
        if self.level == 0:
            builder.const(0.0)
            return
        with builder.through(Identities()):
            builder.python(_SameSample())
        builder.affine(float(self.level), 0.0)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        n = count(X)
        return {"level": np.eye(n) if X is Z else np.zeros((n, count(Z)))}

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        return {"level": np.trace(W) if X is Z else 0.0}

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        return {"level": np.ones(count(X))}

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        return np.zeros(X.shape)


class Identities:
    """The map of objects to numbers that no other object has, of this set or of another one.

    A Gram matrix maps its objects once; subsets of it keep the numbers.
    """

    takes = ANY

    def __call__(self, X: Any) -> np.ndarray:
        """Return a number for each of the objects."""
        return next(_FIRST) * _BLOCK + np.arange(count(X))[:, None]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identities)

    def __hash__(self) -> int:
        return hash(Identities)


class _SameSample(Kernel):
    """1 for one and the same sample, given the identities, else 0."""

    def tile(self, A: Any, B: Any) -> np.ndarray:
        return (A[:, :1] == B[:, 0]).astype(np.float64)

    def tile_diagonal(self, A: Any) -> np.ndarray:
        return np.ones(count(A))


def contains_white(kernel: Kernel) -> bool:
    """Return whether a part of the kernel is white noise of a positive level."""
    parts = [kernel, *kernel.get_params().values()]
    return any(isinstance(part, White) and part.level > 0 for part in parts)


def white_levels(kernel: Kernel) -> frozenset[str]:
    """Return the names of the levels of all white noise in the kernel."""
    if isinstance(kernel, White):
        return frozenset({"level"})
    params = kernel.get_params().items()
    return frozenset(f"{name}__level" for name, part in params if isinstance(part, White))


def without_white(kernel: Kernel, levels: frozenset[str] | None = None) -> Kernel:
    """Return the covariance between different samples: the kernel with all white noise at 0.

    The kernel itself where it has none. `levels`: the names of the levels, where they are known.
    """
    levels = white_levels(kernel) if levels is None else levels
    return replaced(kernel, dict.fromkeys(levels, 0.0)) if levels else kernel
