"""The base of all estimators: one validation, fits that succeed or leave no trace, conventions.

A machine without a kernel derives from `Estimator`. Its parameters are declared
(`mercer.objects.parameters.declared`), and its fit begins with the same three lines everywhere:

    self._check_parameters()
    with self._transaction():
        data = self._enter_rows(X, y, sample_weight)

`_enter_batch` takes the place of `_enter_rows` in ``partial_fit``, and `_rows` returns the rows to
predict. Estimators with a kernel derive from `KernelEstimator` (`kernel_estimator.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._version import __version__
from mercer.objects.arrays import Array, PlainState, Rows
from mercer.objects.parameters import Check, EstimatorParameters
from mercer.objects.validation import count, take

from .conventions import BaseEstimator
from .frozen import freeze
from .input_validation import check_rows
from .progress import CallbackSupport
from .weights import check_sample_weight, positive_rows


@dataclass(frozen=True)
class Samples:
    """The samples of a fit: validated, of positive weight.

    `X`: the objects. `weight`: None means 1. `kept`: positions of the samples in the user's
    `n_total`; None where none was left out. `extra`: one more number or row of numbers for each
    sample, such as the tube of a regression.
    """

    X: Any
    y: NDArray[Any] | None
    weight: Array | None
    kept: Rows | None
    n_total: int
    extra: NDArray[Any] | None = None

    @property
    def n(self) -> int:
        """Number of samples that take part."""
        return count(self.X)

    @property
    def weights(self) -> Array:
        """The weights, 1 where none were given."""
        return np.ones(self.n) if self.weight is None else self.weight


class Estimator(CallbackSupport, PlainState, EstimatorParameters, BaseEstimator):
    """Base class of all estimators: a subclass declares parameters and writes `fit`.

    It states what its targets are (`_check_target`), and whether it takes sparse rows.
    """

    _checks: ClassVar[dict[str, Check]] = {}
    _parameters: ClassVar[dict[str, Any]] = {}
    _takes_sparse_rows = False

    # -- validation ---------------------------------------------------------------------------

    def _check_target(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        """Return checked targets; None for an estimator that takes none."""
        if y is not None:
            raise TypeError(
                f"{type(self).__name__} takes no targets: it has no method _check_target(y, "
                "n_samples), which returns them checked."
            )
        return None

    def _enter_rows(
        self, X: Any, y: Any = None, sample_weight: Any = None, extra: Any = None
    ) -> Samples:
        """Return the checked samples of a fit on rows of numbers."""
        return self._samples(self._checked_rows(X, reset=True), y, sample_weight, extra)

    def _enter_batch(
        self, X: Any, y: Any = None, sample_weight: Any = None, extra: Any = None
    ) -> Samples:
        """Return the checked samples of ``partial_fit``: further rows, or the first ones."""
        X = self._checked_rows(X, reset=not hasattr(self, "n_features_in_"))
        return self._samples(X, y, sample_weight, extra)

    def _rows(self, X: Any) -> Any:
        """Return checked rows that the fitted estimator is applied to."""
        self._require_fit()
        return self._checked_rows(X, reset=False)

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        if sp.issparse(X) and not self._takes_sparse_rows:
            raise TypeError(
                f"Sparse rows are not supported by {type(self).__name__}, which works on dense "
                "points; pass X.toarray()."
            )
        return check_rows(self, X, reset=reset, sparse=self._takes_sparse_rows)

    def _samples(
        self, X: Any, y: Any, sample_weight: Any, extra: Any, *, square: bool = False
    ) -> Samples:
        """Return checked objects with checked targets and weights, those of weight 0 left out.

        `square`: whether the objects are rows of a kernel matrix.
        """
        n_total = count(X)
        y = self._check_target(y, n_total)
        weight = check_sample_weight(sample_weight, n_total)
        kept = positive_rows(weight)
        if kept is not None:
            X = take(X, kept)[:, kept] if square else take(X, kept)
            y, weight, extra = (None if a is None else a[kept] for a in (y, weight, extra))
        return Samples(X, y, weight, kept, n_total, extra)

    # -- fitting --------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        """Reject parameters outside their range: each by its declared check, then together."""
        for name, check in self._checks.items():
            value = getattr(self, name)
            if value is not self._parameters[name].default:  # which is in its range
                check(value, name)
        self._check()

    def _check(self) -> None:
        """Reject parameters that do not go together; for subclasses."""

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Leave the estimator as it was, with the model of an earlier fit, if a fit fails.

        The arrays of a model are read-only from here on. An error of memory without a message gets
        one.
        """
        before = dict(self.__dict__)
        try:
            yield
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if type(error) is MemoryError and not str(error):
                raise MemoryError(
                    f"{type(self).__name__} ran out of memory in fit, and is as it was before. Use "
                    "fewer rows, rows in float32 or, where they are mostly 0, sparse ones."
                ) from error
            raise
        freeze(self)

    # -- scikit-learn ---------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse_rows
        return tags

    def _require_fit(self) -> None:
        """Raise NotFittedError before the first fit."""
        check_is_fitted(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, as pickles and files hold them."""
        state = {**super().__getstate__(), "_mercer_version": __version__}
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
