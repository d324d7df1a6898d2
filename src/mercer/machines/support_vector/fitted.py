"""Attributes of a fitted machine that are computed on access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.expansion import Expansion
from mercer.kernels import Kernel
from mercer.objects.arrays import Array
from mercer.objects.validation import take
from mercer.solvers import Certificate
from mercer.solvers.prove import Certificates

from ..named_weights import NamedWeights
from .fitting import fit
from .repetition import first_of_each, sums_of_each
from .training_record import BOUNDED, FREE, PointStatus, TrainingRecord


class FittedAttributes(NamedWeights):
    """Certificates, margins, slacks and the expansion of a fitted machine.

    Attributes of several binary problems have a leading axis over the problems, in the order of
    ``intercept_``; where the number of entries differs from problem to problem they are lists.
    """

    _places: tuple[PointStatus, PointStatus]
    """Where a row lies whose loss is 0, and where one lies whose loss is not."""

    # Set by fit.
    certificates_: Sequence[Certificate]
    dual_coef_: Array | sp.csr_matrix
    intercept_: Array
    _linear: Array | None = None
    _linear_columns: list[int] | None = None
    _distinct: NDArray[np.intp] | None = None  # of each support vector, where some are repeated
    kernel_: Kernel
    support_: NDArray[np.int32]
    support_vectors_: Any  # rows, or objects of the kind of the kernel
    n_support_: NDArray[np.int32]
    _record: TrainingRecord
    _squared_norms: Array
    _intercept_ranges: Array
    _precision: str
    _support_weight: Array | None
    _lazy: dict[str, Any]

    @property
    def certificate_(self) -> Certificate:
        """The proof of the fit; for several binary problems their sum, see `certificates_`."""
        found = self._fitted("certificates_")
        return found.combined() if isinstance(found, Certificates) else Certificate.combine(found)

    @property
    def margin_(self) -> float | Array:
        """The geometric margin 1 / |f| in feature space, infinite for a constant function."""
        with np.errstate(divide="ignore"):
            return self._per_problem(1.0 / np.sqrt(self._fitted("_squared_norms")))

    @property
    def margin_width_(self) -> float | Array:
        """The distance 2 / |f| of the two edges of the margin."""
        return 2.0 * self.margin_

    @property
    def intercept_range_(self) -> Array:
        """The interval (low, high) of intercepts that are optimal with these coefficients.

        A point unless no coefficient lies strictly between its bounds; ``intercept_`` is the
        middle where both ends are finite.
        """
        return self._per_problem(self._fitted("_intercept_ranges"))

    @property
    def alpha_(self) -> Array:
        """The multipliers of all training rows, zeros included."""
        record: TrainingRecord = self._fitted("_record")
        coef = np.abs(self._problem_coef())
        table = np.zeros((len(coef), record.n_total))
        table[:, self.support_] = coef
        return table[0] if record.single else table

    @property
    def slack_(self) -> Array:
        """By how much each training row misses the margin or the tube, 0 where it does not.

        In units of the decision function; rows without positive weight have slack 0.
        """
        record: TrainingRecord = self._fitted("_record")
        excess = record.of_tasks(record.excess)
        return record.spread([np.maximum(part, 0.0) for part in excess], 0.0, np.float64)

    @property
    def point_status_(self) -> NDArray[np.str_]:
        """Where each training row lies, as the strings of :class:`PointStatus`.

        "unknown" are rows whose value an interrupted fit had no time to compute.
        """
        record: TrainingRecord = self._fitted("_record")
        parts = [
            np.where(np.isnan(excess), PointStatus.UNKNOWN, self._status_of(excess))
            for excess in record.of_tasks(record.excess)
        ]
        return record.spread(parts, str(PointStatus.NOT_USED), "<U14")

    @property
    def free_support_(self) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Training rows whose coefficient lies strictly between its bounds."""
        return self._fitted("_record").marked(FREE)

    @property
    def bounded_support_(self) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Training rows whose coefficient is at the bound that the loss sets."""
        return self._fitted("_record").marked(BOUNDED)

    def margin_points(self, tol: float | None = None) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Return the training rows on the edge of the margin or tube, support vectors or not.

        `tol`: how far from the edge counts as on it; by default the tolerance of the fit.
        """
        return self._fitted("_record").on_edge(self._edge_tolerance() if tol is None else tol)

    @property
    def expansion_(self) -> Expansion:
        """The decision function as a sum of kernels, with one output per binary problem."""
        self._fitted("dual_coef_")
        return self._derived("expansion", self._expansion)

    @property
    def poly_coef_(self) -> Array:
        """The coefficients a of the linear function <a, x> in f, one row per binary problem.

        Only a kernel that is conditionally positive definite of order 2 has a linear term; with
        others the rows are empty. `poly_columns_` are the columns of x they belong to.
        """
        self._fitted("dual_coef_")
        return np.empty((len(self.intercept_), 0)) if self._linear is None else self._linear

    @property
    def poly_columns_(self) -> NDArray[np.intp]:
        """The columns that the coefficients `poly_coef_` belong to, by position.

        Those that the kernel of order 2 looks at; in a sum, all that any term of order 2 does.
        """
        chosen = self._linear_columns
        return np.arange(self.poly_coef_.shape[1]) if chosen is None else np.array(chosen)

    def refit_on_support(self) -> Self:
        """Return a machine of the same parameters trained on the support vectors alone.

        Rows that are not support vectors do not shape the solution, so the decision function is the
        same up to the tolerance; where the support vectors alone do not determine the intercept or
        the tube, those of this machine are kept. The kernel keeps the parameters that it was bound
        to.
        """
        self._fitted("dual_coef_")
        if self.kernel_.pairwise:
            raise ValueError(
                "the support vectors of a precomputed kernel are rows of its matrix, which the "
                "model does not keep; fit again on K[support_][:, support_]."
            )
        copy = clone(self)
        copy.set_params(kernel=self.kernel_, gamma="scale", degree=3, coef0=0.0)
        copy.set_params(**self._refit_parameters())
        # Fewer rows may leave more intercepts and tubes optimal, those of this model among them.
        return fit(copy, self.support_vectors_, *self._refit_data(), multipliers_of=self)

    # -- machinery --------------------------------------------------------------------------

    def _fitted(self, name: str) -> Any:
        """Return an attribute that fit sets; AttributeError before, as for any attribute."""
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} is not fitted yet; call fit first."
            ) from None

    def _derived(self, name: str, make: Callable[[], Any]) -> Any:
        """Return something made from the model's arrays, kept until one of them is replaced."""
        coef, intercept, vectors = self.dual_coef_, self.intercept_, self.support_vectors_
        a, b, c, thing = self._lazy.get(name, (None, None, None, None))
        if not (a is coef and b is intercept and c is vectors):
            thing = make()
            self._lazy[name] = coef, intercept, vectors, thing
        return thing

    def _expansion(self) -> Expansion:
        vectors = self.support_ if self.kernel_.pairwise else self.support_vectors_
        coef, intercept = self._problem_coef().T, self.intercept_
        if self._distinct is not None:
            vectors = take(vectors, first_of_each(self._distinct))
            coef = sums_of_each(self._distinct, coef)
        linear = None if self._linear is None else self._linear.T
        if len(intercept) == 1:
            coef, intercept = coef[:, 0], intercept[0]
            linear = None if linear is None else linear[:, 0]
        return Expansion(
            self.kernel_,
            vectors,
            coef,
            intercept,
            self._precision,
            linear,
            self._linear_columns,
            getattr(self, "feature_names_in_", None),
        )

    def _terms(self) -> tuple[Kernel, Any, Array]:
        self._fitted("dual_coef_")
        return self.kernel_, self.support_vectors_, self._problem_coef().T

    def _per_problem(self, values: Array) -> Any:
        """Return the only entry where there is one problem, all of them otherwise."""
        if len(values) > 1:
            return values
        return float(values[0]) if values.ndim == 1 else values[0]

    def _dense_coef(self) -> Array:
        coef: Any = self.dual_coef_
        return coef.toarray() if sp.issparse(coef) else coef

    def _problem_coef(self) -> Array:
        """Return the coefficients with one row per binary problem."""
        return self._dense_coef()

    def _edge_tolerance(self) -> float:
        return float(self.tol)  # type: ignore[attr-defined]

    def _status_of(self, excess: NDArray[Any]) -> NDArray[np.str_]:
        """Return where rows lie, given by how much they miss the region without loss."""
        edge, (inside, outside) = np.abs(excess) <= self._edge_tolerance(), self._places
        return np.select([edge, excess < 0.0], [PointStatus.ON_EDGE, inside], outside)

    def _refit_parameters(self) -> dict[str, Any]:
        return {}

    def _refit_data(self) -> tuple[Any, ...]:
        """Return targets and weights of the support vectors."""
        raise NotImplementedError
