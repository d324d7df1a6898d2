"""The estimator base: the door, the kernel, its binding and scikit-learn's conventions.

Machines and transformers are `KernelEstimator`s. A fit enters through the door once,

    data, kernel = self._enter(X, y, sample_weight)
    gram = self._gram(data, kernel)

`_enter` validates the objects, targets and weights, leaves out samples of weight 0, resolves the
kernel and binds it to the objects; nothing is checked again behind it. A fit that already has
`data` and `gram`, such as one of many folds of a search, starts behind the door. Objects to predict
come through `_objects`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._version import __version__
from mercer.gram import Gram, refuse_asymmetric_sample
from mercer.gram.mapped_objects import Views, views_of
from mercer.kernels import Kernel, resolve
from mercer.kernels.kept_documents import without_texts
from mercer.kernels.resolve import KernelLike
from mercer.objects.arrays import Array, Rows
from mercer.objects.parameters import EstimatorParameters, declared
from mercer.objects.validation import count, taken_by

from .constant_kernels import warn_of_constant
from .conventions import BaseEstimator
from .frozen import freeze
from .input_validation import check_objects, check_training_objects, forget_columns, keep
from .parameters import check_shared
from .progress import CallbackSupport
from .weights import check_sample_weight, positive_rows


@dataclass(frozen=True)
class TrainingData:
    """The samples of a fit behind the door: validated, of positive weight.

    `views`: the objects, with the images that maps of the user's made of them. `weight`: None means
    1. `kept`: positions of the samples in the user's `n_total`; None where none was left out.
    `extra`: one more number or row of numbers for each sample, such as the tube of a regression.
    `gram`: the kernel matrix, where the user has it. `names`: of the columns of a table.
    `pairwise`: whether the objects are rows of a kernel matrix, of which a part is square as well.
    """

    views: Views
    y: NDArray[Any] | None
    weight: Array | None
    kept: Rows | None
    n_total: int
    extra: NDArray[Any] | None = None
    gram: Gram | None = None
    names: NDArray[Any] | None = None
    pairwise: bool = False

    @property
    def X(self) -> Any:  # noqa: N802 - the name of the objects everywhere
        """The objects."""
        return self.views.X

    @property
    def n(self) -> int:
        """Number of samples that take part."""
        return count(self.views.X)

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
            views=views,
            y=y,
            weight=weight,
            kept=rows if self.kept is None else self.kept[rows],
            extra=extra,
            gram=None if self.gram is None else self.gram.take(rows),
        )


@declared
class KernelEstimator(CallbackSupport, EstimatorParameters, BaseEstimator):
    """Base class of all estimators that are fitted with a kernel.

    A subclass has the parameter ``kernel`` and, for kernels given by name, ``gamma``, ``degree``
    and ``coef0``; it adds its own by a constructor, or in its body under `declared`. It states what
    its targets are (`_check_target`), and sets ``kernel_`` in `fit`.
    """

    _: KW_ONLY
    kernel: KernelLike = "rbf"
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

    def _check_target(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        """Return checked targets; None for an estimator that takes none."""
        if y is not None:
            raise TypeError(
                f"{type(self).__name__} takes no targets: it has no method _check_target(y, "
                "n_samples), which returns them checked."
            )
        return None

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
        n_total = count(X)
        y = self._check_target(y, n_total)
        weight = check_sample_weight(sample_weight, n_total)
        kept = positive_rows(weight)
        X, y, weight, extra = keep(kernel, X, kept, y, weight, extra)
        views = Views(X)  # a map of the user's runs once, here and for the matrix
        names = getattr(self, "feature_names_in_", None)
        kernel = kernel.bound_to_valid(views, weight, names)
        views = without_texts(kernel, views)
        pairwise = kernel.pairwise
        data = TrainingData(views, y, weight, kept, n_total, extra, None, names, pairwise)
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
        data = TrainingData(views, y, weight, kept, n_total, extra, gram, None, pairwise)
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

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was, with the model of an earlier fit, if a fit fails.

        Parameters that all estimators share are checked first. The arrays of a model are read-only
        from here on.
        """
        check_shared(self)
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        freeze(self)

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

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, as pickles and files hold them."""
        state = {**self.__dict__, "_mercer_version": __version__}
        if "_lazy" in state:
            state["_lazy"] = {}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        version = state.pop("_mercer_version", None)
        if version != __version__:
            writer = "an earlier mercer" if version is None else f"mercer {version}"
            raise ValueError(
                f"this {type(self).__name__} was pickled by {writer}; this is mercer "
                f"{__version__}, whose fitted attributes may differ. Fit it again, or unpickle it "
                "with the version that wrote it."
            )
        super().__setstate__(state)
        self._restored()

    def _restored(self) -> None:
        """Put a model that was read from a file or pickle into the state that fit leaves it in."""
        if "_lazy" in self.__dict__:  # whatever a forged file holds
            self._lazy: dict[str, Any] = {}
        freeze(self)
