"""A ranked short list of kernels with reasons and numbers."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from mercer import SVC, SVR
from mercer.data import friedman1, noisy_sinc, rings
from mercer.inspection import centred_alignment
from mercer.kernels import (
    RBF,
    ChiSquare,
    FourierSeries,
    FromFunction,
    HistogramIntersection,
    Linear,
    Matern,
    OverFeatureSpace,
    PeriodicGaussian,
    Polynomial,
    Precomputed,
    Spectrum,
    Subsequence,
    TfIdf,
    normalize,
)
from mercer.selection import KernelScaleWarning, data_kind, suggest
from mercer.selection import suggest as function
from mercer.selection.table_candidates import usual_candidates
from mercer.selection.trials import near_widths

rng = np.random.default_rng(33)


@pytest.mark.spec("SM-3.26")
def test_a_ring_needs_more_than_a_plane():
    X, y = rings(150, random_state=0)
    found = suggest(X, y, n_folds=3)
    assert found.task == "classification"
    assert found[0].score > 0.95
    names = [type(s.kernel).__name__ for s in found]
    assert len(set(names)) == len(names)  # families, not widths
    linear = found[names.index("Linear")]
    assert linear.score < 0.7 < found[0].score
    assert found.best == found[0].kernel != Linear()
    assert SVC(kernel=found.best).fit(X, y).score(X, y) > 0.95
    machine = found.estimator()
    assert isinstance(machine, SVC)
    assert found[0].parameters["C"] == machine.C
    assert cross_val_score(machine, X, y, cv=3).mean() > 0.95


def test_equal_scores_go_to_the_simpler_kernel():
    X = rng.normal(size=(120, 4))
    found = suggest(X, np.where(X[:, 0] > 0, "yes", "no"), n_folds=3)
    assert found.best == Linear()
    scores = [s.score for s in found]
    assert max(scores) - scores[0] <= 0.5 * max(s.error for s in found) + 1e-12


def test_regression_scales_the_constants_to_the_target():
    X, y = noisy_sinc(120, random_state=0)
    small = suggest(X, y, n_folds=3)
    assert small.task == "regression"
    assert small[0].score > 0.8
    assert type(small.best).__name__ in ("RBF", "Laplacian", "Matern")
    large = suggest(X, 1000 * y + 5, n_folds=3)
    assert large.best == small.best
    assert large[0].score == pytest.approx(small[0].score, abs=1e-3)
    assert large[0].parameters["C"] == pytest.approx(1000 * small[0].parameters["C"], rel=1e-6)
    assert large[0].parameters["epsilon"] == pytest.approx(0.1 * 1000 * y.std(), rel=1e-6)
    machine = large.estimator()
    assert isinstance(machine, SVR)
    assert machine.fit(X, 1000 * y + 5).score(X, 1000 * y + 5) > 0.8


def test_the_score_is_that_of_the_machine():
    X, y = friedman1(90, random_state=0)
    found = suggest(X, y, candidates=[3 * RBF(0.2)], n_folds=3, random_state=0)
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    folds = KFold(3, shuffle=True, random_state=seed)
    again = cross_val_score(found.estimator(), X, y, cv=folds)
    assert again.mean() == pytest.approx(found[0].score, abs=2e-3)
    assert again.std(ddof=1) / np.sqrt(3) == pytest.approx(found[0].error, abs=2e-3)


def test_widths_and_costs_of_the_best_kernels_are_refined_on_three_shuffles():
    X, y = rings(90, noise=0.3, random_state=0)
    best = suggest(X, y, n_folds=3, n_suggestions=1)[0]
    tried = [c for c in kernels_for(X, y)[0] if type(c) is type(best.kernel)]
    assert best.kernel not in tried
    assert "widths refined" in best.reason
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    machine = SVC(kernel=best.kernel, C=best.parameters["C"])
    folds = [StratifiedKFold(3, shuffle=True, random_state=seed + k) for k in range(3)]
    scores = np.array([cross_val_score(machine, X, y, cv=cv) for cv in folds])
    assert best.score == pytest.approx(scores.mean(), abs=2e-3)
    assert best.error == pytest.approx(scores.std() / np.sqrt(2), abs=2e-3)  # no smaller than of 3


def test_near_widths_scale_every_width_of_a_kernel():
    kernel = RBF([0.2, 3.0]).on_columns([0, 1]) * OverFeatureSpace(Linear(), 0.5) + Linear()
    near = near_widths(kernel)
    assert near[2] == kernel
    X = rng.normal(size=(5, 2))
    a, b, c = (k.left(X) for k in (near[0], kernel, near[-1]))
    np.testing.assert_allclose(a, b**0.35, rtol=1e-6)
    np.testing.assert_allclose(c, b**2.8, rtol=1e-6)
    assert near_widths(Linear()) == [Linear()]


def test_kernels_learn_from_the_training_part_of_a_fold_only():
    words = ["corn", "wheat", "ship", "rain", "sun"]
    texts = [" ".join(rng.choice(words[i % 2 :], 3)) for i in range(24)]
    found = suggest(texts, np.arange(24) % 2, candidates=[TfIdf()], n_folds=3, random_state=0)
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    score = cross_val_score(found.estimator(), texts, np.arange(24) % 2, cv=folds).mean()
    assert found[0].score == pytest.approx(score)


def test_the_better_half_is_scored_on_more_objects_while_time_is_left():
    X = rng.normal(size=(700, 2))
    y = (X**2).sum(axis=1) > 1.4
    kernels = [Linear(), RBF(1.0), RBF(1e-6), Polynomial(2, 1.0, 1.0)]
    found = suggest(X, y, candidates=kernels, n_folds=2, time_limit=1e9)
    assert found.n_used == 700
    assert {type(s.kernel) for s in found} == {RBF, Polynomial}
    fixed = suggest(X, y, candidates=kernels, n_folds=2, n_sample=100)
    assert fixed.n_used == 100
    assert len(fixed) == 4


def test_aligned_strings_get_positions():
    letters = rng.choice(list("ACGT"), size=(80, 12))
    y = (letters[:, 4] == "A") | (letters[:, 9] == "C")
    found = suggest(["".join(row) for row in letters], y, n_folds=3)
    assert "WeightedDegree" in repr(found.best)


def test_the_alignment_is_that_of_the_task():
    X = rng.normal(size=(40, 2))
    whole = np.round(3 * X[:, 0]).astype(int)  # few different numbers, so classes unless told
    options = {"candidates": [RBF(0.3), Linear()], "n_folds": 3}
    for task in ("classification", "regression"):
        keep = np.isin(whole, np.unique(whole)[np.unique(whole, return_counts=True)[1] >= 3])
        found = suggest(X[keep], whole[keep], task=task, **options)
        for item in found:
            expected = centred_alignment(item.kernel, X[keep], whole[keep], task=task)
            assert item.alignment == pytest.approx(expected, rel=1e-10)
    alike = FromFunction(lambda A, B: np.full((len(A), len(B)), 0.1))
    assert suggest(X, X[:, 0] > 0, candidates=[alike], n_folds=3)[0].alignment == 0.0


def test_large_sets_are_sampled_and_no_large_matrix_is_made():
    X = rng.normal(size=(30000, 5)).astype(np.float32)
    y = (X[:, 0] ** 2 > 1).astype(int)
    found = suggest(X, y, n_sample=120, n_folds=3)
    assert found.n_objects == 30000
    assert 118 <= found.n_used <= 122
    assert "on 120 of 30000 objects" in str(found)
    largest = []
    kernel = FromFunction(lambda A, B: largest.append(len(A) * len(B)) or A @ B.T)
    suggest(X, y, candidates=[kernel], n_sample=120, n_folds=3)
    assert max(largest) <= 122**2


def test_it_repeats_and_prints():
    X, y = rings(80, random_state=0)
    first, again = (suggest(X, y, n_folds=3, n_suggestions=2) for _ in range(2))
    assert [s.kernel for s in first] == [s.kernel for s in again]
    assert [s.score for s in first] == [s.score for s in again]
    assert len(first) == 2
    text = str(first)
    assert text.startswith("dense data, classification: 80 rows of 2 columns\naccuracy by")
    assert f"1. {first.best!r}" in text
    assert "alignment" in text
    assert repr(first) == f"<2 suggestions, best {first.best!r}>"
    assert list(first)[1] is first[1]
    assert all(s.seconds > 0 for s in first)


def test_time_runs_out():
    X, y = rings(80, random_state=0)

    def slow(A, B):
        time.sleep(0.05)
        return A @ B.T

    kernels = [FromFunction(slow), FromFunction(slow, "positive semidefinite"), Linear()]
    begin = time.perf_counter()
    found = suggest(X, y, candidates=kernels, n_folds=3, time_limit=0.01)
    assert time.perf_counter() - begin < 5
    assert found[0].score is not None  # the first always is scored
    assert all(s.score is None for s in found[1:])
    both = suggest(X, y, candidates=[Linear(), RBF(1.0)], n_folds=3, time_limit=1e-9)
    assert len(both) == 1
    assert found.estimator().C > 0


def test_kinds_of_data():
    nonnegative = rng.random((40, 6))
    assert data_kind(nonnegative).name == "dense"
    assert data_kind(nonnegative / nonnegative.sum(axis=1, keepdims=True)).name == "histograms"
    assert data_kind(rng.poisson(3, (40, 6))).name == "histograms"
    assert data_kind(sp.random(20, 50, 0.1, random_state=0)).name == "sparse"
    assert data_kind(np.array(["ab", "cd"])).name == "strings"
    assert data_kind([b"ab", b"cd"]).name == "strings"
    assert data_kind(["one two", "three four five"]).name == "documents"
    pandas = pytest.importorskip("pandas")
    assert data_kind(pandas.Series(["ab", "cd"])).name == "strings"
    uneven = data_kind(nonnegative * [1, 1, 1, 1, 1, 1000])
    assert "standardise" in uneven.notes[-1]
    with pytest.raises(TypeError, match="one string"):
        data_kind("abc")
    with pytest.raises(ValueError, match="objects of type object"):
        data_kind([object(), object()])


def test_sparse_rows():
    words = sp.random(90, 200, 0.05, random_state=0, format="csr") * 10
    y = np.asarray(words[:, :20].sum(axis=1)).ravel() > np.median(
        np.asarray(words[:, :20].sum(axis=1)).ravel()
    )
    found = suggest(words, y, n_folds=3)
    assert found.kind == "sparse"
    assert "normalize(Linear())" in str(found)
    found.estimator().fit(words, y)


def test_histograms():
    y = np.arange(90) % 3
    rates = np.array([[4.0, 4, 1, 1, 2], [1.0, 1, 4, 4, 2], [4.0, 1, 4, 1, 2]])
    counts = rng.poisson(rates[y])
    found = suggest(counts, y, n_folds=3)
    assert found.kind == "histograms"
    assert found[0].score > 0.6
    assert any("square roots" in s.reason for s in found)
    found.estimator().fit(counts, y)


def test_a_periodic_target():
    t = np.sort(rng.uniform(0, 30, 150))[:, None]
    y = np.sin(2 * t[:, 0]) + 0.1 * rng.normal(size=150)
    found = suggest(t, y, n_folds=3)
    assert found.kind == "periodic"
    assert found[0].score > 0.9
    ahead = np.linspace(30, 36, 50)[:, None]
    assert found.estimator().fit(t, y).score(ahead, np.sin(2 * ahead[:, 0])) > 0.9


def test_strings():
    words = ["".join(rng.choice(list(letters), 8)) for letters in ("ab", "bc") * 20]
    found = suggest(words, [0, 1] * 20, n_folds=3)
    assert found.kind == "strings"
    assert found[0].score > 0.9
    assert found.estimator().fit(words, [0, 1] * 20).predict(["aabb", "ccbb"]).tolist() == [0, 1]


def test_documents():
    about = [["wheat", "corn", "harvest"], ["ship", "harbour", "freight"]]
    texts = [" ".join([*rng.choice(about[i % 2], 3), "and", "the"]) for i in range(40)]
    found = suggest(texts, np.arange(40) % 2, n_folds=3)
    assert found.kind == "documents"
    assert found[0].score == 1.0
    machine = found.estimator().fit(texts, np.arange(40) % 2)
    assert machine.predict(["corn and wheat", "the ship"]).tolist() == [0, 1]


def kernels_for(X, y, classification=True):
    kind = data_kind(X, None if classification else y)
    return [c.kernel for c in usual_candidates(kind, np.asarray(y), classification, 0)], kind


@pytest.mark.spec("SM-3.26")
def test_each_kind_of_data_has_its_own_candidates():
    y = np.arange(40) % 2
    counts = rng.poisson(3, (40, 6))
    histograms, kind = kernels_for(counts, y)
    assert HistogramIntersection() in histograms
    chi = next(k for k in histograms if isinstance(k, ChiSquare))
    a, b = kind.X[:, None], kind.X[None]
    mean = np.where(a + b > 0, (a - b) ** 2 / np.maximum(a + b, 1), 0).sum(axis=2).mean()
    assert chi.gamma == pytest.approx(1 / mean, rel=0.1)  # exp(-1) at the mean distance
    t = np.sort(rng.uniform(0, 30, 150))[:, None]
    waves, kind = kernels_for(t, np.sin(2 * t[:, 0]), classification=False)
    assert kind.period == pytest.approx(np.pi, rel=1e-3)
    periodic = [k for k in waves if isinstance(k, PeriodicGaussian | FourierSeries)]
    assert len(periodic) == 4
    assert [k.sigma / kind.period for k in periodic[:3]] == pytest.approx([0.05, 0.15, 0.4])
    for kernel in periodic:  # what the data repeat with, the kernel does
        assert kernel.bind(t)(t + kind.period, t) == pytest.approx(kernel.bind(t)(t), abs=1e-9)
    strings, _ = kernels_for(["abcd", "bcda"] * 20, y)
    assert [k.kernel.p for k in strings if isinstance(k.kernel, Spectrum)] == [1, 2, 3, 4]
    assert normalize(Subsequence(3, 0.5)) in strings
    long, _ = kernels_for(["acgt" * 50] * 40, y)  # quadratic in the length
    assert not any(isinstance(k.kernel, Subsequence) for k in long)
    dense, kind = kernels_for(rng.normal(size=(40, 3)), y)
    matern = next(k for k in dense if isinstance(k, Matern))
    middle = np.median(np.linalg.norm(kind.X[:, None] - kind.X, axis=2)[np.triu_indices(40, 1)])
    assert matern.length_scale == pytest.approx(middle)


def test_words_are_counted_whatever_their_order():
    texts = ["Wheat and corn", "corn, corn and wheat", "a ship"] * 2
    documents, _ = kernels_for(texts, [0, 1] * 3)
    bag = documents[0].bind(texts)
    assert bag(texts)[0, 1] == pytest.approx(4 / np.sqrt(3 * 6))
    assert bag(texts)[0, 2] == 0
    assert TfIdf() in documents
    # Where words are single letters they are not left out.
    letters, _ = kernels_for(["a c g", "t t a"] * 3, [0, 1] * 3)
    K = letters[0].bind(["a c g", "t t a"])(["a c g", "t t a"])
    assert K[0, 1] == pytest.approx(1 / np.sqrt(3 * 5))
    assert suggest(["a c g", "t t a"] * 6, [0, 1] * 6, n_folds=2)[0].score == 1.0
    # Bytes have letters and no words.
    assert data_kind([b"one two", b"three four"]).name == "strings"
    assert suggest([b"ab ab", b"bc cb"] * 6, [0, 1] * 6, n_folds=2)[0].score == 1.0


def test_a_rule_stays_a_rule_until_a_machine_binds_it():
    X, y = rings(60, random_state=0)
    found = suggest(X, y, candidates=[RBF("scale")], n_folds=3)
    assert found.best == RBF("scale")
    assert found.estimator().fit(X, y).kernel_.is_bound


def test_named_candidates_on_any_objects():
    sets = [{i % 3, i % 5, 10 + i % 2} for i in range(60)]
    common = FromFunction(lambda A, B: [[len(a & b) for b in B] for a in A])
    found = suggest(sets, np.arange(60) % 2, candidates=[common], n_folds=3)
    assert found[0].score == 1.0
    assert found.kind == "given"


def test_degenerate_data_are_survived():
    y = np.arange(40) % 2
    constant = suggest(np.ones((40, 3)), y, n_folds=3)
    assert constant[0].score == pytest.approx(0.5, abs=0.1)
    equal = suggest(np.ones((40, 6), dtype=int), y, n_folds=3)
    assert equal.kind == "histograms"
    assert not any(isinstance(s.kernel, ChiSquare) for s in equal)
    repeated = suggest(np.repeat(rng.normal(size=(2, 3)), 20, axis=0), np.repeat([0, 1], 20))
    assert repeated[0].score == 1.0
    rare = np.zeros(60, dtype=int)
    rare[:30], rare[30] = 1, 2  # a class of one object is left out
    assert suggest(rng.normal(size=(60, 2)), rare, n_folds=3).n_used == 59
    far = rng.normal(size=(50, 2)) + 1e6
    with np.errstate(all="raise"):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error", KernelScaleWarning)
            suggest(far, np.arange(50) % 2, n_folds=3)


def test_what_is_refused():
    X, y = rings(40, random_state=0)
    for arguments, message in [
        ((X, y[:9]), "one value for each"),
        ((X, np.zeros(40)), "two classes are needed"),
        ((X, np.full(40, np.nan)), "NaN"),
        ((X, np.ones((40, 2))), "one label or number per object"),
    ]:
        with pytest.raises(ValueError, match=message):
            suggest(*arguments)
    for options, message in [
        ({"task": "ranking"}, "task must be one of"),
        ({"task": "regression", "y": ["a"] * 40}, "must be numbers"),
        ({"n_folds": 1}, "n_folds"),
        ({"n_sample": 3}, "n_sample"),
        ({"n_suggestions": 0}, "n_suggestions"),
        ({"time_limit": 0}, "time_limit"),
        ({"candidates": []}, "candidates is empty"),
        ({"candidates": [Precomputed()]}, "precomputed"),
    ]:
        with pytest.raises(ValueError, match=message):
            suggest(X, options.pop("y", y), **options)
    with pytest.raises(TypeError, match="must be kernels"):
        suggest(X, y, candidates=["rbf"])
    with pytest.raises(ValueError, match="needs two classes of at least"):
        suggest(X[:6], [0, 0, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="parts need at least"):
        suggest(X[:5], rng.normal(size=5))
    assert suggest is function


def test_counts_as_targets_are_numbers():
    X = rng.normal(size=(100, 2))
    counts = np.round(100 * X[:, 0]).astype(int)
    assert suggest(X, counts, n_folds=3).task == "regression"
    assert suggest(X, counts > 0, task="auto", n_folds=3).task == "classification"
