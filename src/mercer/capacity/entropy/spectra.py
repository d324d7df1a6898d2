r"""Eigenvalues of the integral operator of a kernel, as the bounds of this package need them.

By Mercer's theorem :math:`k(x, y) = \sum_j \lambda_j \psi_j(x) \psi_j(y)` with eigenfunctions of
unit length in L2(mu), so the features :math:`\Phi(x) = (\sqrt{\lambda_j} \psi_j(x))_j` lie in a box
with half sides :math:`C_k \sqrt{\lambda_j}`, where C_k bounds all eigenfunctions. That some such
C_k exists does not follow from the continuity of the kernel, contrary to what is often stated: it
is a condition, known for trigonometric systems and to be verified elsewhere.

Linear programming machines take symmetric kernels that need not be positive. With eigenvalues of
both signs an expansion is still linear in features: :math:`f(x) = \sum_i \alpha_i k(x_i, x) =
\langle w, \Phi(x) \rangle` with :math:`\Phi_j(x) = \sqrt{|\lambda_j|}\, \psi_j(x)` and
:math:`w_j = \operatorname{sign}(\lambda_j) \sqrt{|\lambda_j|} \sum_i \alpha_i \psi_j(x_i)`
(`SignedSpectrum`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from mercer.capacity.bound import Condition
from mercer.kernels import resolve
from mercer.objects.parameters import integer, positive, require_choice

from .diagonal import LogBlocks
from .inputs import Array, eigen, multiplicities_of, square

if TYPE_CHECKING:
    from .periodic import PeriodicSpectrum

__all__ = [
    "SignedSpectrum",
    "Spectrum",
    "diagonal_radius",
    "feature_box",
    "uncentred_covariance_spectrum",
]


_ASSUMED = Condition("no eigenfunction exceeds C_k anywhere")


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues with their multiplicities, and a bound on the eigenfunctions.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Positive eigenvalues, sorted at construction, largest first. Values of zero are dropped.
    multiplicities : ndarray of shape (n_values,)
        How often each occurs; once by default.
    C_k : float
        A bound on all eigenfunctions.
    tail : float
        An upper bound on the sum of the eigenvalues that are not listed; 0 for a complete list.
    conditions : tuple of Condition
        Conditions of the eigenvalues, which every bound computed from them inherits.

    Examples
    --------
    >>> from mercer.capacity.entropy import Spectrum
    >>> s = Spectrum([0.25, 1.0, 0.5], C_k=1.0)
    >>> s.values, s.trace
    (array([1.  , 0.5 , 0.25]), 1.75)
    """

    values: Array
    multiplicities: Any = None
    C_k: float = 1.0
    tail: float = 0.0
    conditions: tuple[Condition, ...] = field(default=(_ASSUMED,))

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError(
                "a spectrum is a list of finite eigenvalues >= 0. For a kernel with negative "
                "eigenvalues, in linear programming machines only, use SignedSpectrum."
            )
        counts = multiplicities_of(self.multiplicities, len(values))
        order = np.argsort(-values, kind="stable")
        order = order[values[order] > 0]
        if len(order) == 0:
            raise ValueError("a spectrum needs at least one eigenvalue above 0.")
        if not 0.0 <= self.tail < math.inf:
            raise ValueError(f"tail must be a finite sum of eigenvalues >= 0; got {self.tail!r}.")
        positive(self.C_k, "C_k")
        object.__setattr__(self, "values", values[order])
        object.__setattr__(self, "multiplicities", counts[order])

    @staticmethod
    def from_kernel(
        kernel: Any, domain: Any, *, n_nodes: int = 400, volume: float | None = None
    ) -> Spectrum:
        r"""Return estimates of the eigenvalues of a kernel on a domain, by quadrature.

        The eigenvalues of the Gram matrix of n nodes, times the volume over n, converge to those of
        the integral operator; likewise the eigenvectors to the eigenfunctions.

        Parameters
        ----------
        kernel : Kernel, str or callable
            The kernel.
        domain : tuple (low, high) or objects
            An interval or a box by two opposite corners, with midpoints as nodes; or a sample of
            objects from the uniform distribution on the domain.
        n_nodes : int >= 2, default=400
            Nodes, about so many on a box.
        volume : float > 0, optional
            Mass of the domain; for a sample 1 by default, which gives the spectrum for the
            distribution that the objects are drawn from.

        Returns
        -------
        Spectrum
            Estimates. Neither the eigenvalues nor C_k, the largest value of an eigenfunction at a
            node, are proved to be upper bounds; the conditions say so.

        References
        ----------
        Smola 1998, section 8.4.3.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.capacity.entropy import Spectrum
        >>> brownian = lambda A, B: np.minimum(A, B.T)
        >>> Spectrum.from_kernel(brownian, (0.0, 1.0)).values[:2].round(4)  # 1 / ((j - 1/2)^2 pi^2)
        array([0.4053, 0.045 ])
        """
        kernel = resolve(kernel)
        if isinstance(domain, tuple):
            nodes, mass = _midpoints(domain, integer(n_nodes, "n_nodes", minimum=2))
            volume = mass if volume is None else volume
        else:
            nodes = domain
        K = np.asarray(kernel.bind(nodes)(nodes), dtype=np.float64)
        return Spectrum.from_gram(K, volume=1.0 if volume is None else volume)

    @staticmethod
    def from_gram(K: Any, *, volume: float = 1.0, data: str = "sample") -> Spectrum:
        """Return the spectrum of a Gram matrix as an estimate of that of the integral operator.

        Parameters
        ----------
        K : array-like of shape (n, n)
            Kernel matrix of a sample.
        volume : float > 0, default=1.0
            Mass of the measure that the sample stands for.
        data : {"sample", "transductive"}, default="sample"
            "sample": the objects are a sample, and a bound on later objects is an estimate.
            "transductive": the matrix holds all objects that will ever be evaluated, training and
            test, so that its features are the features: the box is exact.

        Returns
        -------
        Spectrum
            Eigenvalues volume / n times those of K; C_k is the largest value of an eigenvector,
            scaled like an eigenfunction.

        References
        ----------
        Smola 1998, (8.13) and section 8.4.3.

        Examples
        --------
        >>> from mercer.capacity.entropy import Spectrum
        >>> Spectrum.from_gram([[1.0, 0.0], [0.0, 1.0]]).values
        array([0.5, 0.5])
        """
        matrix = square(K)
        require_choice(data, "data", ("sample", "transductive"))
        n = len(matrix)
        values, vectors = eigen(matrix)
        values, vectors = values[::-1], vectors[:, ::-1]
        rounding = n * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))
        if values[-1] < -10 * rounding:
            raise ValueError(
                f"the matrix has the eigenvalue {values[-1]:.3g}: the kernel is not positive "
                "semidefinite on these objects. For linear programming machines use SignedSpectrum."
            )
        kept = values > rounding
        scale = positive(volume, "volume")
        largest = float(np.abs(vectors[:, kept]).max()) * math.sqrt(n / scale)
        # Entries of unit vectors are at most 1, but those of directions left out may exceed C_k.
        left_out = float(np.abs(values[~kept]).sum() + n * rounding) * scale / n
        return Spectrum(
            values[kept] * scale / n,
            C_k=largest,
            tail=left_out * (n / scale) / largest**2,
            conditions=_gram_conditions(data, n),
        )

    @staticmethod
    def from_translation_invariant(
        kernel: Any,
        period: float,
        dimension: int = 1,
        *,
        n_shells: int | None = None,
        constant: str = "eigenfunctions",
    ) -> PeriodicSpectrum:
        r"""Return the spectrum of the periodic extension of a translation-invariant kernel.

        Parameters
        ----------
        kernel : Kernel, str or callable
            A bound kernel of x - z that decays with the distance; or its Fourier transform, a
            function of the length of the frequency, in the unitary convention.
        period : float > 0
            The period v. See `choose_period`: the larger it is, the more eigenvalues matter.
        dimension : int >= 1, default=1
            The number of columns d.
        n_shells : int >= 1, optional
            How many shells of the lattice to list (largest squared length of a wave vector; in one
            dimension the largest wave number). By default until the eigenvalues fall below 1e-300
            of the first, or 200,000 shells in one dimension, 60,000 in two and 20,000 in more.
        constant : {"eigenfunctions", "shells"}, default="eigenfunctions"
            "eigenfunctions": :math:`C_k = (2/v)^{d/2}`, a bound on each eigenfunction, as in the
            literature. "shells": the squares of the waves of one wave vector add up to a constant,
            so that for scalings which are constant on shells :math:`v^{-d/2}` serves as well, a
            factor :math:`2^{d/2}` less.

        Returns
        -------
        PeriodicSpectrum
            Eigenvalues by shells, with a certified sum of those that are not listed.

        References
        ----------
        Smola 1998, lemma 8.8, remark 8.9, corollary 8.15.

        Examples
        --------
        >>> from mercer.capacity.entropy import Spectrum
        >>> from mercer.kernels import RBF
        >>> s = Spectrum.from_translation_invariant(RBF(gamma=1.0), period=4.0)
        >>> s.values[:3].round(5), s.multiplicities[:3]
        (array([1.77245, 0.95649, 0.15031]), array([1., 2., 2.]))
        >>> s = Spectrum.from_translation_invariant(RBF(gamma=1.0), period=10.0)
        >>> round(s.trace, 9)  # v k_v(0)
        10.0
        """
        from .periodic import by_periodic_extension

        return by_periodic_extension(kernel, period, dimension, n_shells, constant)

    @property
    def trace(self) -> float:
        """The sum of all eigenvalues, with the tail."""
        return float(self.values @ self.multiplicities) + self.tail

    @property
    def radius(self) -> float:
        """A bound on the length of all features, C_k sqrt(trace)."""
        return self.C_k * math.sqrt(self.trace)

    @cached_property
    def blocks(self) -> LogBlocks:
        """Logarithms of the eigenvalues and their cumulative sums."""
        return LogBlocks.of(np.log(self.values), self.multiplicities)

    @cached_property
    def remainders(self) -> Array:
        """Sums of the eigenvalues beyond each block."""
        # From the small end, so that the sums keep their digits.
        weighted = (self.values * self.multiplicities)[::-1]
        return np.cumsum(np.append(self.tail, weighted[:-1]))[::-1]

    def leading(self, n_terms: int) -> Array:
        """Return the first eigenvalues, repeated by multiplicity."""
        reached = int(np.searchsorted(np.cumsum(self.multiplicities), n_terms)) + 1
        return np.repeat(self.values[:reached], self.multiplicities[:reached].astype(int))[:n_terms]

    def repeat(self, times: int) -> Spectrum:
        """Return the spectrum with every eigenvalue that many times, as for several outputs."""
        integer(times, "times", minimum=1)
        return Spectrum(
            self.values,
            self.multiplicities * times,
            self.C_k,
            self.tail * times,
            self.conditions,
        )


def feature_box(spectrum: Spectrum, n_terms: int) -> Array:
    """Return the half sides C_k sqrt(lambda_j) of the box that contains all features.

    Parameters
    ----------
    spectrum : Spectrum
        The spectrum of the kernel.
    n_terms : int >= 1
        How many sides.

    Returns
    -------
    ndarray of shape (n_terms,)
        The half sides, largest first.

    References
    ----------
    Smola 1998, (8.6).

    Examples
    --------
    >>> from mercer.capacity.entropy import Spectrum, feature_box
    >>> feature_box(Spectrum([4.0, 1.0], [1, 2], C_k=1.5), 3)
    array([3. , 1.5, 1.5])
    """
    return spectrum.C_k * np.sqrt(spectrum.leading(integer(n_terms, "n_terms", minimum=1)))


def diagonal_radius(spectrum: Spectrum, scaling: Any) -> float:
    r"""Return the radius of a ball that contains the features after a diagonal map.

    .. math:: R_S = C_k \bigl\| (s_j \sqrt{\lambda_j})_j \bigr\|_2

    Parameters
    ----------
    spectrum : Spectrum
        The spectrum of the kernel.
    scaling : array-like of shape (n_terms,)
        The factors s_j of the eigenvalues, repeated by multiplicity; the last serves all others.

    Returns
    -------
    float
        The radius; infinite if a factor is.

    References
    ----------
    Smola 1998, proposition 8.1.

    Examples
    --------
    >>> from mercer.capacity.entropy import Spectrum, diagonal_radius
    >>> round(diagonal_radius(Spectrum([4.0, 1.0]), [1.0, 3.0]) ** 2, 9)
    13.0
    """
    factors = np.asarray(scaling, dtype=np.float64)
    if factors.ndim != 1 or len(factors) == 0 or np.isnan(factors).any():
        raise ValueError("scaling must be a list of factors, one per eigenvalue.")
    listed = int(spectrum.multiplicities.sum())
    head = spectrum.leading(min(len(factors), listed))
    rest = max(0.0, spectrum.trace - float(head.sum())) if len(head) < listed else spectrum.tail
    total = float((factors[: len(head)] ** 2) @ head)
    return spectrum.C_k * math.sqrt(total + (factors[-1] ** 2 * rest if rest > 0 else 0.0))


def _gram_conditions(data: str, n: int) -> tuple[Condition, ...]:
    if data == "transductive":
        return (
            Condition(
                "the matrix holds all objects that will be evaluated",
                "unknown",
                "training and test objects together",
            ),
        )
    return (
        Condition("the eigenvalues are those of the integral operator", "unknown", f"{n} objects"),
        Condition("no eigenfunction exceeds C_k anywhere", "unknown", f"largest of {n} values"),
    )


def _midpoints(domain: Sequence[Any], n: int) -> tuple[Array, float]:
    low, high = (np.atleast_1d(np.asarray(end, dtype=np.float64)) for end in domain)
    if low.shape != high.shape or low.ndim != 1 or not (low < high).all():
        raise ValueError(
            "a domain is an interval (low, high) or a box by two opposite corners, low < high in "
            f"every coordinate; got {domain!r}."
        )
    side = max(2, round(n ** (1 / len(low))))
    axes = [a + (b - a) * (np.arange(side) + 0.5) / side for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))
    return grid, float(np.prod(high - low))


def uncentred_covariance_spectrum(K: Any) -> Array:
    r"""Return the eigenvalues of the uncentred covariance of a sample in feature space.

    They are those of K / n. In any orthonormal basis, the largest projections c_i of features
    satisfy :math:`c_i^2 \ge e_i' C e_i` with this covariance C, so no basis gives a box whose sides
    decay faster than the square roots of these eigenvalues.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.

    Returns
    -------
    ndarray of shape (n,)
        Eigenvalues, largest first; for uniform objects on a domain they converge to the
        eigenvalues of the integral operator over its volume.

    References
    ----------
    Smola 1998, (8.11) to (8.13).

    Examples
    --------
    >>> from mercer.capacity.entropy import uncentred_covariance_spectrum
    >>> uncentred_covariance_spectrum([[2.0, 0.0], [0.0, 4.0]])
    array([2., 1.])
    """
    matrix = np.asarray(K, dtype=np.float64)
    return scipy.linalg.eigvalsh((matrix + matrix.T) / 2)[::-1] / len(matrix)


@dataclass(frozen=True, eq=False)
class SignedSpectrum(Spectrum):
    """The absolute eigenvalues of a symmetric kernel, with the signs of a Gram matrix.

    Attributes
    ----------
    signs : ndarray, optional
        Signs of the eigenvalues, by falling absolute value.
    vectors : ndarray, optional
        Eigenvectors of the Gram matrix, one column per eigenvalue.
    values : ndarray
        Absolute eigenvalues, largest first.
    multiplicities : array-like of int, optional
        How often each of them occurs; by default once.
    C_k : float, default=1
        Bound on the absolute value of all eigenfunctions.
    tail : float, default=0
        Bound on the sum of the eigenvalues that are not listed.
    conditions : tuple of Condition
        Conditions under which this is the spectrum.

    Examples
    --------
    >>> from mercer.capacity.entropy import SignedSpectrum
    >>> s = SignedSpectrum.of([2.0, -3.0])
    >>> s.values, s.signs
    (array([3., 2.]), array([-1.,  1.]))
    """

    signs: Any = None
    vectors: Any = None

    @classmethod
    def of(cls, eigenvalues: Any, *, C_k: float = 1.0, tail: float = 0.0) -> SignedSpectrum:
        """Return the spectrum of a list of eigenvalues of both signs.

        Parameters
        ----------
        eigenvalues : array-like
            The eigenvalues, in any order, repeated by multiplicity.
        C_k, tail
            As for `Spectrum`; the tail is a sum of absolute values.
        """
        values = np.asarray(eigenvalues, dtype=np.float64)
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[values[order] != 0]
        return cls(np.abs(values[order]), None, C_k, tail, signs=np.sign(values[order]))

    @classmethod
    def from_gram(cls, K: Any) -> SignedSpectrum:  # type: ignore[override]
        """Return the spectrum of a symmetric Gram matrix, as an estimate for its kernel.

        Parameters
        ----------
        K : array-like of shape (n, n)
            A symmetric matrix, positive or not.
        """
        matrix = np.asarray(K, dtype=np.float64)
        n = len(matrix)
        values, vectors = eigen(matrix)
        order = np.argsort(-np.abs(values))
        rounding = n * np.finfo(np.float64).eps * np.abs(values).max()
        order = order[np.abs(values[order]) > rounding]
        largest = float(np.abs(vectors[:, order]).max()) * math.sqrt(n)
        return cls(
            np.abs(values[order]) / n,
            None,
            largest,
            n * rounding,
            (Condition("the eigenvalues are those of the integral operator", "unknown", f"n={n}"),),
            signs=np.sign(values[order]),
            vectors=vectors[:, order],
        )

    def features(self) -> Array:
        """Return the features of the objects of the Gram matrix, one row each."""
        if self.vectors is None:
            raise ValueError("features are those of a Gram matrix: use SignedSpectrum.from_gram.")
        n = len(self.vectors)
        return np.asarray(self.vectors * np.sqrt(self.values * n))

    def weights(self, coef: Any) -> Array:
        """Return the weight vector of the expansion with these coefficients."""
        return self.signs * (np.asarray(coef, dtype=np.float64) @ self.features())
