"""Every machine on strings, with the tools of scikit-learn around it."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.expansion import Expansion
from mercer.kernels import (
    RBF,
    BlendedSpectrum,
    Mismatch,
    PairHMM,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
    normalize,
)

rng = np.random.default_rng(0)
N = 60
WORDS = ["".join(rng.choice(list("abc"), size=k)) for k in rng.integers(2, 12, size=N)]
COUNT = np.array([w.count("ab") for w in WORDS])
CLASSES = np.minimum(COUNT, 2)
KERNELS = [
    Spectrum(2),
    normalize(BlendedSpectrum(3)),
    normalize(Substring(0.7)),
    normalize(Subsequence(2)),
    normalize(Mismatch(3, 1)),
    normalize(WeightedDegree(3)),
    normalize(PairHMM()),
]
MACHINES = [
    SVC(C=10),
    NuSVC(nu=0.3),
    NuSVC(nu=0.3, fit_intercept=False),
    SVR(C=10),
    NuSVR(C=10),
    NuSVR(C=10, fit_intercept=False),
    OneClassSVM(nu=0.2),
]


def targets(machine: Any) -> Any:
    if isinstance(machine, OneClassSVM):
        return None
    return CLASSES > 0 if isinstance(machine, SVC | NuSVC) else COUNT.astype(float)


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_machine_takes_strings(machine: Any, kernel: Any) -> None:
    """The same function as from the matrix of values, with its proof."""
    y = targets(machine)
    machine = type(machine)(**{**machine.get_params(deep=False), "kernel": kernel})
    machine.fit(WORDS, y)
    K = kernel.bind(WORDS)(WORDS)
    reference = type(machine)(**{**machine.get_params(deep=False), "kernel": "precomputed"})
    reference.fit(K, y)
    values = machine.decision_function if hasattr(machine, "classes_") else machine.predict
    expected = reference.decision_function if hasattr(machine, "classes_") else reference.predict
    np.testing.assert_allclose(values(WORDS), expected(K), atol=1e-5)
    assert machine.support_vectors_ == [WORDS[i] for i in machine.support_]
    proof = machine.certify(WORDS) if y is None else machine.certify(WORDS, y)
    assert proof.status == "optimal"
    assert proof.kkt_violation <= 1.01 * machine.tol
    assert not hasattr(machine, "n_features_in_")


def test_several_classes_and_probabilities() -> None:
    machine = SVC(kernel=normalize(Spectrum(2)), C=10, probability=True, random_state=0)
    machine.fit(WORDS, CLASSES)
    assert machine.score(WORDS, CLASSES) > 0.9
    chances = machine.predict_proba(WORDS)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(chances.argmax(axis=1), machine.predict(WORDS))


def test_tools_of_scikit_learn(tmp_path: Any) -> None:
    machine = SVC(kernel=normalize(Spectrum(2)))
    y = CLASSES > 0
    assert cross_val_score(machine, WORDS, y, cv=3).mean() > 0.7
    assert cross_val_predict(machine, np.array(WORDS), y, cv=3).shape == (N,)
    search = GridSearchCV(machine, {"kernel__kernel__p": [1, 2, 3], "C": [1, 10]}, cv=3)
    assert search.fit(WORDS, y).best_params_["kernel__kernel__p"] == 2
    piped = make_pipeline(FunctionTransformer(lambda X: [x.upper() for x in X]), machine)
    np.testing.assert_array_equal(
        piped.fit(WORDS, y).predict(WORDS), machine.fit(WORDS, y).predict(WORDS)
    )
    joblib.dump(machine, tmp_path / "machine")
    for copy in (joblib.load(tmp_path / "machine"), pickle.loads(pickle.dumps(machine))):
        np.testing.assert_array_equal(
            copy.decision_function(WORDS), machine.decision_function(WORDS)
        )


def test_expansions_on_strings_are_stored(tmp_path: Any) -> None:
    f = Expansion(normalize(Subsequence(2, 0.5)), ["cat", "car"], [1.0, -1.0], 0.5)
    f.save(tmp_path / "f")
    g = Expansion.load(tmp_path / "f")
    np.testing.assert_array_equal(g(["bat", "car", ""]), f(["bat", "car", ""]))
    assert g.kernel == f.kernel


def test_expansions_on_tables_are_stored(tmp_path: Any) -> None:
    frame = pd.DataFrame({"word": WORDS, "count": COUNT.astype(float)})
    kernel = (Spectrum(2).on_columns("word") + RBF(0.5).on_columns(["count"])).bind(frame)
    values = Expansion(kernel, frame, np.arange(N) - 5.0)(frame)
    for table in (frame, pl.DataFrame({name: frame[name].tolist() for name in frame})):
        f = Expansion(kernel, table, np.arange(N) - 5.0)
        f.save(tmp_path / "f")
        np.testing.assert_array_equal(Expansion.load(tmp_path / "f")(frame), values)


def test_objects_without_a_plain_form_are_refused(tmp_path: Any) -> None:
    f = Expansion(Spectrum(1), [["a", complex(1, 2)]], [1.0])
    with pytest.raises(ValueError, match=r"vectors is of type complex, .* no form .*pickle"):
        f.save(tmp_path / "f")
    assert not list(tmp_path.iterdir())


def test_tags_say_what_the_kernel_takes() -> None:
    tags = SVC(kernel=Spectrum(2)).__sklearn_tags__().input_tags
    assert tags.string
    assert tags.one_d_array
    assert not tags.two_d_array
    assert not tags.sparse
    table = SVC(kernel=Spectrum(2).on_columns(0) + RBF().on_columns(1)).__sklearn_tags__()
    assert table.input_tags.two_d_array
    assert table.input_tags.string
    assert not SVC(kernel=RBF()).__sklearn_tags__().input_tags.string


def test_predicting_a_subset_is_a_subset_of_the_predictions() -> None:
    for kernel in KERNELS:
        machine = SVC(kernel=kernel).fit(WORDS, CLASSES > 0)
        values = machine.decision_function(WORDS)
        few = [5, 41, 3]
        np.testing.assert_array_equal(
            machine.decision_function([WORDS[i] for i in few]), values[few]
        )
