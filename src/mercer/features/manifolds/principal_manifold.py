"""Regularised principal manifolds: curves, surfaces and volumes through data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel, PeriodicGaussian, resolve
from mercer.kernels.resolve import KernelLike
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    declared,
    integer,
    integer_from,
    is_number,
    numbers,
    one_of,
    optional,
    parameter,
    positive,
    real_from,
    seed,
    truth,
    verbosity,
)
from mercer.run import Run
from mercer.solvers.prove import local

from ..base import as_precise
from ..seeds import generator
from .alternation import HardAlternation, SoftAlternation, State, responsibilities
from .descent import Accelerated, Descent, descend
from .domain import DOMAINS, Domain
from .latent_features import REGULARIZERS, LatentFeatures
from .quantiser import Quantiser
from .residual_losses import LOSSES, ResidualLoss
from .starts import n_directions, node_points, principal_axes, without_leverage
from .surface import Surface

_NODES = {1: 40, 2: 12, 3: 6}  # along every axis
_FINER = {1: 10, 2: 4, 3: 3}  # points of the search grid for every node and axis
_MOST_NODES = 5000  # the adaptation step takes time with their third power
_LEFT_OUT = 0.05  # share of the points outside of a robust start, at either side
_PERTURBED = 0.5  # size of the perturbation of a restart, in standard deviations of the data
_WIDTH = 0.2  # of the default kernel on a circle, relative to the period
_CHUNK = 2**22  # shares that `transform` holds at once


@declared
class RegularizedPrincipalManifold(Quantiser, NamedKernelEstimator):
    r"""A smooth curve, surface or volume through the middle of data.

    The manifold :math:`\gamma(b) = \gamma_0 + \sum_i \alpha_i k(b_i, b)`, with nodes b_i in a
    latent domain of dimension D, minimises the regularised quantisation error

    .. math:: \sum_i s_i \min_b |x_i - \gamma(b)|^2 + \frac{\lambda}{2} \|P\gamma\|^2, \qquad
              \|P\gamma\|^2 = \sum_{ij} \langle \alpha_i, \alpha_j \rangle k(b_i, b_j)

    by projection steps (the nearest b of every point) and adaptation steps (ridge regression of the
    points on their b) in turn. With a small `lam` it follows every point, with a large one it
    shrinks to the mean, or to the plane of the principal components with ``linear_term=True``.
    A. Smola, S. Mika, B. Schoelkopf, R. Williamson, "Regularized principal manifolds",
    JMLR 1, 2001.

    Special cases of the same functional: the mean (one node), k-means (``domain="grid"``, a kernel
    that is 0 between nodes, ``lam=0``), principal components (``linear_term=True``, large `lam`),
    curves under a length constraint (``kernel=0.5 * NegativeDistance()``, whose regulariser is the
    integral of the squared speed) and the generative topographic map (``assignment="soft"``,
    ``regularizer="l2"``).

    Attributes
    ----------
    nodes_ : array of shape (n_nodes, n_components)
        The nodes b_i.
    coef_ : array of shape (n_nodes, n_features)
        The coefficients alpha_i.
    offset_ : array of shape (n_features,)
        gamma_0.
    linear_coef_ : array of shape (n_components, n_features) or None
        The coefficients of the linear term.
    latent_ : array of shape (n_samples, n_components)
        The coordinates of the training points of positive weight.
    objective_ : float
        The objective; for soft assignment with estimated noise the penalised negative log
        likelihood.
    objective_path_ : array
        Its values from the start on, for the last value of lambda; they never rise.
    regularizer_ : float
        The squared norm in the penalty.
    noise_variance_ : float
        The variance for soft assignment; NaN for hard.
    n_iter_ : int
        Iterations of the kept start.
    certificate_ : Certificate
        Status "stationary" at a local minimum, with the objective as the primal value and the
        relative size of the gradient as ``kkt_violation``. There is no lower bound.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RegularizedPrincipalManifold
    >>> t = np.linspace(0.0, np.pi, 60)
    >>> X = np.stack([np.cos(t), np.sin(t)], axis=1)  # half a circle
    >>> curve = RegularizedPrincipalManifold(1, lam=1e-4).fit(X)
    >>> bool(curve.quantization_error(X) < 1e-5), round(curve.curve_length(), 1)
    (True, 3.1)
    """

    n_components: int = parameter(integer_from(1), default=1)
    """The dimension D: 1 for curves, 2 for surfaces, 3 for volumes."""
    lam: float = parameter(real_from(0.0), default=1.0)
    """The regularisation constant lambda, beside the sum over the points (not their mean)."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf")
    """The kernel on latent coordinates; conditionally positive definite kernels get the polynomials
    they need, unpenalised. On a periodic domain "rbf" stands for
    ``PeriodicGaussian(form="wrapped")``, and other kernels must be periodic."""
    n_nodes: Any = parameter(default=None, kind="int, sequence of int, or None")
    """Nodes along every axis; None for 40, 12 and 6 in one, two and three dimensions. The
    regulariser couples them, so more nodes hardly change the manifold."""
    domain: str = parameter(one_of(*DOMAINS), default="box")
    """[0, 1]^D; [0, 2 pi)^D with the ends joined, for closed curves and tori; or only the nodes
    themselves, which makes a quantiser of finitely many points."""
    linear_term: bool = parameter(truth, default=False)
    """Whether a linear function of b is added that is not penalised."""
    offset: str = parameter(one_of("auto", "mean", "free"), default="auto")
    """gamma_0: the mean of the data, or fitted. "auto" fits it where the constant must not be
    penalised: beside a linear term, for conditionally definite kernels and robust losses."""
    regularizer: str = parameter(one_of(*REGULARIZERS), default="kernel")
    """The penalty above, or the sum of the squared coefficients."""
    assignment: str = parameter(one_of("hard", "soft"), default="hard")
    """Whether a point belongs to its nearest b, or to all points of a grid in shares, as in a
    mixture of Gaussians."""
    noise: float | None = parameter(optional(positive), default=None)
    """The variance of these Gaussians; None to estimate it. For ``assignment="soft"``."""
    loss: str = parameter(one_of(*LOSSES), default="squared")
    """The loss of the distance r to the manifold: r^2; r^2 up to the threshold and linear beyond;
    or max(0, r - threshold), its kink rounded off over a hundredth of the scale of the data."""
    threshold: float | None = parameter(optional(positive), default=None)
    """Threshold of the robust losses; None for a tenth of the root mean square distance of the data
    from their mean."""
    init: Any = parameter(default="pca", kind='"pca" or array of shape (n_nodes, n_features)')
    """Where the nodes begin: on the principal components (for robust losses those in which far
    points count less), or at given points."""
    lam_start: float | None = parameter(optional(positive), default=None)
    """Start with this larger constant and lower it to `lam` by factors of at most sqrt(10), each
    fit starting from the one before (annealing)."""
    n_restarts: int = parameter(integer_from(1), default=1)
    """Number of starts, all but the first perturbed at random; the smallest objective is kept."""
    tol: float = parameter(real_from(0.0), default=1e-5)
    """Relative decrease of the objective in an iteration at which it stops."""
    max_iter: int = parameter(integer_from(1), default=500)
    """Largest number of iterations for one start and one value of lambda."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the perturbations."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the iterations end with the manifold found so far."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to show progress; 2 prints lines."""

    # -- fit ----------------------------------------------------------------------------------

    def _fit(self, X: Array, weight: Array, run: Run) -> None:
        domain = Domain(self.domain, self._counts())
        self._refuse_few_columns(domain, X)
        kernel = self._bound_kernel(domain)
        features = LatentFeatures(kernel, domain.nodes(), self._order(kernel), self.regularizer)
        mean = weight @ X / weight.sum()
        alternation = self._alternation(X - mean, weight, domain, features)
        found = self._best(alternation, mean, run)
        state = alternation.finished(found.state, float(self.lam))
        self.kernel_, self.nodes_ = kernel, features.nodes
        surface = state.surface
        self.coef_ = surface.coef
        self.offset_: Array = surface.functions_coef[0] + mean
        self.linear_coef_ = surface.functions_coef[1:] if features.n_functions > 1 else None
        self.regularizer_ = float(np.einsum("ij,ij->", state.theta, state.theta))
        self.objective_ = state.objective
        self.objective_path_ = np.array(found.path)
        self.noise_variance_ = state.noise
        self.n_iter_ = len(found.path) - 1
        self._domain_kind, self._node_counts = domain.kind, list(domain.counts)
        self._lazy: dict[str, Surface] = {}
        slope = alternation.slope(state, float(self.lam))
        self.certificate_ = local(
            found.status, state.objective, slope, n_iter=self.n_iter_, seconds=run.seconds
        )
        if state.projection is not None:
            self.latent_ = state.projection.latent
        else:
            self.latent_ = self._nearest(X)[0]

    def _alternation(
        self, X: Array, weight: Array, domain: Domain, features: LatentFeatures
    ) -> HardAlternation | SoftAlternation:
        fixed = self._offset_is_mean(features)
        common = (X, weight, domain, features, np.zeros(X.shape[1]) if fixed else None)
        finer = _FINER.get(domain.n_axes, 2)
        if self.assignment == "soft":
            noise = None if self.noise is None else float(self.noise)
            return SoftAlternation(*common, max(1, finer // 4), noise)
        scale = math.sqrt(float(weight @ (X * X).sum(axis=1)) / float(weight.sum()))
        return HardAlternation(
            *common, finer, ResidualLoss.of(self.loss, self.threshold, max(scale, 1e-300))
        )

    def _best(
        self, alternation: HardAlternation | SoftAlternation, mean: Array, run: Run
    ) -> Descent:
        """Return the best of all starts."""
        rng = generator(self.random_state)
        X, weight = alternation.X, alternation.weight
        robust = self.loss != "squared"
        axes = principal_axes(X, without_leverage(X, weight) if robust else weight)
        domain, features = alternation.domain, alternation.features
        if isinstance(self.init, str):
            points = node_points(domain, X, weight, axes, _LEFT_OUT if robust else 0.0)
        else:
            points = self._given_nodes(len(features.nodes), alternation.X.shape[1]) - mean
        spread = _PERTURBED * np.sqrt(axes.variances) @ axes.directions.T
        best: Descent | None = None
        for restart in range(int(self.n_restarts)):
            shift = np.zeros_like(points)
            if restart:
                smooth = features.design(features.nodes)[:, features.n_functions :]
                noise = smooth @ rng.normal(size=(features.n_features, len(spread)))
                shift = noise / max(float(noise.std()), 1e-300) * np.abs(spread)
            found = self._annealed(alternation, points + shift, run)
            if best is None or found.state.objective < best.state.objective:
                best = found
            if found.ended:
                best = best._replace(status=found.status)
                break
        assert best is not None
        return best

    def _annealed(
        self, alternation: HardAlternation | SoftAlternation, points: Array, run: Run
    ) -> Descent:
        schedule = self._schedule()
        coefficients = alternation.at_nodes(points, schedule[0])
        state: State = alternation.start(*coefficients, schedule[0])
        for lam in schedule:
            if lam != schedule[0]:
                state = alternation.start(state.surface.functions_coef, state.theta, lam)
            part = run.branch(steps=int(self.max_iter))
            found = descend(state, Accelerated(alternation, lam), float(self.tol), part)
            state = found.state
            if found.ended:
                break
        if found.ended and lam != schedule[-1]:
            # The objective is that of `lam` itself, whatever stage was reached.
            state = alternation.start(state.surface.functions_coef, state.theta, schedule[-1])
            found = found._replace(state=state, path=[state.objective])
        return found

    def _schedule(self) -> list[float]:
        lam = float(self.lam)
        if self.lam_start is None or float(self.lam_start) <= lam:
            return [lam]
        end = max(lam, 1e-12 * float(self.lam_start))
        n = max(1, math.ceil(2.0 * math.log10(float(self.lam_start) / end)))
        stages = [
            float(self.lam_start) * (end / float(self.lam_start)) ** (i / n) for i in range(n)
        ]
        return [*stages, lam]

    # -- use ----------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the latent coordinates of points: of the nearest point of the manifold.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Points.

        Returns
        -------
        array of shape (n_X, n_components)
            Coordinates in the domain; with soft assignment the means of their distributions.
        """
        rows = self._rows(X)
        return as_precise(self._nearest(np.asarray(rows, dtype=np.float64))[0], rows)

    def inverse_transform(self, X: Any) -> Array:
        """Return the points of the manifold at latent coordinates.

        Parameters
        ----------
        X : array-like of shape (n_X, n_components)
            Coordinates.

        Returns
        -------
        array of shape (n_X, n_features)
            Points gamma(b).
        """
        self._require_fit()
        B = np.asarray(X, dtype=np.float64)
        if B.ndim != 2 or B.shape[1] != self.nodes_.shape[1] or not np.isfinite(B).all():
            raise ValueError(
                f"inverse_transform needs the {self.nodes_.shape[1]} finite latent coordinates of "
                f"each point; got an array of shape {B.shape}."
            )
        return self._surface()(B)

    def responsibilities(self, X: Any) -> Array:
        """Return the shares of points among the points of the grid, for soft assignment.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Points.

        Returns
        -------
        array of shape (n_X, n_grid)
            Shares; rows sum to 1.
        """
        rows = np.asarray(self._rows(X), dtype=np.float64)
        if self.assignment != "soft":
            raise ValueError("only assignment='soft' gives points in shares to a grid.")
        surface = self._surface()
        return responsibilities(rows, surface(self._soft_grid()), self.noise_variance_)[0]

    def curve_length(self, n_points: int = 2000) -> float:
        """Return the length of a curve.

        Parameters
        ----------
        n_points : int >= 2, default=2000
            Points of the polygonal line that is measured.

        Returns
        -------
        float
            The length; for one-dimensional manifolds.
        """
        self._require_fit()
        if self.nodes_.shape[1] != 1:
            raise ValueError(
                f"only curves have a length; this manifold has {self.nodes_.shape[1]} dimensions."
            )
        n = integer(n_points, "n_points", minimum=2)
        end = 2.0 * math.pi if self._domain_kind == "periodic" else 1.0
        points = self.inverse_transform(np.linspace(0.0, end, n)[:, None])
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _nearest(self, X: Array) -> tuple[Array, Array]:
        surface = self._surface()
        if self.assignment == "hard":
            found = surface.project(X, _FINER.get(self.nodes_.shape[1], 2))
            return found.latent, found.squares
        grid = self._soft_grid()
        points = surface(grid)
        step = max(1, _CHUNK // len(grid))
        latent = np.empty((len(X), grid.shape[1]))
        for first in range(0, len(X), step):
            rows = slice(first, first + step)
            shares = responsibilities(X[rows], points, self.noise_variance_)[0]
            latent[rows] = surface.domain.mean(grid, shares)
        return latent, surface.project(X, _FINER.get(grid.shape[1], 2)).squares

    def _soft_grid(self) -> Array:
        finer = max(1, _FINER.get(self.nodes_.shape[1], 2) // 4)
        return self._surface().domain.search_grid(finer)

    def _surface(self) -> Surface:
        """Return the manifold as a function; it is made from the fitted attributes when needed."""
        lazy = self.__dict__.setdefault("_lazy", {})
        if "surface" not in lazy:
            linear = self.linear_coef_
            functions = self.offset_[None, :]
            if linear is not None:
                functions = np.vstack([functions, linear])
            features = LatentFeatures(self.kernel_, self.nodes_, 1 + (linear is not None), "l2")
            domain = Domain(self._domain_kind, tuple(self._node_counts))
            lazy["surface"] = Surface(domain, features, functions, self.coef_)
        found: Surface = lazy["surface"]
        return found

    # -- parameters ---------------------------------------------------------------------------

    def _check(self) -> None:
        if self.assignment == "soft" and self.loss != "squared":
            raise ValueError(
                "assignment='soft' is a mixture of Gaussians, whose loss is squared; got "
                f"loss={self.loss!r}."
            )
        if self.linear_term and self.domain == "periodic":
            raise ValueError(
                "a linear function does not close on a periodic domain; set linear_term=False."
            )
        if isinstance(self.init, str) and self.init != "pca":
            raise ValueError(f"init must be 'pca' or an array of points; got {self.init!r}.")

    def _counts(self) -> tuple[int, ...]:
        D, given = int(self.n_components), self.n_nodes
        if given is None:
            counts: tuple[int, ...] = (_NODES.get(D, 4),) * D
        elif is_number(given):
            counts = (integer(given, "n_nodes", minimum=1),) * D
        else:
            several = given if isinstance(given, Iterable) else (given,)
            counts = tuple(integer(n, "n_nodes", minimum=1) for n in several)
        if len(counts) != D:
            raise ValueError(
                f"n_nodes must be a number or have one for each of the {D} axes; got {given!r}."
            )
        if math.prod(counts) > _MOST_NODES:
            raise ValueError(
                f"n_nodes makes {math.prod(counts)} nodes; more than {_MOST_NODES} are too many to "
                "solve for. Set fewer nodes along the axes."
            )
        return counts

    def _bound_kernel(self, domain: Domain) -> Kernel:
        nodes = domain.nodes()
        if domain.kind == "periodic" and isinstance(self.kernel, str):
            if self.kernel != "rbf":
                raise ValueError(
                    f"kernel={self.kernel!r} is not periodic; use 'rbf' or a periodic kernel such "
                    "as PeriodicGaussian(form='wrapped') on a periodic domain."
                )
            if isinstance(self.gamma, str):
                sigma = _WIDTH * domain.length
            else:
                sigma = 1.0 / math.sqrt(2.0 * positive(self.gamma, "gamma"))
            return PeriodicGaussian(sigma, form="wrapped")
        kernel = resolve(self.kernel, self.gamma, self.degree, self.coef0)
        if kernel.pairwise:
            raise ValueError(
                "the kernel is evaluated at latent coordinates, so it cannot be precomputed; give "
                "a kernel on rows of numbers."
            )
        if len(nodes) == 1 and self.gamma == "scale" and isinstance(self.kernel, str):
            kernel = resolve(self.kernel, 1.0, self.degree, self.coef0)
        kernel = kernel.bind(nodes)
        if domain.kind == "periodic":
            turned = kernel(nodes[:1] + domain.length, nodes)
            if not np.allclose(turned, kernel(nodes[:1], nodes), rtol=1e-6, atol=1e-9):
                raise ValueError(
                    f"{kernel!r} does not have the period 2 pi of a periodic domain; use "
                    "PeriodicGaussian(form='wrapped') or another kernel of this period."
                )
        return kernel

    def _order(self, kernel: Kernel) -> int:
        order = kernel.definiteness.order
        return 2 if self.linear_term or order == 2 else 1

    def _offset_is_mean(self, features: LatentFeatures) -> bool:
        order = self._resolved_order()
        must_be_free = features.n_functions > 1 or order > 0
        if self.offset == "mean" and must_be_free:
            raise ValueError(
                "offset='mean' is not possible beside a linear term or a conditionally positive "
                "definite kernel, which need a free constant; set offset='free' or 'auto'."
            )
        if self.offset == "auto":
            return not must_be_free and self.loss == "squared"
        return self.offset == "mean"

    def _resolved_order(self) -> int:
        if isinstance(self.kernel, Kernel):
            return self.kernel.definiteness.order or 0
        return 0

    def _given_nodes(self, n_nodes: int, d: int) -> Array:
        points = numbers(self.init, "init")
        if points.shape != (n_nodes, d) or not np.isfinite(points).all():
            raise ValueError(
                f"init must give a finite point for each of the {n_nodes} nodes in the {d} columns "
                f"of X; got an array of shape {points.shape}."
            )
        return points

    def _refuse_few_columns(self, domain: Domain, X: Array) -> None:
        needed = n_directions(domain)
        if isinstance(self.init, str) and X.shape[1] < needed and len(domain.nodes()) > 1:
            raise ValueError(
                f"a {self.domain} manifold of n_components={domain.n_axes} starts on {needed} "
                f"principal directions, but X has {X.shape[1]} feature(s); lower n_components or "
                "give init."
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.nodes_.shape[1])
