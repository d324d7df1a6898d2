"""The covariance of a Gaussian process with its hyper-parameters as one vector theta.

theta holds the logarithms of the continuous parameters. Two kinds of kernels have the same
methods: those of mercer, and scikit-learn's, which keep their own parameters, theta and bounds and
are evaluated as kernels of mercer where they have a counterpart. White noise is kept apart as a
diagonal, so that the matrix itself is native.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, reduce
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.gram.contraction import contracted
from mercer.gram.kernel_diagonal import diagonal
from mercer.gram.mapped_objects import views_of
from mercer.kernels import Kernel, Precomputed
from mercer.kernels.algebra import Product, Scaled, Sum
from mercer.kernels.constant import Constant
from mercer.kernels.from_sklearn import converted
from mercer.kernels.hyperparameters import Hyperparameter, changes_of, replaced
from mercer.kernels.white import White, contains_white, white_levels, without_white
from mercer.objects.arrays import PlainState
from mercer.objects.validation import count

Array = NDArray[np.float64]
Label = tuple[str, int | None]


class Covariance(Protocol):
    """The interface of a covariance function to Gaussian processes."""

    noise: float | None
    labels: list[Label]

    @property
    def kernel(self) -> Any:
        """The kernel."""

    @property
    def theta(self) -> Array:
        """Logarithms of the hyper-parameters."""

    @property
    def bounds(self) -> Array:
        """Bounds on theta, of shape (p, 2)."""

    @property
    def units(self) -> Array:
        """By how much a search moves while an entry of theta moves by 1."""

    def with_theta(self, theta: Array) -> Covariance:
        """Return the covariance at other hyper-parameters."""

    def gram(self, X: Any) -> Gram:
        """Return the matrix of the training objects, without white noise."""

    def white(self, X: Any) -> Array:
        """Return what white noise adds to the diagonal."""

    def contract(self, X: Any, W: Array, whole: float | None = None) -> Array:
        """Return sum_ij W_ij dC_ij / dtheta.

        `whole`: sum_ij W_ij K_ij without white noise, where it is known: it is the derivative by
        the logarithm of a scale of the whole kernel, which then costs nothing.
        """

    def contract_pairs(self, X: Any, Z: Any, W: Array) -> Array:
        """Return sum_ij W_ij dk(x_i, z_j) / dtheta between two sets, which share no noise."""

    def contract_diagonal(self, X: Any, latent: Array, noise: Array) -> Array:
        """Return sum_i latent_i dk(x_i, x_i) / dtheta without noise + noise_i d(noise) / dtheta."""

    def contract_rows(self, X: Array, Z: Array, W: Array) -> Array:
        """Return sum_j W_ij dk(x_i, z_j) / dx_i between rows of numbers, of the shape of X."""

    def cross(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values between two sets."""

    def against(self, Z: Any) -> Callable[[Any], Array]:
        """Return the function of X that `cross` is, with `Z` prepared for many calls."""

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set, with or without what is independent noise."""

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x), with or without what is independent noise."""


class Values:
    """Values of a bound kernel of mercer, with its white noise as a separate diagonal.

    `kernel`: A bound kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._levels, self._scale = white_levels(kernel), overall_scale(kernel)
        self._white_is_added = not _multiplies_white(kernel)
        self.kernel, self.latent = kernel, without_white(kernel, self._levels)

    def moved(self, changes: dict[str, Any]) -> Self:
        """Return the values at other parameters, by name.

        A search asks for the latent kernel alone; the whole one is made when it is read.
        """
        there = copy(self)
        state = there.__dict__
        template = self._template
        state.pop("kernel", None)
        state["_moves"] = template, changes
        state["latent"] = replaced(template, changes | dict.fromkeys(self._levels, 0.0))
        return there

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel with its white noise."""
        moves = self.__dict__.pop("_moves")
        return replaced(*moves) if self._levels else self.latent

    @property
    def _template(self) -> Kernel:
        """A kernel that differs from this one in its parameters alone."""
        return self.__dict__["_moves"][0] if "kernel" not in self.__dict__ else self.kernel

    def number(self, name: str) -> Any:
        """Return a parameter of the kernel."""
        if "kernel" not in self.__dict__ and name in (changes := self.__dict__["_moves"][1]):
            return changes[name]
        return reduce(getattr, name.split("__"), self._template)

    def gram(self, X: Any) -> Gram:
        """Return the matrix of objects, without white noise."""
        return Gram(self.latent, X, dtype="float64")

    def white(self, X: Any) -> Array:
        """Return what white noise adds to the diagonal."""
        if self._white_is_added:
            return np.full(count(X), float(sum(self.number(name) for name in self._levels)))
        views = views_of(X)
        return diagonal(self.kernel, views) - diagonal(self.latent, views)

    def cross(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values between two sets."""
        return self.against(Z)(X)

    def against(self, Z: Any) -> Callable[[Any], Array]:
        """Return the function of X that `cross` is."""
        return Prepared(self.latent, np.arange(len(Z)) if self.latent.pairwise else Z).tile

    def sums(self, X: Any, W: Array, wanted: frozenset[str], whole: float | None) -> dict[str, Any]:
        """Return sum_ij W_ij dC_ij / dtheta by the names of parameters."""
        kernel = self.latent if self._white_is_added else self.kernel  # dC / dlevel is I in both
        scale = self._scale
        if whole is None or scale is None or scale not in wanted:
            return contracted(kernel, X, W, wanted) if wanted else {}
        rest = wanted - {scale}
        found = contracted(kernel, X, W, rest) if rest else {}
        return found | {scale: whole / float(self.number(scale))}

    def pair_sums(self, X: Any, Z: Any, W: Array, wanted: frozenset[str]) -> dict[str, Any]:
        """Return sum_ij W_ij dk(x_i, z_j) / dtheta by the names of parameters, without noise."""
        sums = self.latent.contract(X, Z, W, wanted - self._levels)
        return sums | dict.fromkeys(self._levels & wanted, 0.0)

    def diagonal_sums(self, X: Any, latent: Array, noise: Array) -> dict[str, Any]:
        """Return the sums over the diagonal, with weights for its latent part and its noise."""
        if not self._levels:
            return _weighted(self.latent.diagonal_gradient(X), latent)
        whole = _weighted(self.kernel.diagonal_gradient(X), noise)
        part = _weighted(self.latent.diagonal_gradient(X), latent - noise)
        return {n: v if n in self._levels else v + part[n] for n, v in whole.items()}

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set."""
        K = self.gram(X).tile()
        if noise and self._levels:
            K[np.diag_indices_from(K)] += self.white(X)
        return K

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x)."""
        return diagonal(self.kernel if noise else self.latent, views_of(X))


class MercerCovariance(Values):
    """A bound kernel of mercer, with the noise variance of the observations as a last parameter.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    free : list of Hyperparameter
        The parameters that are optimised.
    noise : float, optional
        Variance of the noise; None: only that of the kernel.
    noise_bounds : (float, float) or None
        Bounds on the noise; None: it is not optimised.
    """

    def __init__(
        self,
        kernel: Kernel,
        free: list[Hyperparameter],
        noise: float | None = None,
        noise_bounds: tuple[float, float] | None = None,
    ) -> None:
        super().__init__(kernel)
        self.free, self.noise, self.noise_bounds = free, noise, noise_bounds
        self.labels: list[Label] = [(entry.name, entry.position) for entry in free]
        if noise_bounds is not None:
            self.labels.append(("noise", None))

    @cached_property
    def theta(self) -> Array:
        """Logarithms of the parameters."""
        params = self.kernel.get_params()
        values = [
            params[e.name] if e.position is None else params[e.name][e.position] for e in self.free
        ]
        if self.noise_bounds is not None:
            values.append(self.noise)
        return np.log(np.array(values, dtype=np.float64))

    @property
    def bounds(self) -> Array:
        """Bounds on theta."""
        pairs = [(entry.low, entry.high) for entry in self.free]
        if self.noise_bounds is not None:
            pairs.append(self.noise_bounds)
        return np.log(np.reshape(pairs, (-1, 2)))

    @property
    def units(self) -> Array:
        """By how much a search moves while an entry of theta moves by 1."""
        return np.array([e.unit for e in self.free] + [1.0] * (self.noise_bounds is not None))

    def with_theta(self, theta: Array) -> MercerCovariance:
        """Return the covariance at other hyper-parameters."""
        n = len(self.free)
        there = self.moved(changes_of(self.free, theta[:n]))
        there.theta = np.log(np.exp(theta))  # as read off the kernel
        if self.noise_bounds is not None:
            there.noise = float(np.exp(theta[n]))
        return there

    @property
    def _wanted(self) -> frozenset[str]:
        return frozenset(entry.name for entry in self.free)

    def contract(self, X: Any, W: Array, whole: float | None = None) -> Array:
        """Return sum_ij W_ij dC_ij / dtheta, by the chain rule of the logarithm."""
        return self._by_logarithm(self.sums(X, W, self._wanted, whole), float(np.trace(W)))

    def contract_pairs(self, X: Any, Z: Any, W: Array) -> Array:
        """Return sum_ij W_ij dk(x_i, z_j) / dtheta between two sets."""
        return self._by_logarithm(self.pair_sums(X, Z, W, self._wanted), 0.0)

    def contract_diagonal(self, X: Any, latent: Array, noise: Array) -> Array:
        """Return the sums over the diagonal."""
        sums = self.diagonal_sums(X, latent, noise) if self.free else {}
        return self._by_logarithm(sums, float(noise.sum()))

    def contract_rows(self, X: Array, Z: Array, W: Array) -> Array:
        """Return sum_j W_ij dk(x_i, z_j) / dx_i."""
        return self.latent.contract_rows(X, Z, W)

    def _by_logarithm(self, sums: dict[str, Any], of_noise: float) -> Array:
        """Return derivatives by the names of parameters as those by theta."""
        found = [
            float(sums[e.name] if e.position is None else sums[e.name][e.position])
            for e in self.free
        ]
        if self.noise_bounds is not None:
            found.append(of_noise)
        return np.array(found) * np.exp(self.theta)

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set."""
        K = super().matrix(X, noise)
        if noise and self.noise:
            K[np.diag_indices_from(K)] += self.noise
        return K

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x)."""
        return super().diagonal(X, noise) + (self.noise if noise and self.noise else 0.0)


class SklearnCovariance(PlainState):
    """A kernel of scikit-learn, which keeps its own parameters, theta and bounds.

    Its values are computed by its counterpart among the kernels of mercer, and by itself where
    there is none, which may depend on the number of columns.
    """

    noise: float | None = None
    n_features: int | None = None

    def __init__(self, kernel: Any, n_features: int | None) -> None:
        self.kernel, self.n_features = kernel, n_features
        counterpart = converted(kernel, n_features)
        self._values = None if counterpart is None else Values(counterpart.kernel)
        self._names = {} if counterpart is None else counterpart.names
        self.labels: list[Label] = [
            (str(h.name), i)
            for h in kernel.hyperparameters
            if not h.fixed
            for i in range(h.n_elements)
        ]

    @cached_property
    def kernel(self) -> Any:
        """The kernel of scikit-learn."""
        template, theta = self.__dict__.pop("_moves")
        return template.clone_with_theta(theta)

    @cached_property
    def theta(self) -> Array:
        """scikit-learn's theta: logarithms, of length scales for example."""
        return np.asarray(self.kernel.theta, dtype=np.float64)

    @cached_property
    def bounds(self) -> Array:
        """Bounds on theta."""
        return np.asarray(self.kernel.bounds, dtype=np.float64).reshape(-1, 2)

    @property
    def units(self) -> Array:
        """By how much a search moves while an entry of theta moves by 1."""
        return np.ones(len(self.bounds))

    def with_theta(self, theta: Array) -> SklearnCovariance:
        """Return the covariance at other hyper-parameters.

        A search asks for the counterpart alone; the kernel itself is made when it is read.
        """
        if self._values is None or not np.isfinite(self.theta).all():
            return SklearnCovariance(self.kernel.clone_with_theta(theta), self.n_features)
        there = copy(self)
        ratios = np.exp(theta - self.theta).tolist()
        changes: dict[str, Any] = {}
        for (name, i), ratio in zip(self.labels, ratios, strict=True):
            ours, power = self._names[name]
            value = self._numbers[ours]
            if np.ndim(value):
                changes.setdefault(ours, []).append(float(value[i]) * ratio**power)
            else:
                changes[ours] = float(value) * ratio**power
        there._values = self._values.moved(changes)
        state = there.__dict__
        state.pop("_numbers", None)
        state["_moves"] = state.pop("kernel", None) or self.kernel, theta
        there.theta = np.log(np.exp(theta))
        return there

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        """Parameters of the counterpart."""
        assert self._values is not None
        return self._values.kernel.get_params()

    def gram(self, X: Any) -> Gram:
        """Return the kernel matrix of the training objects."""
        if self._values is not None:
            return self._values.gram(_rows(X))
        return Gram(Precomputed(), np.asarray(self.kernel(X), dtype=np.float64))

    def white(self, X: Any) -> Array:
        """Return what white noise adds to the diagonal of `gram`."""
        return np.zeros(len(X)) if self._values is None else self._values.white(_rows(X))

    def contract(self, X: Any, W: Array, whole: float | None = None) -> Array:
        """Return sum_ij W_ij dK_ij / dtheta."""
        if self._values is None:
            _, gradient = self.kernel(X, eval_gradient=True)
            return np.einsum("ijk,ij->k", gradient, W)
        return self._by_logarithm(self._values.sums(_rows(X), W, self._wanted, whole))

    @property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self._names[name][0] for name, _ in self.labels)

    def require_counterpart(self) -> Values:
        """Return the values of the counterpart; an error where there is none."""
        if self._values is None:
            raise ValueError(
                f"{self.kernel} has no counterpart among the kernels of mercer, and scikit-learn "
                "states no derivatives between two sets. Use a kernel of mercer."
            )
        return self._values

    def contract_pairs(self, X: Any, Z: Any, W: Array) -> Array:
        """Return sum_ij W_ij dk(x_i, z_j) / dtheta between two sets."""
        return self._by_logarithm(
            self.require_counterpart().pair_sums(_rows(X), _rows(Z), W, self._wanted)
        )

    def contract_diagonal(self, X: Any, latent: Array, noise: Array) -> Array:
        """Return the sums over the diagonal."""
        return self._by_logarithm(self.require_counterpart().diagonal_sums(_rows(X), latent, noise))

    def contract_rows(self, X: Array, Z: Array, W: Array) -> Array:
        """Return sum_j W_ij dk(x_i, z_j) / dx_i."""
        return self.require_counterpart().latent.contract_rows(X, Z, W)

    def _by_logarithm(self, sums: dict[str, Any]) -> Array:
        """Return derivatives by the parameters of the counterpart as those by theta."""
        assert self._values is not None
        found = []
        for name, i in self.labels:
            ours, power = self._names[name]
            value = self._values.number(ours)
            several = np.ndim(value) == 1
            slope = sums[ours][i] if several else sums[ours]
            found.append(power * float(value[i] if several else value) * float(slope))
        return np.array(found)

    def cross(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values between two sets."""
        return self.against(Z)(X)

    def against(self, Z: Any) -> Callable[[Any], Array]:
        """Return the function of X that `cross` is."""
        if self._values is None:
            return lambda X: self.kernel(X, Z)
        tile = self._values.against(_rows(Z))
        return lambda X: tile(_rows(X))

    def matrix(self, X: Any, noise: bool) -> Array:
        """Return the matrix of one set; a WhiteKernel is left out of that of two sets."""
        if self._values is not None:
            return self._values.matrix(_rows(X), noise)
        return self.kernel(X) if noise else self.kernel(X, np.array(X, copy=True))

    def diagonal(self, X: Any, noise: bool) -> Array:
        """Return k(x, x)."""
        if self._values is not None:
            return self._values.diagonal(_rows(X), noise)
        if noise:
            return self.kernel.diag(X).copy()
        return np.array(
            [float(self.kernel(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(len(X))]
        )


def _multiplies_white(kernel: Kernel) -> bool:
    """Return whether white noise is a part of anything but sums."""
    if isinstance(kernel, Sum):
        return _multiplies_white(kernel.left) or _multiplies_white(kernel.right)
    return not isinstance(kernel, White) and bool(white_levels(kernel))


def overall_scale(kernel: Kernel) -> str | None:
    """Return the name of a factor of the whole kernel but for white noise; None if it has none."""
    if isinstance(kernel, Scaled):
        return "scale" if kernel.scale > 0 and not contains_white(kernel) else None
    if isinstance(kernel, Product) and not contains_white(kernel):
        for name, part in (("left", kernel.left), ("right", kernel.right)):
            if isinstance(part, Constant) and part.value > 0:
                return f"{name}__value"
    if isinstance(kernel, Sum):
        for name, part, other in (
            ("left", kernel.left, kernel.right),
            ("right", kernel.right, kernel.left),
        ):
            inner = overall_scale(part) if isinstance(other, White) else None
            if inner is not None:
                return f"{name}__{inner}"
    return None


def _weighted(gradient: dict[str, Array], w: Array) -> dict[str, Any]:
    """Return the sums of derivatives of a diagonal, with weights."""
    return {name: slope @ w for name, slope in gradient.items()}


def _rows(X: Any) -> Array:
    """Return rows of numbers of any type in float64."""
    return np.ascontiguousarray(X, dtype=np.float64)
