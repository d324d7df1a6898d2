"""A kernel scaled to the unit sphere of its feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram.norm_checks import check_norms
from mercer.gram.program import Builder
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel
from ..definiteness import UNKNOWN, Definiteness
from .operands import diagonal_gradients, nested, require_kernel


class Normalized(Kernel):
    r"""A kernel whose feature vectors are scaled to length one, made by :func:`normalize`.

    .. math:: k'(x, z) = k(x, z) / \sqrt{k(x, x) \, k(z, z)}

    The cosine of the angle in feature space; 0 where k(x, x) = 0, the feature vector being zero
    there. Raises ValueError if k(x, x) is negative, or 0 while some k(x, z) is not. As definite as
    the kernel, except that a conditional definiteness is lost.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Notes
    -----
    Use it where the size of objects should not count: long and short documents, sequences, sets.
    It makes C, and the weights of a sum, mean the same for all kernels. It needs k(x, x) of every
    object once and a product per value; for alignments, Substring and Subsequence it works with
    logarithms and cannot overflow. Avoid it where the size carries the signal, and on RBF and
    similar kernels, whose k(x, x) is 1 already.

    Examples
    --------
    >>> from mercer.kernels import Linear, normalize
    >>> normalize(Linear())([[1.0, 0.0]], [[3.0, 4.0]])
    array([[0.6]])
    """

    kernel: Kernel

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "Normalized")
        if self.kernel.pairwise:
            raise ValueError(
                "a precomputed matrix does not hold k(x, x) of new objects; normalise the values "
                "before they are passed: K / numpy.sqrt(numpy.outer(k_xx, k_zz))."
            )

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel: a congruence by a diagonal matrix.

        It moves the vectors of sum zero, on which alone a conditional claim holds.
        """
        claim = self.kernel.definiteness
        return UNKNOWN if claim.order else claim

    def compile(self, builder: Builder) -> None:
        form = self.kernel._normalized_form()
        if form is not None:
            form.compile(builder)
            return
        self.kernel.compile(builder)
        builder.normalize(self.kernel)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features over sqrt(k(x, x)); see :meth:`Kernel.map_features`.

        That is their length, unless some of them have no column in the vocabulary.
        """
        features = self.kernel.map_features(X, vocabulary)
        factors = np.sqrt(self._inverses(X))
        if sp.issparse(features):
            return sp.csr_array(features.multiply(factors[:, None]))
        return features * factors[:, None]

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return self.kernel.feature_names(columns, vocabulary)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        stated = self.kernel._normalized_gradient(X, Z)
        if stated is not None:
            return nested("kernel", stated, 1.0)
        inner = self.kernel._gradient(X, Z)
        if not inner:
            return {}
        # d [k / sqrt(u v)] = dk / sqrt(u v) - [k / sqrt(u v)] (du / u + dv / v) / 2
        rows, columns = self._inverses(X), self._inverses(Z)
        cosines = self._values(X, Z)
        own, other = diagonal_gradients(self.kernel, X, Z, inner)
        factor = np.sqrt(rows)[:, None] * np.sqrt(columns)
        return {
            f"kernel__{name}": factor * matrix
            - 0.5
            * cosines
            * ((own[name] * rows)[..., :, None] + (other[name] * columns)[..., None, :])
            for name, matrix in inner.items()
        }

    def _inverses(self, X: Any) -> np.ndarray:
        """Return 1 / k(x, x), 0 where it is 0."""
        diagonal = self.kernel.diag(X)
        return np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)

    @property
    def has_bounded_values(self) -> bool:
        # By the inequality of Cauchy and Schwarz; norms that overflow are refused.
        return self.kernel.definiteness.is_psd

    @property
    def _is_restricted(self) -> bool:
        return not self.kernel._has_norms or self.kernel._is_restricted

    def check_domain(self, X: Any) -> None:
        """Reject objects that have no norm under the kernel; see the base class."""
        self.kernel.check_domain(X)
        if not self.kernel._has_norms:
            check_norms(self.kernel, X)

    def validate(self, X: Any, against: Any = None) -> Any:
        X = self.kernel.validate(X, against)
        if self.is_bound and not self.kernel._has_norms:
            check_norms(self.kernel, X, against)
        return X

    def __repr__(self) -> str:
        return f"normalize({self.kernel!r})"


def normalize(kernel: Kernel) -> Normalized:
    """Return a kernel scaled to k(x, x) = 1.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Returns
    -------
    Normalized
        The kernel k(x, z) / sqrt(k(x, x) k(z, z)), 0 where k(x, x) = 0.

    Examples
    --------
    >>> from mercer.kernels import Linear, normalize
    >>> normalize(Linear())([[3.0, 4.0]], [[1.0, 0.0]])
    array([[0.6]])
    """
    return Normalized(kernel)
