"""The kernel matrix as an object: tiles, products and subsets, never the whole unless asked."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np

from mercer import _native
from mercer.objects.parameters import threads
from mercer.objects.validation import count, take

from .contraction import contract
from .layout import Layout, choose_layout
from .mapped_objects import Views, views_of
from .pairs import Pairs, as_index, some
from .program import Leaf, Program
from .shifted import Factorised, Iterative, shifted

_ROWS = {"float32": _native.Rows32, "float64": _native.Rows64}


def native_jobs(n_jobs: int | None) -> int:
    """Return scikit-learn's `n_jobs` as the native core counts it: 0 is the default number."""
    if n_jobs is None:
        return 0
    threads(n_jobs, "n_jobs")
    return int(n_jobs)


class Gram:
    """The kernel matrix of a bound kernel on a set of objects, evaluated in tiles.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X : objects or Views
        Validated objects.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the kernel values; see `mercer.gram.layout.choose_layout`.
    cache_size : float, default=0
        Megabytes for the pair statistics (squared distances, dot products) behind the kernel
        values, which :meth:`take` and :meth:`with_kernel` share. It pays on wide rows that are
        visited several times: a value that is kept costs about as much as 50 columns do. Kernel
        rows that solvers keep have a separate budget, the ``cache_size`` of their settings.

    Attributes
    ----------
    n : int
        Number of objects.
    dtype : str
        The precision chosen.
    views : Views
        The objects, with the images that user's functions made of them; they are made once, also
        for the matrices that :meth:`take`, :meth:`with_kernel` and :meth:`in_precision` return.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> gram = Gram(Linear(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> gram.matmul(np.ones(2))
    array([7., 3.])
    """

    kernel: Any
    _all: Views
    _layout: Layout
    _objects: Any
    _evaluator: Any
    _statistics: dict[Leaf, Any] | None
    _rows: Any  # the native store of kernel rows; of the whole matrix, for its views as well
    _viewed: Gram | None  # the matrix of all objects, of which this one is a view
    _index: np.ndarray | None  # of the objects of a view
    _sign: np.ndarray | None = None  # of the objects, which the values are multiplied by
    _diagonal: np.ndarray | None = None  # as soon as someone has asked for it

    def __init__(self, kernel: Any, X: Any, dtype: str = "auto", cache_size: float = 0.0) -> None:
        self._all = views_of(X)
        self._wanted, self._cache_size = dtype, float(cache_size)
        self._set(kernel)

    def _set(self, kernel: Any, like: Gram | None = None) -> None:
        """Prepare the objects for a kernel; what another Gram has prepared is shared."""
        views = self._all
        known = None if like is None else (like._layout, like._objects)
        self.kernel = kernel
        self._layout, self._objects = choose_layout(kernel, views, self._wanted, known)
        self._statistics = None
        if self._cache_size > 0:
            stores = None
            if like is not None and like._statistics is not None:
                stores = like._layout, like._statistics
            self._statistics = self._layout.statistics(self.n, self._cache_size, stores)
        self._objects.number()
        self._evaluator = self._layout.evaluator(
            self._objects, self._objects, views, views, self._statistics
        )
        self._rows = None
        # A whole matrix does not hold itself, so that it is freed with the last reference to it.
        self._viewed, self._index, self._diagonal = None, None, None
        self.__dict__.pop("definiteness", None)

    @cached_property
    def definiteness(self) -> Any:
        """The definiteness that the kernel claims, asked once for the matrix and its views."""
        return self.kernel.definiteness

    @property
    def _whole(self) -> Gram:
        """The matrix of all objects: this one, or the one of which it is a view."""
        return self if self._viewed is None else self._viewed

    def take(self, index: Any) -> Gram:
        """Return the kernel matrix of some objects: positions in any order, or a mask.

        The rows are those that were packed, so the values are the same bits as in this matrix, and
        pair statistics and kernel rows are kept in one place for both: a solver finds the rows that
        other solvers computed on this matrix or on a view of it.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.gram import Gram
        >>> from mercer.kernels import Linear
        >>> gram = Gram(Linear(), np.array([[1.0], [2.0], [3.0]]))
        >>> gram.take([2, 0]).tile()
        array([[9., 3.],
               [3., 1.]])
        """
        index = as_index(index, self.n)
        if index is None:
            return self
        view = copy.copy(self)
        view._viewed = self._whole
        view._objects = self._objects.take(index)
        view._evaluator = self._layout.evaluator(
            view._objects, view._objects, self._all, self._all, self._statistics
        )
        view._index = index if self._index is None else self._index[index]
        view._sign = None if self._sign is None else self._sign[index]
        view._diagonal = None if self._diagonal is None else self._diagonal[index]
        return view

    def signed(self, sign: np.ndarray) -> Gram:
        """Return the matrix of the values s_i s_j k(x_i, x_j) for signs s_i = 1 or -1.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.gram import Gram
        >>> from mercer.kernels import Linear
        >>> gram = Gram(Linear(), np.array([[1.0], [2.0]]))
        >>> gram.take([0, 1, 1]).signed(np.array([1.0, 1.0, -1.0])).tile()[0]
        array([ 1.,  2., -2.])
        """
        view = copy.copy(self)
        view._viewed = self._whole
        view._sign = np.ascontiguousarray(sign, dtype=np.float64)
        view._layout = self._layout.signed()
        view._objects = self._objects.take(np.arange(self.n))
        view._objects.aux(view._sign)
        view._evaluator = view._layout.evaluator(view._objects, view._objects, self._all, self._all)
        return view

    def with_kernel(self, kernel: Any) -> Gram:
        """Return the matrix of another bound kernel on the same objects.

        Packed rows and kept pair statistics are shared where both kernels use them, as they do when
        they differ in their parameters only. The values are the same bits as those of a new
        ``Gram(kernel, X)``, also in its precision: one that needs float64 shares nothing with one
        in float32.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.gram import Gram
        >>> from mercer.kernels import RBF
        >>> gram = Gram(RBF(1.0), np.array([[0.0], [1.0]]), cache_size=10)
        >>> [gram.with_kernel(RBF(g)).tile()[0, 1].round(3) for g in (0.5, 1.0, 2.0)]
        [np.float64(0.607), np.float64(0.368), np.float64(0.135)]
        """
        whole = self._whole
        other = copy.copy(whole)
        other._set(kernel, whole)
        other = other if self._index is None else other.take(self._index)
        return other if self._sign is None else other.signed(self._sign)

    def in_precision(self, dtype: str) -> Gram:
        """Return the matrix in "float32" or "float64", itself where it has that precision."""
        if dtype == self.dtype:
            return self
        objects = self.X if self.kernel.pairwise else self.views
        other = Gram(self.kernel, objects, dtype, self._cache_size)
        other.definiteness = self.definiteness
        return other if self._sign is None else other.signed(self._sign)

    @property
    def X(self) -> Any:  # noqa: N802 - the name of the objects everywhere
        """The objects."""
        if self._index is None:
            return self._all.X
        chosen = take(self._all.X, self._index)
        return chosen[:, self._index] if self.kernel.pairwise else chosen

    @property
    def views(self) -> Views:
        """The objects, with what is known of them."""
        return self._all if self._index is None else self._all.take(self._index)

    @property
    def n(self) -> int:
        """Number of objects."""
        return int(self._objects.n)

    @property
    def dtype(self) -> str:
        """Precision of the kernel values."""
        return self._layout.dtype

    @property
    def program(self) -> Program:
        """The program of the kernel, without the signs of a signed matrix."""
        return self._whole._layout.program

    @property
    def coarse(self) -> bool:
        """Whether float32 values were asked for that are less accurate than ``"auto"`` allows."""
        return self._layout.coarseness > 1.0

    @property
    def in_python(self) -> bool:
        """Whether some of the values come from Python, one tile at a time."""
        return "python" in [leaf.kind for leaf in self._layout.program.leaves]

    @property
    def native(self) -> tuple[Any, Any]:
        """The native evaluator and the native objects, for solvers."""
        return self._evaluator, self._objects

    @property
    def kept_rows(self) -> Any:
        """The native store of kernel rows, which this matrix and its views share.

        None where values have signs: the rows of the whole matrix have none.
        """
        if self._sign is not None:
            return None
        whole = self._whole
        if whole._rows is None:
            whole._rows = _ROWS[whole.dtype](whole._evaluator, whole._objects)
        return whole._rows

    @property
    def linear(self) -> bool:
        """Whether values are dot products of stored rows, so that products need none of them."""
        return self._evaluator.linear

    def diag(self) -> np.ndarray:
        """Return k(x, x) for all objects, in float64; the array is read-only."""
        if self._diagonal is None:
            self._diagonal = self._evaluator.diag()
            self._diagonal.flags.writeable = False
        return self._diagonal

    def tile(self, rows: Any = None, cols: Any = None, n_jobs: int | None = None) -> np.ndarray:
        """Return the block at these rows and columns, by default all; no other values are computed.

        Rows and columns are positions, a slice or a mask over the objects.
        """
        if cols is None:
            return self._evaluator.tile(as_index(rows, self.n), native_jobs(n_jobs))
        return self._block(rows, cols).tile(None, native_jobs(n_jobs))

    def split(self, high: np.ndarray, low: np.ndarray, n_jobs: int | None = None) -> None:
        """Fill two arrays (n, n) in single precision whose sum is the matrix, in double precision.

        `high` are the rounded values, `low` what rounding has left off.
        """
        self.in_precision("float64")._evaluator.split(high, low, native_jobs(n_jobs))

    def _block(self, rows: Any, cols: Any) -> Any:
        """Return the native evaluator of some rows and columns, which computes no other values."""
        a, b = (some(self._objects, index) for index in (rows, cols))
        return self._layout.evaluator(a, b, self._all, self._all, self._statistics)

    def matmul(
        self, V: np.ndarray, n_jobs: int | None = None, rows: Any = None, cols: Any = None
    ) -> np.ndarray:
        """Return K @ V, V of shape (n,) or (n, m), in float64 without storing K.

        `rows`, `cols`: positions that take part, by default all; V has an entry for each column.
        """
        if rows is None and cols is None:
            return _product(self._evaluator, V, self.n, n_jobs)
        chosen = as_index(cols, self.n)
        columns = self.n if chosen is None else len(chosen)
        return _product(self._block(rows, chosen), V, columns, n_jobs)

    # -- as the operator of a problem (`mercer.solvers.operator`) ---------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Number of objects, and of coefficients."""
        return self.n, self.n

    def dot(self, w: np.ndarray, rows: Any = None) -> np.ndarray:
        """Return the values K w, at some rows or at all."""
        return self.matmul(w) if rows is None else self.matmul(w)[rows]

    def t_dot(self, u: np.ndarray, rows: Any = None) -> np.ndarray:
        """Return K' u, with u given at some rows, which may repeat, or at all."""
        return self.matmul(u if rows is None else np.bincount(rows, u, self.n))

    def rows(self, index: Any) -> np.ndarray:
        """Return some rows of the matrix."""
        return self.tile(index)

    def grouped_matmul(
        self, groups: list[tuple[int, np.ndarray]], n_jobs: int | None, rows: Any, cols: Any
    ) -> np.ndarray:
        """Return products of some rows with groups of consecutive columns among `cols`.

        See `Prepared.grouped_matmul`.
        """
        return self._block(rows, cols).product(_segments(groups), native_jobs(n_jobs))

    def shifted(
        self, noise: Any, basis: Any = None, solver: str = "auto", **settings: Any
    ) -> Factorised | Iterative:
        """Return the system (K + N) a + B m = y, B'a = 0, ready to be solved.

        Parameters
        ----------
        noise : float or array of shape (n,)
            The diagonal matrix N.
        basis : array of shape (n, p), optional
            The values B of functions whose coefficients m are not penalised.
        solver : {"auto", "cholesky", "cg"}, default="auto"
            A Cholesky factor of the whole matrix, or conjugate gradients on tiles; "auto" chooses
            by the number of rows and the free memory.
        **settings : dict
            ``tol``, the duality gap relative to the optimum at which iterations (default 1e-12) and
            refinements (1e-18) stop; ``max_iter`` and ``rank`` (of the preconditioner) for "cg";
            ``refined=False`` factorises in float64 at once.

        Returns
        -------
        Factorised or Iterative
            With the method ``solve`` and the attribute ``solver``.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.gram import Gram
        >>> from mercer.kernels import Linear
        >>> system = Gram(Linear(), np.array([[0.0], [1.0], [2.0]])).shifted(1.0)
        >>> system.solve(np.array([1.0, 2.0, 4.0]))[0].round(6)
        array([1.      , 0.333333, 0.666667])
        """
        return shifted(self, noise, basis, solver, **settings)

    def contract(self, W: np.ndarray) -> dict[str, np.ndarray]:
        """Return sum_ij W_ij dK_ij / dtheta for every continuous parameter of the kernel.

        Parameters
        ----------
        W : array of shape (n, n)
            Weights of the entries.

        Returns
        -------
        dict of str to array
            A number for the name of each parameter that :meth:`Kernel.gradient` lists, an array
            for a sequence of numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.gram import Gram
        >>> from mercer.kernels import RBF
        >>> gram = Gram(RBF(0.5), np.array([[0.0], [1.0]]))
        >>> gram.contract(np.ones((2, 2)))["gamma"].round(6)
        np.float64(-1.213061)
        """
        return contract(self, W)


class Prepared:
    """Reference objects (support vectors), ready to be compared with many others.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    Z : objects or Views
        Validated objects; for a precomputed kernel the integer positions of their columns.
    dtype : {"auto", "float32", "float64"}, default="float64"
        Precision of the kernel values.
    program : Program, optional
        The program of the kernel, where it is compiled.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Prepared
    >>> from mercer.kernels import Linear
    >>> stored = Prepared(Linear(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> stored.matmul(np.array([[3.0, 4.0]]), np.array([1.0, -1.0]))
    array([7.])
    """

    def __init__(
        self, kernel: Any, Z: Any, dtype: str = "float64", program: Program | None = None
    ) -> None:
        self.kernel = kernel
        if kernel.pairwise:
            self._ids: np.ndarray | None = np.ascontiguousarray(Z, dtype=np.int64)
            square = Views(np.zeros((1, 1)))
            self._layout: Layout = choose_layout(kernel, square, "float64")[0]
            self._views = Views(None)
            self._objects = self._layout.prepare(self._views, self._ids)
            return
        self._ids = None
        views = views_of(Z)
        self._layout, self._objects = choose_layout(kernel, views, dtype, program=program)
        # Python kernels need the images again, native ones only the packed rows.
        again = any(leaf.kind == "python" for leaf in self._layout.program.leaves)
        self._views = views if again else Views(views.X)

    @property
    def dtype(self) -> str:
        """Precision of the kernel values."""
        return self._layout.dtype

    def _against(self, X: Any) -> Any:
        if self._own is None:
            return self.pairs(X).evaluator()
        return self._own.on(self._layout.prepare(views_of(X)))

    @cached_property
    def _own(self) -> Any:
        """The evaluator of the prepared objects, None where its sources depend on others."""
        if any(leaf.kind in ("matrix", "python") for leaf in self._layout.program.leaves):
            return None
        return self.pairs().evaluator()

    def pairs(self, X: Any = None) -> Pairs:
        """Return the pairs of validated objects, by default the prepared ones, with these."""
        if X is None:
            return Pairs(self._layout, self._objects, self._objects, self._views, self._views)
        views = views_of(X)
        rows = self._layout.prepare(views)
        if self._ids is not None and self._ids.size and self._ids.max() >= views.X.shape[1]:
            raise ValueError(
                f"the kernel matrix has {views.X.shape[1]} columns, but the model uses column "
                f"{int(self._ids.max())}: pass the values against all training objects."
            )
        return Pairs(self._layout, rows, self._objects, views, self._views)

    def tile(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the matrix of values between `X` and the prepared objects."""
        return self._against(X).tile(None, native_jobs(n_jobs))

    def matmul(self, X: Any, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return K(X, Z) @ V in float64 without storing K."""
        return _product(self._against(X), V, int(self._objects.n), n_jobs)

    def grouped_matmul(
        self, X: Any, groups: list[tuple[int, np.ndarray]], n_jobs: int | None = None
    ) -> np.ndarray:
        """Return the products of consecutive groups of columns, side by side.

        ``K(X, Z[first : first + len(V)]) @ V`` is one block of columns for each of the groups
        (first, V).
        """
        return self._against(X).product(_segments(groups), native_jobs(n_jobs))


class Products:
    """Products of prepared objects with fixed vectors (the coefficients of a machine).

    Of a kernel that is a dot product of stored rows, the objects and vectors are taken together
    to weight vectors once, and a product costs no kernel value. It is then more accurate than the
    products of :class:`Prepared` in single precision, whose kernel values are rounded one by one.

    Parameters
    ----------
    prepared : Prepared
        The objects Z.
    groups : list of (first, V)
        ``K(X, Z[first : first + len(V)]) @ V`` is one block of columns of a product.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Prepared, Products
    >>> from mercer.kernels import Linear
    >>> stored = Prepared(Linear(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> products = Products(stored, [(0, np.array([[1.0], [-1.0]]))])
    >>> products(np.array([[3.0, 4.0]]))
    array([[7.]])
    """

    def __init__(self, prepared: Prepared, groups: list[tuple[int, np.ndarray]]) -> None:
        self.prepared = prepared
        self._groups = groups
        self._multiplier: Any = None  # made from the groups when it is first used

    def __call__(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the products with the values of validated objects, side by side."""
        evaluator, jobs = self.prepared._against(X), native_jobs(n_jobs)
        multiplier = self._multiplier
        if multiplier is None:
            multiplier = evaluator.multiplier(_segments(self._groups), jobs, True)
            self._multiplier = multiplier
        return evaluator.multiply(multiplier, jobs)


def evaluate(
    kernel: Any, X: Any, Z: Any = None, dtype: str = "float64", n_jobs: int | None = None
) -> np.ndarray:
    """Return the full matrix of kernel values between validated objects.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X, Z : objects
        Rows and columns; `Z` defaults to `X`.
    dtype : {"float64", "float32", "auto"}
        Precision.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import evaluate
    >>> from mercer.kernels import Linear
    >>> evaluate(Linear(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[5., 2.],
           [2., 1.]])
    """
    if not hasattr(kernel, "compile"):
        raise TypeError(f"a kernel comes first, then the objects; got {type(kernel).__name__}.")
    if Z is None:
        return Gram(kernel, X, dtype).tile(n_jobs=n_jobs)
    if kernel.pairwise:
        columns = np.arange(count(Z), dtype=np.int64)
        return Prepared(kernel, columns).tile(X, n_jobs)
    return Prepared(kernel, Z, dtype).tile(X, n_jobs)


def _segments(groups: list[tuple[int, np.ndarray]]) -> list[tuple[int, np.ndarray]]:
    return [(int(first), np.ascontiguousarray(V, dtype=np.float64)) for first, V in groups]


def _product(evaluator: Any, V: np.ndarray, n: int, n_jobs: int | None) -> np.ndarray:
    V = np.asarray(V, dtype=np.float64)
    if V.ndim not in (1, 2) or len(V) != n:
        raise ValueError(f"V must have {n} rows, one per object of the kernel; got {V.shape}.")
    columns = V[:, None] if V.ndim == 1 else V
    out = evaluator.product([(0, np.ascontiguousarray(columns))], native_jobs(n_jobs))
    return out[:, 0] if V.ndim == 1 else out
