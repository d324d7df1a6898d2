"""A kernel on some of the columns."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import printed, show
from mercer.objects.tables import are_vectors, as_table, is_table, select
from mercer.objects.validation import (
    VECTORS,
    Objects,
    as_vectors,
    column_names,
    require_same_columns,
)
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel, Wanted, inside
from ..definiteness import Definiteness, on_subset_of_columns
from .operands import nested, require_kernel, wanted_inside


class OnColumns(Kernel):
    """A kernel that looks at some columns of its objects, made by ``k.on_columns(...)``.

    .. math:: k'(x, z) = k(x_S, z_S)

    Positive semidefinite if the kernel is; no longer strictly, since different vectors may
    agree on the columns S. The objects are vectors or rows of a table (a data frame, a list of
    rows), whose other columns may hold anything; a kernel on strings or other structured objects
    takes them from one column.

    Parameters
    ----------
    kernel : Kernel
        The kernel k on the selected columns. Its own ``gamma="scale"`` refers to them alone.
    columns : sequence of int or of str, int, str or slice
        Positions (negative ones count from the end), or names of a data frame's columns. Names,
        negative positions and slices become positions when the kernel is bound. A slice of names
        includes both ends, as in a data frame.

    Notes
    -----
    Use it to give every group of columns the kernel that fits: a string kernel for the text of a
    table, PeriodicGaussian for the hour, RBF with its own width for the rest; then add or multiply.
    It costs what the kernel costs on those columns. Avoid it on each of dozens of columns: ANOVA
    does that in one pass.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().on_columns([0, 2])([[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]])
    array([[22.]])
    """

    kernel: Kernel
    columns: Any

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "OnColumns")
        if self.kernel.pairwise:
            raise ValueError(
                "the columns of a precomputed kernel matrix are objects, not features; select "
                "features before the matrix is computed."
            )
        if isinstance(self.columns, slice):
            _check_slice(self.columns)
        elif not _listed(self.columns):
            raise ValueError("columns is empty; name at least one column.")
        else:
            self._check_inner()

    def _check_inner(self) -> None:
        """Reject a selection inside of this one, of columns that are not among its own."""
        inner = self.kernel.columns if isinstance(self.kernel, OnColumns) else ()
        if not isinstance(inner, slice) and not any(isinstance(c, str) for c in _listed(inner)):
            positions(inner, len(_listed(self.columns)), None)

    @property
    def takes(self) -> Objects:
        """Vectors or rows of a table, of which the kernel takes its columns."""
        takes = self.kernel.takes
        if takes.structured:
            return Objects("rows of a table", structured=True, columns=True)
        return takes.join(VECTORS)._replace(columns=True)

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel, without strictness."""
        return on_subset_of_columns(self.kernel.definiteness)

    @property
    def is_bound(self) -> bool:
        """Whether all columns are non-negative positions and the kernel itself is bound."""
        if not self.kernel.is_bound or isinstance(self.columns, slice):
            return False
        return all(not isinstance(c, str) and c >= 0 for c in _listed(self.columns))

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        index = positions(self.columns, views.X.shape[1], names)
        chosen = None if names is None else [names[i] for i in index]
        part = views.choose(tuple(index), select(views.X, index, self.kernel.takes))
        return self.replace(kernel=self.kernel._bound(part, weight, chosen), columns=index)

    def validate(self, X: Any, against: Any = None) -> Any:
        owner = type(self).__name__
        names = column_names(X)
        vectors = are_vectors(self.takes, X)
        X = as_vectors(X, owner) if vectors else as_table(X, owner)
        require_same_columns(X, against, owner)
        if not vectors:
            index = positions(self.columns, X.shape[1], names)
            if is_table(X) or not self.kernel.takes.requires_vectors:
                self._validate_part(select(X, index, self.kernel.takes), index, names)
            else:  # values are missing, which an error names by their columns in X
                shown = np.zeros_like(X)
                shown[:, index] = X[:, index]
                self.kernel.validate(as_vectors(shown, owner)[:, index])
        elif self.is_bound:
            positions(self.columns, X.shape[1], None)
            self.check_domain(X)
        return X

    def _validate_part(self, part: Any, index: list[int], names: Any) -> None:
        """Check the selected columns; errors of one column of objects name it."""
        try:
            self.kernel.validate(part)
        except (TypeError, ValueError) as error:
            if not isinstance(part, list):
                raise
            name = index[0] if names is None else names[index[0]]
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"column {name!r}: {error}") from error

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of vectors")
        with builder.columns([int(c) for c in _listed(self.columns)]):
            self.kernel.compile(builder)

    def null_space(self, X: Any) -> np.ndarray:
        self.require_bound("on its null space")
        X = self.validate(X)
        return self.kernel.null_space(self._selected(X))

    def check_domain(self, X: Any) -> None:
        """Reject rows whose selected columns are not in the kernel's domain; see the base class."""
        if self._is_restricted:
            self.kernel.check_domain(self._selected(X))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        A = self._selected(X)
        inner = self.kernel._gradient(A, A if X is Z else self._selected(Z))
        return {f"kernel__{name}": matrix for name, matrix in inner.items()}

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        A = self._selected(X)
        B = A if X is Z else self._selected(Z)
        return nested("kernel", self.kernel.contract(A, B, W, wanted_inside(wanted, "kernel")))

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        return nested("kernel", self.kernel.diagonal_gradient(self._selected(X)))

    def _normalized_form(self) -> Kernel | None:
        from .normalized import Normalized  # which may hold a selection of columns

        if not (self.kernel._has_norms and self.kernel._normalizes_without_norms):
            return None
        return self.replace(kernel=Normalized(self.kernel))

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name.removeprefix("kernel__"): slope for name, slope in slopes.items()}

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features of the selected columns; see :meth:`Kernel.map_features`."""
        self.require_bound("as explicit features")
        X = self.validate(X)
        return self.kernel.map_features(self._selected(X), vocabulary)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        """Return the names that the kernel gives; see :meth:`Kernel.feature_names`.

        Features of a column of strings or other objects carry the name of the column, too.
        """
        index = [int(c) for c in _listed(self.columns)]
        own = [f"x{i}" if columns is None else str(columns[i]) for i in index]
        names = self.kernel.feature_names(own, vocabulary)
        if names is None or not self.kernel.takes.structured or self.kernel.takes.columns:
            return names
        return [f"{own[0]}={name}" for name in names]

    def _selected(self, X: Any) -> Any:
        """Return the columns of validated rows, as the kernel takes them."""
        return select(X, positions(self.columns, X.shape[1], None), self.kernel.takes)

    def __repr__(self) -> str:
        return f"{inside(self.kernel, 3)}.on_columns({printed(self.columns)})"


def positions(columns: Any, n_columns: int, names: Any) -> list[int]:
    """Return a selection of columns as non-negative positions."""
    if isinstance(columns, slice):
        index = list(range(n_columns)[_by_position(columns, names)])
        if not index:
            raise ValueError(f"{columns} selects none of the {n_columns} columns.")
        return index
    index = []
    for column in _listed(columns):
        if isinstance(column, str):
            index.append(_position(column, names))
        elif not -n_columns <= column < n_columns:
            raise ValueError(
                f"column {column} does not exist; the data have {n_columns} columns, 0 to "
                f"{n_columns - 1}."
            )
        else:
            index.append(int(column) % n_columns)
    return index


def _position(column: str, names: Any) -> int:
    """Return the position of the column of a name."""
    if names is None:
        raise ValueError(
            f"column {column!r} is a name, but the data have no column names; bind the "
            "kernel to a data frame or select columns by position."
        )
    found = [i for i, name in enumerate(names) if name == column]
    if not found:
        raise ValueError(f"unknown column {column!r}; the data have {', '.join(map(str, names))}.")
    if len(found) > 1:
        raise ValueError(
            f"{len(found)} columns are named {column!r}, at the positions "
            f"{', '.join(map(str, found))}; select columns by position, or rename them."
        )
    return found[0]


def _by_position(columns: slice, names: Any) -> slice:
    """Return a slice of positions for one of positions or names, which includes its last name."""
    start, stop = columns.start, columns.stop
    if isinstance(start, str):
        start = _position(start, names)
    if isinstance(stop, str):
        stop = _position(stop, names) + 1
    return slice(start, stop, columns.step)


def _check_slice(columns: slice) -> None:
    """Reject a slice whose ends are neither positions nor names."""
    for item in (columns.start, columns.stop):
        if item is not None and (isinstance(item, bool) or not isinstance(item, str | Integral)):
            raise TypeError(
                f"the ends of a slice must be positions (int) or names (str); got {show(item)}."
            )
    step = columns.step
    if step is not None and (not isinstance(step, Integral) or step == 0):
        raise TypeError(f"the step of a slice must be an int that is not 0; got {show(step)}.")


def _listed(columns: Any) -> list:
    """Return a selection as a list of positions and names."""
    items = [columns] if isinstance(columns, str) or not np.iterable(columns) else list(columns)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, str | Integral):
            raise TypeError(
                f"columns must be positions (int) or names (str); got {show(item)}. Turn a mask "
                "into positions with numpy.flatnonzero."
            )
    return items
