"""Splits that leave a family out, and the experiment they are made for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC
from mercer.data import LeaveFamilyOut, leave_family_out_split
from mercer.kernels import Fisher, HiddenMarkov, Spectrum, normalize

FAMILY = np.array(list("aaabbccxxxyyyzzw"))
Y = np.isin(FAMILY, list("abc"))


@pytest.mark.spec("CS-8.18")
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=20),
    st.lists(st.integers(10, 14), min_size=1, max_size=20),
    st.floats(0.05, 0.95),
    st.integers(0, 1000),
)
def test_the_protocol(inside, outside, share, seed):
    family = np.array([0, 1, 10, 11, *inside, *outside])  # two families at least on each side
    y = family < 10
    splits = list(leave_family_out_split(y, family, test_size=share, random_state=seed))
    left_out = []
    for train, test in splits:
        # Every object is on one side.
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))
        # One family of the super-family is tested, the others are learned from.
        (tested,) = np.unique(family[test][y[test]])
        assert tested not in family[train]
        left_out.append(tested)
        # Negatives of other super-families are on both sides, no family of them on both.
        others = set(family[train][~y[train]]), set(family[test][~y[test]])
        assert all(others)
        assert not others[0] & others[1]
    assert left_out == np.unique(family[y]).tolist()


def test_the_share_of_families_and_the_seed():
    sizes = []
    for train, test in leave_family_out_split(Y, FAMILY, test_size=0.75, random_state=3):
        sizes.append(len(set(FAMILY[test][~Y[test]])))
        assert len(set(FAMILY[train][~Y[train]])) == 1
    assert sizes == [3, 3, 3]
    one, again, other = (
        [test.tolist() for _, test in leave_family_out_split(Y, FAMILY, random_state=s)]
        for s in (0, 0, 1)
    )
    assert one == again != other


def homologs(seed):
    """Return sequences of three families of a super-family and of eight other families.

    A super-family is an order in which hidden states follow each other; a family has letters of
    its own beside those of the states. The sequences differ in length, as proteins do.
    """
    rng = np.random.default_rng(seed)
    cycle = np.array([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
    X, y, family = [], [], []
    for f in range(11):
        relative = f < 3
        change = cycle if relative else 0.7 * cycle.T + 0.3 * rng.dirichlet(np.ones(3), size=3)
        emission = 0.7 * np.eye(3, 4) + 0.3 * rng.dirichlet(np.ones(4), size=3)
        model = HiddenMarkov.from_probabilities(np.ones(3) / 3, change, emission, "ACGT")
        X += model.sample(rng.integers(40, 81, size=8), random_state=seed + f)
        y += [relative] * 8
        family += [f] * 8
    return X, np.array(y), np.array(family)


@pytest.mark.spec("CS-8.18", "CS-8.02")
def test_fisher_scores_find_remote_relatives_better_than_the_likelihood():
    """Jaakkola and Haussler's experiment on made sequences: the family tested is new.

    The probability P(x) of the model falls with the length of x, whatever its family.
    """
    X, y, family = homologs(0)
    machine, likelihood = [], []
    for train, test in leave_family_out_split(y, family, random_state=0):
        learn, judge = [X[i] for i in train], [X[i] for i in test]
        relatives = [X[i] for i in train if y[i]]
        model = HiddenMarkov(3, pseudocount=0.5, tol=1e-5, n_init=2, random_state=0)
        model.fit(relatives)
        kernel = Fisher.gaussian(model, learn, y[train])
        svc = SVC(kernel=kernel, C=10.0, fit_intercept=False).fit(learn, y[train])
        assert svc.certificate_.status == "optimal"
        machine.append(roc_auc_score(y[test], svc.decision_function(judge)))
        likelihood.append(roc_auc_score(y[test], model.score_samples(judge)))
    assert np.mean(machine) > 0.95
    assert np.mean(likelihood) < 0.85


def test_tools_of_scikit_learn_take_the_splits():
    rng = np.random.default_rng(1)
    motif = {f: "".join(rng.choice(list("ACGT"), size=2)) for f in "abcxyzw"}
    X = [motif[f] + 4 * ("TATA" if f in "abc" else "GCGC") for f in FAMILY]
    machine = SVC(kernel=normalize(Spectrum(3)))
    scores = cross_val_score(machine, X, Y, groups=FAMILY, cv=LeaveFamilyOut(random_state=0))
    assert scores.tolist() == [1.0, 1.0, 1.0]
    search = GridSearchCV(
        machine, {"kernel__kernel__p": [1, 3]}, cv=LeaveFamilyOut(0.4, random_state=0)
    ).fit(X, Y, groups=FAMILY)
    assert search.n_splits_ == 3
    assert LeaveFamilyOut().get_n_splits(X, Y, FAMILY) == 3
    assert "test_size=0.4" in repr(search.cv)


@pytest.mark.parametrize(
    ("y", "family", "options", "message"),
    [
        (None, FAMILY, {}, "pass y, who is in it"),
        (Y, None, {}, r"groups=family"),
        (Y[:3], FAMILY, {}, r"got shapes \(3,\) and \(16,\)"),
        (np.zeros(16), FAMILY, {}, "two labels, in the super-family or not; got 1"),
        (np.arange(16), FAMILY, {}, "two labels, in the super-family or not; got 16"),
        (np.arange(16) > 0, FAMILY, {}, "family 'a' has members inside and outside"),
        ([1, 1, 0, 0], list("aabc"), {}, "the super-family has one family, 'a'"),
        ([1, 1, 0, 0], list("abcc"), {}, "the others have one family, 'c'"),
        (Y, FAMILY, {"test_size": 1.0}, "test_size must be a share between 0 and 1"),
        (Y, FAMILY, {"test_size": 0}, "test_size must be a share between 0 and 1"),
    ],
)
def test_what_cannot_be_split_is_refused(y, family, options, message):
    with pytest.raises(ValueError, match=message):
        list(leave_family_out_split(y, family, **options))
    with pytest.raises(ValueError, match=message):
        list(LeaveFamilyOut(**options).split(None, y, family))
