"""The global alignment kernel of time series."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from mercer import _native
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import integer, real, show
from mercer.objects.validation import Objects
from mercer.objects.vocabulary import Vocabulary

from ..definiteness import PSD
from ..sequences.path_sums import Scaled, ScaledGradient, in_blocks, padded, path_sums
from ..sequences.sequence_kernel import offsets
from .series_input import WHAT, as_series


class Points(NamedTuple):
    """Series one after another: points, and where each series begins and ends."""

    value: np.ndarray
    start: np.ndarray

    @property
    def has_unknown(self) -> bool:
        """False: all points are known."""
        return False

    def add_to(self, store: Any, norm: np.ndarray | None, form: tuple[Any, ...]) -> None:
        """Append the series to native objects."""
        store.points(self.value, self.start, norm)

    def diagonal(self, form: tuple[Any, ...]) -> np.ndarray:
        """Return k(x, x), or its logarithm, of a native kernel."""
        return _native.point_diagonal(form, self.value, self.start)


class GlobalAlignment(ScaledGradient):
    r"""Sums the similarities of two series over all their alignments.

    .. math::

        k(x, z) = \sum_{\pi} \prod_{i = 1}^{|\pi|} \kappa(x_{\pi_1(i)}, z_{\pi_2(i)}), \qquad
        \kappa = \frac{g}{2 - g}, \quad g(a, b) = \exp(-\gamma \|a - b\|^2)

    over all alignments: paths from the first to the last points of both that advance by one in
    one of the series or in both. The series may have different lengths; a series without points
    has value 0. Positive semidefinite, because :math:`\kappa / (1 + \kappa) = g / 2` is, which is
    sufficient; the Gaussian itself as :math:`\kappa` does not meet this condition. A value costs
    O(\|x\| \|z\|), or O(\|x\| `band`).

    The sum grows with the number of alignments, exponentially in the lengths;
    ``normalize(GlobalAlignment(...))`` works with logarithms and has no limit. Values of one
    series with itself are far larger than with others if gamma is large: the default follows the
    advice to measure distances in units of the typical one, times the root of the length.

    Parameters
    ----------
    gamma : "scale" or float > 0, default="scale"
        The inverse squared width, :math:`1 / (2 \sigma^2)`. "scale" takes for :math:`\sigma^2` the
        mean squared distance of two points of the training series times the mean length.
    band : int >= 1, optional
        Points i and j are compared only if \|i - j\| < band, and g is multiplied with
        1 - \|i - j\| / band, which is a positive semidefinite function of the two positions.

    Notes
    -----
    Use it to classify time series that run at different speeds, such as gestures, speech and
    handwriting. ``normalize`` it always, standardise the channels, keep gamma="scale" first, and
    give `band` a tenth of the length for speed. A value costs the product of the lengths, so some
    thousands of series of some hundreds of points. Avoid it where the time at which things happen
    matters; Delayed or vectors of samples keep it.

    References
    ----------
    M. Cuturi, J.-P. Vert, O. Birkenes, T. Matsui. "A kernel for time series based on global
    alignments." ICASSP, 2007. M. Cuturi. "Fast global alignment kernels." ICML, 2011.

    Examples
    --------
    >>> from mercer.kernels import GlobalAlignment, normalize
    >>> series = [[0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    >>> normalize(GlobalAlignment(gamma=0.5))(series).round(3)
    array([[1.   , 0.76 , 0.006],
           [0.76 , 1.   , 0.004],
           [0.006, 0.004, 1.   ]])
    """

    gamma: float | str = "scale"
    band: int | None = None

    _objects = Objects(WHAT, structured=True)
    definiteness = PSD  # kappa / (1 + kappa) is
    logarithmic = True  # values grow exponentially with the lengths

    def _check(self) -> None:
        if isinstance(self.gamma, str):
            if self.gamma != "scale":
                raise ValueError(f"gamma must be 'scale' or a number; got {self.gamma!r}.")
        elif real(self.gamma, "gamma", minimum=0.0) == 0:
            raise ValueError(f"gamma must be positive; got {show(self.gamma)}.")
        if self.band is not None:
            integer(self.band, "band", minimum=1)

    @property
    def is_bound(self) -> bool:
        """Whether `gamma` is a number."""
        return not isinstance(self.gamma, str)

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        if self.is_bound:
            return self.replace()
        X = as_series(views.X, type(self).__name__)
        w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        lengths = np.array([len(x) for x in X], dtype=np.float64)
        points = np.concatenate(X)
        share = np.repeat(w, [len(x) for x in X])
        total = share.sum()
        if total == 0:
            return self.replace(gamma=1.0)
        mean = share @ points / total
        distance = 2.0 * float(share @ ((points - mean) ** 2).sum(axis=1)) / total
        sigma2 = distance * float(w @ lengths) / float(w.sum())
        return self.replace(gamma=1.0 / (2.0 * sigma2) if sigma2 > 0 else 1.0)

    def validate(self, X: Any, against: Any = None) -> list[np.ndarray]:
        return as_series(X, type(self).__name__)

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of series")
        builder.sequence(self)

    def encode(self, X: list, vocabulary: Vocabulary) -> Points:
        """Return the series one after another; see :meth:`SequenceKernel.encode`."""
        X = as_series(X, type(self).__name__)
        width = vocabulary.memory.setdefault("width", X[0].shape[1])
        if X[0].shape[1] != width:
            raise ValueError(
                f"series of {X[0].shape[1]} variables cannot be compared with series of {width}."
            )
        return Points(np.ascontiguousarray(np.concatenate(X)), offsets(X))

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        """Return the native evaluator; see :meth:`SequenceKernel.native_form`."""
        self.require_bound("on pairs of series")
        return ("global_alignment", float(self.gamma), 0 if self.band is None else int(self.band))

    def _named(self, slopes: np.ndarray) -> dict[str, np.ndarray]:
        return {"gamma": slopes[0]}

    def _scaled(self, X: Any, Z: Any) -> Scaled:
        gamma = float(self.gamma)
        x, rows = padded(X)
        z, columns = padded(Z)

        def block(part: slice) -> Scaled:
            def steps(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
                square = ((x[part, None, i - 1] - z[None, :, j - 1]) ** 2).sum(axis=-1)
                near = (i > 0) & (j > 0)
                if self.band is not None:
                    near = near * np.maximum(0.0, 1.0 - np.abs(i - j) / int(self.band))
                g = near * np.exp(-gamma * square)
                kappa = np.stack([g / (2.0 - g), -2.0 * square * g / (2.0 - g) ** 2])
                return kappa, kappa, kappa

            return path_sums(rows[part], columns, steps, 1)

        sums = in_blocks(block, len(X), 2 * len(Z) * x.shape[1])
        sums.numbers[:, (rows == 0)[:, None] | (columns == 0)] = 0.0  # no alignment
        return sums
