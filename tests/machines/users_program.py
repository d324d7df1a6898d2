"""A program of a user, which `mypy --strict` accepts; an ignored error is one that it must find."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import mercer
from mercer import (
    SVC,
    SVR,
    Certificate,
    Expansion,
    GaussianProcessRegressor,
    KernelCCA,
    KernelPCA,
    KernelRidge,
    MultipleKernelSVC,
    OneClassSVM,
)
from mercer.features import Nystrom, RelevantColumns
from mercer.kernels import RBF, Kernel, Linear
from mercer.selection import GridSearchCV

Floats = NDArray[np.float64]

X: Floats = np.zeros((4, 2))
y: Floats = np.array([0.0, 0.0, 1.0, 1.0])

model = SVC(C=1.0, probability=True).fit(X, y)
assert_type(model, SVC)
assert_type(model.set_params(C=2.0).fit(X, y), SVC)
assert_type(model.certificate_, Certificate)
assert_type(model.kernel_, Kernel)
assert_type(model.expansion_, Expansion)
assert_type(model.intercept_, Floats)
assert_type(model.support_, NDArray[np.int32])
assert_type(model.predict_proba(X), Floats)
assert_type(model.score(X, y), float)
assert_type(model.get_params()["C"], object)  # type: ignore[assert-type]
wrong: int = model.certificate_  # type: ignore[assignment]
words: str = SVR().fit(X, y).predict(X)  # type: ignore[assignment]
SVC(cost=1.0)  # type: ignore[call-arg]
SVC(kernel=3)  # type: ignore[arg-type]
GaussianProcessRegressor(kernel=0.5)  # type: ignore[arg-type]
SVC(kernel=lambda A, B: A @ B.T)
typo = model.certificat_  # type: ignore[attr-defined]
missing = mercer.rbf  # type: ignore[attr-defined]

assert_type(SVR().fit(X, y).n_iter_, int)
assert_type(OneClassSVM().fit_predict(X), NDArray[np.intp])
assert_type(KernelRidge(alpha=0.1).fit(X, y).dual_coef_, Floats)
process = GaussianProcessRegressor().fit(X, y)
assert_type(process.predict(X), Floats)
assert_type(process.predict(X, return_std=True), tuple[Floats, Floats])
assert_type(process.predict(X, return_cov=True), tuple[Floats, Floats])
assert_type(process.log_marginal_likelihood(), float)
assert_type(process.kernel_, Kernel | Any)
width = process.kernel_.gama  # type: ignore[union-attr]
assert_type(KernelPCA(n_components=2).fit_transform(X), Floats)
assert_type(Nystrom(n_components=2).fit(X).eigenvalues_, Floats)
assert_type(Nystrom(n_components=2).fit(X).set_output(transform="pandas"), Nystrom)
assert_type(RelevantColumns().fit(X, y).get_support(), NDArray[Any])
assert_type(KernelCCA().fit(X, X).transform(X), Floats)
assert_type(KernelCCA().fit(X, X).transform(X, X), tuple[Floats, Floats])
assert_type(MultipleKernelSVC().fit(X, y).machine_, SVC)
search = GridSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, y)
assert_type(search, GridSearchCV)
assert_type(search.best_params_, dict[str, Any])
assert_type(search.score(X, y), float)
assert_type(search.predict_proba(X), Floats)
assert_type(model.set_fit_request(sample_weight=True), SVC)
assert_type(model.refit_on_support(), SVC)
assert_type(model.margin_width_, float | Floats)
assert_type(RBF(0.5).bind(X), RBF)
assert_type(2.0 * RBF(0.5) + Linear(), Kernel)
assert_type(mercer.inspection.explain(model, X[0]).label, Any)
assert_type(mercer.inspection.explain(model, X[0]).value, float)
mercer.save(model, "model.mercer")
