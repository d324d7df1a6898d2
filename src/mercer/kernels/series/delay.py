"""Delay embedding: the recent past of a time series as a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.objects.parameters import EstimatorParameters, integer, integer_from, parameter
from mercer.objects.validation import Objects, validated

from ..feature_kernel import FeatureKernel
from .series_input import as_series, one_series, require_finite

INCOMPLETE = ("repeat", "drop")


class DelayEmbedding(TransformerMixin, EstimatorParameters, BaseEstimator):
    r"""Time series as vectors of their recent values.

    .. math:: \phi(t) = (x_t, x_{t-\tau}, x_{t-2\tau}, \dots, x_{t-(m-1)\tau})

    For a deterministic system and m large enough the vectors determine its state (F. Takens,
    1981), so any kernel on vectors becomes one on states, for forecasting and classification.

    As a transformer its rows are times: ``make_pipeline(DelayEmbedding(3), SVR())`` predicts
    :math:`y_t` from :math:`\phi(t)`. `windows` lists the vectors of one series, which
    :class:`Convolution` compares; :class:`Delayed` is a kernel on histories.

    Parameters
    ----------
    dimension : int >= 1, default=3
        The number m of values of each channel.
    delay : int >= 1, default=1
        The time :math:`\tau` between them, in steps.
    incomplete : {"repeat", "drop"}, default="repeat"
        Treatment of the first (m - 1) tau times, whose past is incomplete: the first value is
        repeated, which keeps the rows of X and y aligned, or the rows are dropped.

    Attributes
    ----------
    n_features_in_ : int
        The number of channels.

    Examples
    --------
    >>> from mercer.kernels import DelayEmbedding
    >>> DelayEmbedding(dimension=2, delay=2).fit_transform([[1.0], [2.0], [3.0], [4.0]])
    array([[1., 1.],
           [2., 1.],
           [3., 1.],
           [4., 2.]])
    """

    n_features_in_: int

    if TYPE_CHECKING:  # the types of scikit-learn's methods, which it does not state

        def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
            """Return the vectors of a series."""

        def set_output(self, *, transform: Any = None) -> Self:
            """Choose arrays or frames."""

    def __init__(self, dimension: int = 3, delay: int = 1, incomplete: str = "repeat") -> None:
        self.dimension = dimension
        self.delay = delay
        self.incomplete = incomplete

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the channels of a series of shape (n_times, n_channels); nothing is learned."""
        self._check()
        validated(self, X, dtype=[np.float64, np.float32])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors of a series.

        Parameters
        ----------
        X : array of shape (n_times, n_channels)
            A series, one row for each time.

        Returns
        -------
        ndarray of shape (n_times, dimension * n_channels)
            One row for each time, the latest values first; (dimension - 1) * delay rows less if
            incomplete ones are dropped.
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False, dtype=[np.float64, np.float32])
        return embedded(X, self.dimension, self.delay, self.incomplete)

    def windows(self, series: Any) -> np.ndarray:
        """Return the complete vectors of one series, n_times - (dimension - 1) * delay rows.

        None if the series, of shape (n_times,) or (n_times, n_channels), is too short.
        """
        self._check()
        x = one_series(series, 0, "windows")
        require_finite(x, 0, "windows")
        return embedded(x, self.dimension, self.delay, "drop")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns, channel and time, such as "x0(t-2)".

        `input_features`: the names of the channels.
        """
        check_is_fitted(self)
        names = (
            getattr(self, "feature_names_in_", None) if input_features is None else input_features
        )
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features must have {self.n_features_in_} names; got {len(names)}."
            )
        times = ["t"] + [f"t-{j * self.delay}" for j in range(1, self.dimension)]
        return np.array([f"{name}({time})" for time in times for name in names], dtype=object)

    def _check(self) -> None:
        integer(self.dimension, "dimension", minimum=1)
        integer(self.delay, "delay", minimum=1)
        if self.incomplete not in INCOMPLETE:
            raise ValueError(f"incomplete must be 'repeat' or 'drop'; got {self.incomplete!r}.")


class Delayed(FeatureKernel):
    r"""A kernel on time series that looks at their last values.

    .. math:: k(x, z) = k_0(\phi(x), \phi(z)), \quad
        \phi(x) = (x_T, x_{T-\tau}, \dots, x_{T-(m-1)\tau})

    T is the length of the series x, which may differ from one to another; where a series is too
    short its first value is repeated. As definite as :math:`k_0`, without strictness: series with
    the same last values are the same to it.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_0` on vectors.
    dimension : int >= 1, default=3
        The number m of values of each channel.
    delay : int >= 1, default=1
        The time :math:`\tau` between them, in steps.

    Notes
    -----
    Use it to classify or predict from the latest values of series of different lengths, with any
    kernel on vectors. Take m and the delay so that they span the memory of the system, some tenths
    of its period apart. It costs what that kernel costs on m values. Avoid it where the shape of a
    whole series matters, or events come at different times: GlobalAlignment compares those.

    Examples
    --------
    >>> from mercer.kernels import Delayed, Linear
    >>> Delayed(Linear(), dimension=2)([[9.0, 1.0, 2.0]], [[3.0, 4.0], [5.0]])
    array([[11., 15.]])
    """

    dimension: int = parameter(integer_from(1), default=3)
    delay: int = parameter(integer_from(1), default=1)

    _objects: ClassVar[Objects] = Objects(
        "time series: lists of numbers or arrays of shape (n_times, n_channels)", structured=True
    )

    def validate(self, X: Any, against: Any = None) -> list:
        """Return `X` as a list of series, arrays of shape (n_times, n_channels)."""
        name = type(self).__name__
        series = as_series(X, name)
        for i, x in enumerate(series):
            if not len(x):
                raise ValueError(f"series {i} is empty; {name} needs at least one value.")
        return series

    def features(self, X: Any) -> np.ndarray:
        """Return the last delay vector of every series; see `FeatureKernel.features`."""
        lags = np.arange(self.dimension) * self.delay
        series = self.validate(X)  # the column of a table comes as it is
        return np.array([x[np.maximum(len(x) - 1 - lags, 0)].ravel() for x in series])


def embedded(series: np.ndarray, dimension: int, delay: int, incomplete: str) -> np.ndarray:
    """Return the delay vectors of a series of shape (n_times, n_channels), latest value first."""
    reach = (dimension - 1) * delay
    times = np.arange(reach if incomplete == "drop" else 0, len(series))
    lags = np.arange(dimension) * delay
    index = np.maximum(times[:, None] - lags, 0)
    return series[index].reshape(len(times), dimension * series.shape[1])
