"""The base class of kernels: k(x, z) with named parameters, an algebra and a claim.

A kernel describes itself to the evaluator as a small postfix program over pair statistics
(`compile`); matrices, tiles, products with vectors and diagonals all come from that one
description. A kernel that has no such description supplies `tile` instead, in Python.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from mercer.gram import evaluate
from mercer.gram.kernel_diagonal import diagonal
from mercer.gram.mapped_objects import Views
from mercer.gram.overflow import refuse_overflow
from mercer.gram.program import Builder
from mercer.objects import validation as objects
from mercer.objects.parameters import Parametrised, is_number
from mercer.objects.rows import narrowed
from mercer.objects.tables import are_vectors, is_table
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from .definiteness import UNKNOWN, Definiteness
from .hyperparameters import check_bounds, hyperparameters, with_theta

Wanted = frozenset[str] | None

_TILE = 32  # objects a side when a Python kernel is asked for its diagonal only


class Kernel(Parametrised):
    """Base class of all kernels.

    A kernel is a symmetric function ``k(x, z)`` of two objects. It is also a scikit-learn-style
    parameter object: `get_params`, `set_params`, :func:`sklearn.base.clone` and ``__`` names in
    a grid search work. Two kernels are equal when class and parameters are.

    To write one, either give a subclass a method ``tile(A, B)`` that returns the matrix of
    values between two collections of objects, or, for vectors, a method `compile` that states
    it as a program of pair statistics, which is then evaluated natively.

    Examples
    --------
    >>> from mercer.kernels import RBF, Polynomial
    >>> 2 * RBF(gamma=0.5) + Polynomial(degree=3)
    2 * RBF(gamma=0.5) + Polynomial(degree=3)
    """

    # NumPy numbers and arrays must leave `2.0 * k` to the kernel.
    __array_ufunc__: ClassVar[None] = None

    _objects: ClassVar[objects.Objects] = objects.ANY
    _binds_tighter_than: ClassVar[int] = 3  # sums 0, products 1, powers 2, everything else 3
    _fixed: ClassVar[tuple[str, ...]] = ()  # parameters that are numbers and have no derivative
    _from_data: ClassVar[tuple[str, ...]] = ()  # parameters that `bind` sets where they are None
    grows_with: ClassVar[tuple[str, ...]] = ()  # parameters that make values overflow
    # bounds of continuous parameters, "fixed" or (low, high), where they are not the usual ones
    _default_bounds: ClassVar[dict[str, Any]] = {}
    _bounds = None  # what `with_bounds` states; no part of the function k

    # -- what is claimed ---------------------------------------------------------------------

    @property
    def definiteness(self) -> Definiteness:
        """Definiteness of the kernel: the known sign of its quadratic form."""
        return UNKNOWN

    @property
    def takes(self) -> objects.Objects:
        """The objects on which the kernel is defined."""
        parts = self.inner_kernels()
        if not parts:
            return self._objects
        taken = parts[0].takes
        for part in parts[1:]:
            taken = taken.join(part.takes)
        return taken

    @property
    def domain(self) -> str:
        """The objects on which the kernel is defined, in words."""
        return self.takes.domain

    @property
    def requires_vectors(self) -> bool:
        """Whether the objects must be rows of numbers."""
        return self.takes.requires_vectors

    @property
    def accepts_sparse(self) -> bool:
        """Whether the objects may be rows of a CSR matrix."""
        return self.takes.accepts_sparse

    @property
    def pairwise(self) -> bool:
        """Whether the input is a kernel matrix instead of objects."""
        return self.takes.pairwise

    @property
    def logarithmic(self) -> bool:
        """Whether values may leave the range of numbers, so that logarithms are computed."""
        return False

    @property
    def normalized_by_logarithms(self) -> bool:
        """Whether a native evaluator gives logarithms to :func:`normalize`."""
        return self.logarithmic

    @property
    def translation_invariant(self) -> bool:
        """Whether k(x + a, z + a) = k(x, z) for all vectors a."""
        parts = self.inner_kernels()
        return bool(parts) and all(part.translation_invariant for part in parts)

    def check_domain(self, X: Any) -> None:
        """Reject validated objects on which the kernel, or what it claims, does not hold."""
        if self._is_restricted:
            for part in self.inner_kernels():
                part.check_domain(X)

    # -- binding to data ---------------------------------------------------------------------

    @property
    def is_bound(self) -> bool:
        """Whether every parameter is independent of data."""
        if any(getattr(self, name) is None for name in self._from_data):
            return False
        return all(part.is_bound for part in self.inner_kernels())

    def bind(
        self, X: Any, sample_weight: np.ndarray | None = None, *, feature_names: Any = None
    ) -> Self:
        """Return a copy in which every data-dependent parameter is a number.

        The objects are checked as a call checks them, whether a parameter depends on them or not.

        Parameters
        ----------
        X : objects
            The objects that ``gamma="scale"``, ``gamma="auto"`` and column names refer to.
        sample_weight : array of shape (n_samples,), optional
            Weights of the objects; weight k counts as k copies, weight 0 as none.
        feature_names : sequence of str, optional
            Names of the columns of `X`, by default those of a data frame.

        Returns
        -------
        Kernel
            A kernel of the same class that shares no state with this one.
        """
        self.check_changes()
        if feature_names is None:
            feature_names = objects.column_names(X)
        X = self.validate(X)
        if self.is_bound:  # which has had its domain checked
            return self._bound(Views(X), sample_weight, feature_names)
        return self.bound_to_valid(Views(X), sample_weight, feature_names)

    def bound_to_valid(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        """Return the kernel bound to objects that have been validated; images of them are kept."""
        if names is None:
            names = objects.column_names(views.X)
        kernel = self._bound(views, weight, names)
        kernel.check_domain(views.X)
        return kernel

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        return self.replace(
            **{
                name: part._bound(views, weight, names)
                for name in self.parameter_names
                if isinstance(part := getattr(self, name), Kernel)
            }
        )

    # -- values ------------------------------------------------------------------------------

    def validate(self, X: Any, against: Any = None) -> Any:
        """Return the objects `X` in the form in which they are evaluated, or refuse them.

        That is an array, a CSR matrix or a list; the input itself where it already is in order.
        `against`: validated objects with which `X` is to be compared.
        """
        parts = self.inner_kernels()
        if not parts:
            return objects.as_objects(X, type(self).__name__)
        takes = self.takes
        table = takes.columns and not are_vectors(takes, X) and is_table(X)
        for part in parts:
            valid = part.validate(X, against)
            X = X if table else valid  # other parts may need the names and types of the columns
        return X

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        """Return the matrix of values between the objects of `X` and those of `Z`.

        Parameters
        ----------
        X : objects
            As many rows as the matrix has.
        Z : objects, optional
            As many as the matrix has columns; by default those of `X`. Needs a bound kernel.

        Returns
        -------
        ndarray of shape (n_X, n_Z), float64
        """
        if Z is None:
            kernel, views = self._bound_and_views(X)
            return refuse_overflow(evaluate(kernel, views), kernel)
        kernel, X, Z = self._bound_to_both(X, Z)
        return refuse_overflow(evaluate(kernel, X, Z), kernel)

    def diag(self, X: Any) -> np.ndarray:
        """Return the values k(x, x) of the objects `X`, without evaluating the matrix."""
        return diagonal(*self._bound_and_views(X))

    def gradient(self, X: Any, Z: Any = None) -> dict[str, np.ndarray]:
        """Return the derivatives of the values with respect to the parameters.

        Parameters
        ----------
        X : objects
            As many rows as the matrices have.
        Z : objects, optional
            As many as the matrices have columns; by default those of `X`. Needs a bound kernel.

        Returns
        -------
        dict of str to ndarray
            The matrix of derivatives, of shape (n_X, n_Z), for the name of every parameter that
            is a real number, nested ones as ``part__name``. A sequence of numbers has one matrix
            for each, stacked along the first axis. Integers, rules, functions and matrices have
            none. A rule such as ``gamma="scale"`` is differentiated at its value. Values and
            derivatives too large for a number raise OverflowError.

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> (2 * RBF(gamma=0.5)).gradient([[0.0]], [[1.0]])["kernel__gamma"].round(6)
        array([[-1.213061]])
        """
        kernel, X, Z = self._bound_to_both(X, Z)
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = kernel._gradient(X, Z)
        for name, slopes in gradient.items():
            if not np.isfinite(slopes).all():
                kernel(X, Z)  # raises OverflowError where the values themselves are too large
                i, j = np.argwhere(~np.isfinite(slopes))[0, -2:]
                raise OverflowError(
                    f"the derivative of {kernel!r} by {name} is no number for the objects {i} and "
                    f"{j}: something in it, such as their squared distance, is too large. Scale "
                    "the data."
                )
        return gradient

    def feature_map(self, X: Any) -> Any:
        """Return features phi(x) with k(x, z) = phi(x) . phi(z), where they can be listed.

        Features of strings, sets and multisets are those that occur in the objects `X`: the columns
        belong to this call, and those of another set differ. For columns that several sets share,
        with names, fit :class:`mercer.features.ExplicitFeatures` and transform each of them.

        Parameters
        ----------
        X : objects
            The objects x.

        Returns
        -------
        array or CSR matrix of shape (n_X, n_features)

        Examples
        --------
        >>> from mercer.features import ExplicitFeatures
        >>> from mercer.kernels import Spectrum
        >>> features = ExplicitFeatures(Spectrum(2)).fit(["banana", "anna"])
        >>> F, G = features.transform(["banana", "anna"]), features.transform(["ananas"])
        >>> (F @ G.T).toarray().ravel(), Spectrum(2)(["banana", "anna"], ["ananas"]).ravel()
        (array([8., 4.]), array([8., 4.]))
        """
        self.check_changes()
        if type(self).map_features is not Kernel.map_features:
            return narrowed(self.map_features(X, Vocabulary()))
        raise NotImplementedError(
            f"{type(self).__name__} has no explicit feature map here: its features are infinite in "
            "number, or not listed. Use its values k(X, Z), or the features of Nystrom and "
            "IncompleteCholeskyFeatures, which take any kernel."
        )

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features of `feature_map` in the columns of a vocabulary.

        :class:`mercer.features.ExplicitFeatures` is made of it. The first objects fill an empty
        vocabulary. Features that only later objects Z have get no column: dot products
        phi(x) . phi(z) with the first objects X are exact without them, those of two later objects
        lack them.

        Parameters
        ----------
        X : objects
            The objects x.
        vocabulary : Vocabulary
            Keeps the columns of features that are met among objects. Kernels whose columns are
            known beforehand, as all on vectors, leave it empty.

        Returns
        -------
        array or CSR matrix of shape (n_X, n_features)

        Examples
        --------
        >>> from mercer.kernels import Spectrum, Vocabulary
        >>> kernel, words = Spectrum(p=2), Vocabulary()
        >>> F, G = (kernel.map_features(X, words) for X in (["banana", "anna"], ["ananas"]))
        >>> (F @ G.T).toarray().ravel(), kernel(["banana", "anna"], ["ananas"]).ravel()
        (array([8., 4.]), array([8., 4.]))
        """
        return self.feature_map(X)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        """Return the names of the columns of `map_features`, None where the features have none.

        `columns`: the names of the columns of vectors or tables, or None. `vocabulary`: filled by
        `map_features`.
        """
        return None

    def null_space(self, X: Any) -> np.ndarray:
        """Return the polynomials on which the kernel need not be positive, at the objects `X`.

        Coefficients c that are orthogonal to them, sum_i c_i q(x_i) = 0, have c'Kc >= 0. The matrix
        of shape (n_X, n_polynomials) has a column for each polynomial of degree below
        ``definiteness.order``: none for a positive semidefinite kernel, the constant for a
        conditionally positive definite one, the constant and the coordinates for one of order 2.
        """
        from .conditional import polynomial_basis

        order = self.definiteness.order
        if order is None:
            raise ValueError(
                f"{self!r} is {self.definiteness}: no polynomials are known without which it is "
                "positive semidefinite."
            )
        return polynomial_basis(self.validate(X), order)

    def compile(self, builder: Builder) -> None:
        """Push the program of this kernel: pair statistics and operations in postfix order."""
        builder.python(self)

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features of validated objects, for a kernel that is a statistic of features.

        Such a kernel compiles to ``builder.mapped(self, "dot")``. The map is called once for each
        set of objects, not once for each tile; row i of the array or CSR array of shape (n_X,
        n_features) depends on object i and the vocabulary only. The vocabulary gives features their
        columns. It holds those of the reference objects; features of other objects that are not
        among them get none.
        """
        raise NotImplementedError(f"{type(self).__name__} has no explicit features.")

    def tile(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix of values between validated objects, of a kernel written in Python."""
        raise NotImplementedError(f"{type(self).__name__} defines neither compile nor tile.")

    def tile_diagonal(self, A: Any) -> np.ndarray:
        """Return k(x, x) for a kernel written in Python, from small tiles on the diagonal."""
        n = objects.count(A)
        blocks = (objects.take(A, slice(i, min(i + _TILE, n))) for i in range(0, n, _TILE))
        return np.concatenate([np.diagonal(self.tile(block, block)) for block in blocks])

    # -- hyper-parameters --------------------------------------------------------------------

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the continuous parameters that can be optimised, of a bound kernel.

        In the order of `get_params`; see `with_bounds` for which they are.
        """
        self.require_bound("as a function of its parameters")
        return np.log([entry.value for entry in hyperparameters(self)[0]])

    @property
    def bounds(self) -> np.ndarray:
        """Bounds on `theta`, of shape (n_parameters, 2)."""
        self.require_bound("as a function of its parameters")
        pairs = [(entry.low, entry.high) for entry in hyperparameters(self)[0]]
        return np.log(np.reshape(pairs, (-1, 2)))

    def with_bounds(self, bounds: Any) -> Self:
        """Return a copy with bounds on the continuous parameters for the search of a machine.

        Positive continuous parameters that have a derivative are optimised by the machines that
        maximise a likelihood, such as :class:`mercer.GaussianProcessRegressor`. A kernel around
        this one, or the machine, may state other bounds, which take precedence.

        Parameters
        ----------
        bounds : None, "fixed" or dict
            "fixed" keeps all parameters as they are. A dict has (low, high) or "fixed" by the names
            of parameters, as in `get_params`, or of parts, such as ``{"gamma": (0.1, 10.0)}`` or
            ``{"left": "fixed", "right__scale": (1e-3, 1e3)}``. Parameters that are not named, and
            None, have the default: 1e-5 to 1e5, and for gamma 5e-11 to 5e9, which are the same
            bounds for a length scale with gamma = 1 / (2 length_scale^2).

        Returns
        -------
        Kernel
            An equal kernel: bounds do not change its values.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import RBF, Linear
        >>> kernel = 2.0 * RBF(0.5).with_bounds({"gamma": (0.1, 10.0)}) + 3.0 * Linear()
        >>> np.exp(kernel.theta), np.exp(kernel.bounds[0])
        (array([0.5, 2. , 3. ]), array([ 0.1, 10. ]))
        >>> kernel.clone_with_theta(np.log([1.0, 2.0, 4.0]))
        2.0 * RBF(gamma=1.0) + 4.0 * Linear()
        """
        check_bounds(self, bounds)
        return self.replace(_bounds=dict(bounds) if isinstance(bounds, dict) else bounds)

    def clone_with_theta(self, theta: Any) -> Self:
        """Return a copy of a bound kernel with other values of its continuous parameters.

        `theta`: the logarithms of the values, in the order of the attribute `theta`.
        """
        self.require_bound("as a function of its parameters")
        return with_theta(self, hyperparameters(self)[0], theta)  # type: ignore[return-value]

    def __sklearn_clone__(self) -> Self:
        """Return a copy that shares no part with this kernel; bounds are kept."""
        from sklearn.base import clone

        params = {name: clone(v, safe=False) for name, v in self.get_params(deep=False).items()}
        made = type(self)(**params)
        return made if self._bounds is None else made.with_bounds(self._bounds)

    # -- algebra -----------------------------------------------------------------------------

    def on_columns(self, columns: Any) -> Kernel:
        """Return the kernel that looks at some columns of its vectors only.

        `columns`: one or several, or a slice: positions, or names that are looked up in the data
        when the kernel is bound.
        """
        from .algebra.on_columns import OnColumns

        return OnColumns(self, columns)

    def __add__(self, other: Any) -> Kernel:
        from .algebra import Sum
        from .constant import Constant

        if isinstance(other, Kernel):
            return Sum(self, other)
        if not is_number(other):
            return NotImplemented
        return Sum(self, Constant(other)) if other != 0 else self

    def __radd__(self, other: Any) -> Kernel:
        from .algebra import Sum
        from .constant import Constant

        if not is_number(other):
            return NotImplemented
        return Sum(Constant(other), self) if other != 0 else self  # 0 is where sum() starts

    def __mul__(self, other: Any) -> Kernel:
        from .algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        from .algebra import Scaled

        return Scaled(self, other) if is_number(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Kernel:
        from .algebra import Power

        return Power(self, exponent) if is_number(exponent) else NotImplemented

    def __neg__(self) -> NoReturn:
        raise ValueError(
            "the negative of a kernel is not positive semidefinite; to use it all the same, "
            "wrap it: FromFunction(lambda X, Z: -k(X, Z), definiteness='indefinite')."
        )

    def __sub__(self, other: Any) -> NoReturn:
        raise ValueError(
            "a difference of kernels need not be positive semidefinite; to use it all the same, "
            "wrap it: FromFunction(lambda X, Z: k1(X, Z) - k2(X, Z))."
        )

    __rsub__ = __sub__

    @property
    def states_diagonal(self) -> bool:
        """Whether the class computes k(x, x) itself instead of running its program."""
        return type(self).diag is not Kernel.diag

    # -- machinery ---------------------------------------------------------------------------

    @property
    def _is_restricted(self) -> bool:
        """Whether `check_domain` may refuse objects of the right kind."""
        return any(part._is_restricted for part in self.inner_kernels())

    def _values(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of values between validated objects, of a bound kernel."""
        return evaluate(self, X) if X is Z else evaluate(self, X, Z)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        """Return the derivatives between validated objects, of a bound kernel."""
        values = [v for name, v in self.get_params().items() if name not in self._fixed]
        if any(isinstance(value, float | np.floating) for value in values):
            raise NotImplementedError(
                f"{type(self).__name__} does not state the derivatives of its values with "
                "respect to its parameters."
            )
        return {}

    @property
    def depends_on_identity(self) -> bool:
        """Whether a value depends on which sample an object is, as that of White does."""
        return any(part.depends_on_identity for part in self.inner_kernels())

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        """Return sum_ij W_ij dk(x_i, z_j) / dtheta: a number, or an array, for each parameter.

        What `_gradient` states, contracted; a kernel that knows a shorter way overrides it.
        `wanted`: the names of the parameters that are asked for; None: all.
        """
        if wanted is not None and not wanted:
            return {}
        slopes = self._gradient(X, Z)
        return {
            name: np.einsum("...ij,ij->...", m, W)
            for name, m in slopes.items()
            if wanted is None or name in wanted
        }

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        """Return sum_j W_ij dk(x_i, z_j) / dx_i, of shape (n, d), between rows of numbers."""
        raise NotImplementedError(
            f"{type(self).__name__} does not state the derivatives of its values with respect to "
            "the vectors that it compares."
        )

    def _normalized_form(self) -> Kernel | None:
        """Return a kernel equal to normalize(self) that needs no k(x, x), None without one."""
        return None

    def _normalized_gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray] | None:
        """Return the derivatives of normalize(self), if it has such a form, by own parameters."""
        form = self._normalized_form()
        return None if form is None else self._by_own_parameters(form._gradient(X, Z))

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return derivatives by the parameters of `_normalized_form` as those by one's own."""
        return slopes

    @property
    def _normalizes_without_norms(self) -> bool:
        """Whether normalize(self) needs no k(x, x) that is a number."""
        return self.normalized_by_logarithms or self._normalized_form() is not None

    @property
    def has_bounded_values(self) -> bool:
        """Whether no value is larger than a constant, so that none overflows."""
        return False

    @property
    def _has_norms(self) -> bool:
        """Whether k(x, x) >= 0 for all x."""
        return self.definiteness.is_psd or self.logarithmic

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        """Return the derivatives of k(x, x), from small tiles on the diagonal."""
        n = objects.count(X)
        blocks = [objects.take(X, slice(i, min(i + _TILE, n))) for i in range(0, n, _TILE)]
        diagonals: dict[str, np.ndarray] = {}  # objects without parts may have no derivatives
        for i, block in zip(range(0, n, _TILE), blocks, strict=True):
            for name, matrix in self._gradient(block, block).items():
                whole = diagonals.setdefault(name, np.zeros((*matrix.shape[:-2], n)))
                whole[..., i : i + _TILE] = np.diagonal(matrix, axis1=-2, axis2=-1)
        return diagonals

    def inner_kernels(self) -> list[Kernel]:
        """Return the kernels this one is composed of."""
        parts = []
        for name in self.parameter_names:
            part = getattr(self, name)
            if isinstance(part, Kernel):
                parts.append(part)
        return parts

    def bound_to(self, X: Any) -> tuple[Kernel, Any]:
        """Return the kernel, bound to `X` if it has to be, and the validated `X`."""
        kernel, views = self._bound_and_views(X)
        return kernel, views.X

    def _bound_to_both(self, X: Any, Z: Any) -> tuple[Kernel, Any, Any]:
        """Return the bound kernel and two validated sets of objects, by default the first twice."""
        if Z is None:
            kernel, X = self.bound_to(X)
            return kernel, X, X
        self.check_changes()
        self.require_bound("on two sets of objects")
        Z = self.validate(Z)
        return self, *objects.stored_alike(self.validate(X, Z), Z)

    def _bound_and_views(self, X: Any) -> tuple[Kernel, Views]:
        """Return the bound kernel and the validated objects with their images under maps."""
        self.check_changes()
        names = None if self.is_bound else objects.column_names(X)
        X = self.validate(X)
        views = Views(X)
        return self if self.is_bound else self.bound_to_valid(views, None, names), views

    def require_bound(self, purpose: str) -> None:
        """Raise ValueError if a parameter still depends on data; `purpose`: of the values."""
        if not self.is_bound:
            raise ValueError(
                f"{self!r} has parameters that depend on the data (such as gamma='scale'), so its "
                f"values {purpose} are not defined yet; give numbers for them, or bind it first: "
                "kernel = kernel.bind(X_train)."
            )


def inside(operand: Any, level: int) -> str:
    """Return the printed form of an operand, in parentheses where the operator binds tighter."""
    loose = isinstance(operand, Kernel) and operand._binds_tighter_than < level
    return f"({operand!r})" if loose else repr(operand)
