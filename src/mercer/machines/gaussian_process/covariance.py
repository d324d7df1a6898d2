"""The covariance of a Gaussian process with its hyper-parameters as one vector theta.

theta holds the logarithms of the continuous parameters, because these are scales: a step in theta
is a factor. Two kinds of kernels stand behind the same methods: those of mercer, whose derivatives
are contracted in tiles, and scikit-learn's, which keep their own theta and bounds.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.kernels import Kernel, Precomputed

from ..errors import ParameterError

Array = NDArray[np.float64]

DEFAULT_BOUNDS = (1e-5, 1e5)
GAMMA_BOUNDS = (5e-11, 5e9)
"""gamma = 1 / (2 length_scale^2) of the default bounds on a length scale."""


class Covariance(Protocol):
    """What a Gaussian process asks of its kernel."""

    kernel: Any
    noise: float | None
    labels: list[tuple[str, int | None]]

    @property
    def theta(self) -> Array:
        """Logarithms of the hyper-parameters."""

    @property
    def bounds(self) -> Array:
        """Bounds on theta, of shape (p, 2)."""

    def with_theta(self, theta: Array) -> Covariance:
        """Return the covariance at other hyper-parameters."""

    def gram(self, X: Any) -> Gram:
        """Return the kernel matrix of the training objects."""

    def contract(self, X: Any, gram: Gram, W: Array) -> Array:
        """Return sum_ij W_ij dK_ij / dtheta."""

    def cross(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values between two sets."""

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set, with or without what is independent noise."""

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x), with or without what is independent noise."""


class MercerCovariance:
    """A bound kernel of mercer, with the noise variance of the observations as a last parameter.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    free : list of (name, position)
        The parameters that are optimised; position is None for a number and an index into a
        sequence.
    bounds : array of shape (p, 2)
        Bounds on theta.
    noise : float or None
        Variance of the noise; None: there is none to optimise.
    """

    def __init__(
        self, kernel: Kernel, free: list[tuple[str, int | None]], bounds: Array, noise: float | None
    ) -> None:
        self.kernel, self.free, self.bounds, self.noise = kernel, free, bounds, noise
        self.labels: list[tuple[str, int | None]] = list(free)
        if len(bounds) > len(free):
            self.labels.append(("noise", None))

    @property
    def theta(self) -> Array:
        """Logarithms of the parameters."""
        params = self.kernel.get_params()
        values = [params[n] if i is None else params[n][i] for n, i in self.free]
        if len(self.bounds) > len(self.free):
            values.append(self.noise)
        return np.log(np.array(values, dtype=np.float64))

    def with_theta(self, theta: Array) -> MercerCovariance:
        """Return the covariance at other hyper-parameters."""
        changes: dict[str, Any] = {}
        params = self.kernel.get_params()
        values = np.exp(theta)
        for (name, i), value in zip(self.free, values, strict=False):
            if i is None:
                changes[name] = float(value)
            else:
                changes.setdefault(name, list(params[name]))[i] = float(value)
        kernel = copied(self.kernel).set_params(**changes)
        kernel._check_changes()
        noise = float(values[-1]) if len(self.bounds) > len(self.free) else self.noise
        return MercerCovariance(kernel, self.free, self.bounds, noise)

    def gram(self, X: Any) -> Gram:
        """Return the kernel matrix of the training objects."""
        return Gram(self.kernel, X, dtype="float64")

    def contract(self, X: Any, gram: Gram, W: Array) -> Array:
        """Return sum_ij W_ij dC_ij / dtheta, by the chain rule of the logarithm."""
        sums = gram.contract(W) if self.free else {}
        found = [float(sums[n] if i is None else sums[n][i]) for n, i in self.free]
        if len(self.bounds) > len(self.free):
            found.append(float(np.trace(W)))
        return np.array(found) * np.exp(self.theta)

    def cross(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values between two sets."""
        return Prepared(self.kernel, Z).tile(X)

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set."""
        K = self.gram(X).tile()
        if noise and self.noise:
            K[np.diag_indices_from(K)] += self.noise
        return K

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x)."""
        return self.gram(X).diag() + (self.noise if noise and self.noise else 0.0)


class SklearnCovariance:
    """A kernel of scikit-learn, which keeps its own parameters, theta and bounds."""

    noise: float | None = None

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.labels: list[tuple[str, int | None]] = [
            (str(h.name), i)
            for h in kernel.hyperparameters
            if not h.fixed
            for i in range(h.n_elements)
        ]

    @property
    def theta(self) -> Array:
        """scikit-learn's theta: logarithms, of length scales for example."""
        return np.asarray(self.kernel.theta, dtype=np.float64)

    @property
    def bounds(self) -> Array:
        """Bounds on theta."""
        return np.asarray(self.kernel.bounds, dtype=np.float64).reshape(-1, 2)

    def with_theta(self, theta: Array) -> SklearnCovariance:
        """Return the covariance at other hyper-parameters."""
        return SklearnCovariance(self.kernel.clone_with_theta(theta))

    def gram(self, X: Any) -> Gram:
        """Return the kernel matrix of the training objects."""
        return Gram(Precomputed(), np.asarray(self.kernel(X), dtype=np.float64))

    def contract(self, X: Any, gram: Gram, W: Array) -> Array:
        """Return sum_ij W_ij dK_ij / dtheta."""
        _, gradient = self.kernel(X, eval_gradient=True)
        return np.einsum("ijk,ij->k", gradient, W)

    def cross(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values between two sets."""
        return self.kernel(X, Z)

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set; a WhiteKernel is left out of that of two sets."""
        return self.kernel(X) if noise else self.kernel(X, np.array(X, copy=True))

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x)."""
        if noise:
            return self.kernel.diag(X).copy()
        return np.array(
            [float(self.kernel(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(len(X))]
        )


def copied(kernel: Kernel) -> Kernel:
    """Return a kernel that shares no parameter object with another one."""
    from sklearn.base import clone

    return clone(kernel)


def free_parameters(
    kernel: Kernel, X: Any, bounds: Any
) -> tuple[list[tuple[str, int | None]], Array, list[str]]:
    """Return the continuous parameters that are optimised, their bounds, and those that are not.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X : objects
        A few validated objects, on which the kernel is asked for its derivatives.
    bounds : None, "fixed" or dict
        Bounds of single parameters, or "fixed"; the others have the default ones.

    Returns
    -------
    free, bounds, fixed
        Parameters as (name, position), bounds on their logarithms, and names of continuous
        parameters that stay as they are: those without a derivative, and those that are not
        positive.
    """
    if isinstance(bounds, str):
        if bounds != "fixed":
            raise ParameterError(f"bounds must be None, 'fixed' or a dict; got {bounds!r}.")
        return [], np.zeros((0, 2)), []
    given: dict[str, Any] = {} if bounds is None else dict(bounds)
    params = kernel.get_params()
    numbers = {
        name: value
        for name, value in params.items()
        if (isinstance(value, float | np.floating) and np.isfinite(value))
        or (
            isinstance(value, list | tuple | np.ndarray)
            and len(value)
            and all(isinstance(v, float | np.floating) for v in value)
        )
    }
    try:
        known = set(kernel._gradient(X, X))
    except NotImplementedError:
        known = set()
    free: list[tuple[str, int | None]] = []
    limits: list[tuple[float, float]] = []
    fixed = []
    for name, value in numbers.items():
        limit = given.pop(name, None)
        if isinstance(limit, str):
            if limit != "fixed":
                raise ParameterError(f"bounds[{name!r}] must be (low, high) or 'fixed'.")
            continue
        if name not in known or not (np.asarray(value) > 0.0).all():
            fixed.append(name)
            continue
        gamma = name.rpartition("__")[2] == "gamma"
        pair = (GAMMA_BOUNDS if gamma else DEFAULT_BOUNDS) if limit is None else limit
        positions = [None] if np.ndim(value) == 0 else list(range(np.size(value)))
        free += [(name, i) for i in positions]
        limits += [checked_bounds(name, pair)] * len(positions)
    given.pop("noise", None)
    if given:
        raise ParameterError(
            f"bounds names {', '.join(map(repr, given))}, which are no continuous parameters of "
            f"{kernel!r}; it has {', '.join(map(repr, numbers)) or 'none'}."
        )
    return free, np.log(np.array(limits).reshape(-1, 2)), fixed


def checked_bounds(name: str, pair: Any) -> tuple[float, float]:
    """Return bounds if they are two positive numbers in order."""
    try:
        low, high = (float(v) for v in pair)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0.0 < low <= high < np.inf:
        raise ParameterError(f"bounds[{name!r}] must be 0 < low <= high; got {pair!r}.")
    return low, high
