"""The base of estimators with a kernel: validation of any objects, the kernel and its binding.

A fit enters through the door once,

    data, kernel = self._enter(X, y, sample_weight)
    gram = self._gram(data, kernel)

`_enter` validates the objects, targets and weights, leaves out samples of weight 0, resolves the
kernel and binds it to the objects; nothing is checked again behind it. A fit that already has
`data` and `gram`, such as one of many folds of a search, starts behind the door. Objects to predict
come through `_objects`.
"""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.gram import Gram, refuse_asymmetric_sample
from mercer.gram.mapped_objects import Views, views_of
from mercer.kernels import Kernel, resolve
from mercer.kernels.kept_documents import without_texts
from mercer.kernels.resolve import KernelLike
from mercer.objects.arrays import Array, Rows
from mercer.objects.parameters import declared, parameter
from mercer.objects.validation import taken_by

from .constant_kernels import warn_of_constant
from .estimator import Estimator, Samples
from .input_validation import check_objects, check_training_objects, forget_columns
from .weights import check_sample_weight, positive_rows


@dataclass(frozen=True, kw_only=True)
class TrainingData(Samples):
    """The samples of a fit with a kernel, behind the door.

    `views`: the objects, with the images that maps of the user's made of them. `gram`: the kernel
    matrix, where the user has it. `names`: of the columns of a table. `pairwise`: whether the
    objects are rows of a kernel matrix, of which a part is square as well.
    """

    views: Views
    gram: Gram | None = None
    names: NDArray[Any] | None = None
    pairwise: bool = False

    def take(self, rows: Rows) -> TrainingData:
        """Return some of the samples, as if the others had weight 0: a fold, all but one."""
        return self.merged(rows, None if self.weight is None else self.weight[rows])

    def merged(self, rows: Rows, weight: Array | None) -> TrainingData:
        """Return some of the samples with other weights: those of the rows they represent."""
        views = self.views.take(rows)
        if self.pairwise:
            views = Views(views.X[:, rows])
        y, extra = (None if a is None else a[rows] for a in (self.y, self.extra))
        return replace(
            self,
            X=views.X,
            views=views,
            y=y,
            weight=weight,
            kept=rows if self.kept is None else self.kept[rows],
            extra=extra,
            gram=None if self.gram is None else self.gram.take(rows),
        )


class KernelEstimator(Estimator):
    """Base class of all estimators that are fitted with a kernel.

    A subclass has the parameter ``kernel``; one whose kernel may be given by name derives from
    `NamedKernelEstimator`. It states what its targets are (`_check_target`), and sets ``kernel_``
    in `fit`.
    """

    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0

    _sparse_means_sparse = True
    """Whether objects to predict may be sparse only where the training objects were."""

    @property
    def _sums_to_zero(self) -> bool:
        """Whether coefficients do, as those of a machine with an intercept.

        Then a kernel that is constant on the training objects shows after the fit: |w|^2 is 0.
        """
        return False

    # -- the door ---------------------------------------------------------------------------

    def _resolved_kernel(self) -> Kernel:
        """Return the kernel that the parameters describe, not bound to data."""
        return resolve(self.kernel, self.gamma, self.degree, self.coef0)

    def _enter(
        self, X: Any, y: Any = None, sample_weight: Any = None, extra: Any = None
    ) -> tuple[TrainingData, Kernel]:
        """Return the checked samples and the kernel bound to them.

        `X` may be the Gram matrix of a bound kernel, which saves work when several fits use one
        matrix. `extra`: checked numbers that belong to the samples.
        """
        if isinstance(X, Gram):
            data = self._enter_with_gram(X, y, sample_weight, extra)
            if not self._sums_to_zero:
                warn_of_constant(X.kernel, data)
            return data, X.kernel
        kernel = self._resolved_kernel()
        X = check_training_objects(self, X, kernel)
        self._trained_on_sparse = sp.issparse(X)
        samples = self._samples(X, y, sample_weight, extra, square=kernel.pairwise)
        views = Views(samples.X)  # a map of the user's runs once, here and for the matrix
        names = getattr(self, "feature_names_in_", None)
        kernel = kernel.bound_to_valid(views, samples.weight, names)
        views = without_texts(kernel, views)
        state = {**vars(samples), "X": views.X}
        data = TrainingData(**state, views=views, names=names, pairwise=kernel.pairwise)
        if not self._sums_to_zero:
            warn_of_constant(kernel, data)
        return data, kernel

    def _enter_with_gram(self, gram: Gram, y: Any, sample_weight: Any, extra: Any) -> TrainingData:
        """Return the samples of a kernel matrix, whose objects have been checked before."""
        own = inspect.signature(type(self).__init__).parameters
        given = [
            name
            for name in ("kernel", "gamma", "degree", "coef0")
            if name in own and getattr(self, name) != own[name].default
        ]
        if given:
            raise ValueError(
                f"{', '.join(given)} would have no effect, because X is a Gram matrix of "
                f"{gram.kernel!r}; leave the default, or pass the objects."
            )
        y = self._check_target(y, gram.n)
        weight = check_sample_weight(sample_weight, gram.n)
        kept, n_total = positive_rows(weight), gram.n
        if kept is not None:
            gram = gram.take(kept)
            y, weight, extra = (None if a is None else a[kept] for a in (y, weight, extra))
        views, pairwise = views_of(gram.X), gram.kernel.pairwise
        data = TrainingData(
            views.X, y, weight, kept, n_total, extra, views=views, gram=gram, pairwise=pairwise
        )
        self._note_columns(data)
        return data

    def _note_columns(self, data: TrainingData) -> None:
        """Set `n_features_in_` and `feature_names_in_` from validated samples."""
        self._trained_on_sparse = sp.issparse(data.X)
        forget_columns(self)
        if getattr(data.X, "ndim", 0) == 2:
            self.n_features_in_ = data.n_total if data.pairwise else data.X.shape[1]
        if data.names is not None:
            self.feature_names_in_ = data.names

    def _gram(
        self, data: TrainingData, kernel: Kernel, dtype: str = "float64", objects: Any = None
    ) -> Gram:
        """Return the kernel matrix of the samples, or other objects; an asymmetric one raises."""
        if objects is None and data.gram is not None:
            return data.gram if dtype == "auto" else data.gram.in_precision(dtype)
        gram = Gram(kernel, data.views if objects is None else objects, dtype=dtype)
        refuse_asymmetric_sample(gram, data.kept)
        return gram

    def _objects(self, X: Any) -> Any:
        """Return objects to predict in the form in which the kernel evaluates them."""
        self._require_fit()
        fitted: Any = self
        return check_objects(self, X, fitted.kernel_)

    # -- scikit-learn -----------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs, kernel = tags.input_tags, self.kernel
        if not isinstance(kernel, Kernel):
            inputs.pairwise = isinstance(kernel, str) and kernel == "precomputed"
            inputs.sparse = not inputs.pairwise
            return tags
        takes = taken_by(kernel)
        inputs.pairwise = takes.pairwise
        inputs.sparse = takes.accepts_sparse and not takes.pairwise
        if takes.structured:
            inputs.string = True
            inputs.one_d_array = not takes.columns
            inputs.two_d_array = takes.columns
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "kernel_" in self.__dict__

    def _require_fit(self) -> None:
        """Raise NotFittedError before the first fit."""
        if "kernel_" not in self.__dict__:
            check_is_fitted(self)


@declared
class NamedKernelEstimator(KernelEstimator):
    """Base class of estimators whose kernel may be given by name, with its parameters."""

    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf", kind="str, Kernel or callable")
    """"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel of `mercer.kernels`,
    or a function of two collections of objects."""
    degree: int = parameter(default=3)
    """Degree of "poly"."""
    gamma: Any = parameter(default="scale", kind='{"scale", "auto"} or float')
    """Width of a named kernel. "scale" is 1 / (n_features * variance of X), weighted."""
    coef0: float = parameter(default=0.0)
    """Constant of "poly" and "sigmoid"."""
