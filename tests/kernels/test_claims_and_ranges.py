"""Claims of definiteness at the ends of ranges, and values that no number holds."""

import numpy as np
import pytest

from mercer.data import LeaveFamilyOut
from mercer.expansion import Expansion
from mercer.kernels import (
    ExponentialDot,
    FromSpectrum,
    Linear,
    Mismatch,
    Polynomial,
    Sigmoid,
    normalize,
)
from mercer.selection import suggest


@pytest.mark.parametrize(
    ("kernel", "objects"),
    [
        (Polynomial(200, 1.0, 0.0) + 1.0, [[1e3], [-1e3]]),
        (ExponentialDot(1.0) + 1.0, [[100.0], [101.0]]),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_a_norm_that_no_number_holds_is_refused(kernel, objects):
    with pytest.raises(OverflowError, match=r"object 0 under .* is too large for a number"):
        normalize(kernel)(objects)


def test_letters_that_occur_in_no_string_are_refused():
    with pytest.raises(ValueError, match="'ab' of the alphabet is no single letter"):
        Mismatch(2, 1, alphabet=["ab", "c"])(["abc"])
    assert Mismatch(2, 1, alphabet=["ab", "c"])([["ab", "c"]])[0, 0] > 0


def test_a_sigmoid_of_width_zero_is_a_constant():
    X = np.arange(4.0)[:, None]
    for coef0, claim in ((1.0, "positive semidefinite"), (-1.0, "conditionally positive definite")):
        kernel = Sigmoid(0.0, coef0)
        assert str(kernel.definiteness) == claim
        np.testing.assert_allclose(kernel(X), np.tanh(coef0))
    assert str(Sigmoid(0.1, 1.0).definiteness) == "indefinite"


def test_a_spectrum_is_not_cut_off_among_the_data():
    def flat(w):
        return (w < 1) * 1.0

    X = np.linspace(0.0, 20.0, 60)[:, None]
    with pytest.raises(ValueError, match="reach=2 is smaller than the distance"):
        FromSpectrum(flat, reach=2.0, cutoff=1.0).bind(X)
    assert np.linalg.eigvalsh(FromSpectrum(flat, reach=20.0, cutoff=1.0)(X))[0] > -1e-8


def test_objects_without_a_family_are_named():
    with pytest.raises(ValueError, match="object 1 has no family"):
        list(LeaveFamilyOut().split(None, [1, 1, 0, 0], [1.0, np.nan, 3.0, 4.0]))
    with pytest.raises(ValueError, match="X holds 9 objects, and y 4 labels"):
        list(LeaveFamilyOut().split(np.zeros(9), [1, 1, 0, 0], ["a", "b", "x", "y"]))


def test_a_file_keeps_its_permissions_and_its_link(tmp_path):
    expansion = Expansion(Linear(), np.eye(2), np.ones(2))
    file, link = tmp_path / "model", tmp_path / "link"
    file.write_bytes(b"")
    file.chmod(0o664)
    link.symlink_to(file)
    expansion.save(link)
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o664
    np.testing.assert_array_equal(Expansion.load(file).coef, np.ones(2))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        expansion.save(tmp_path / "none" / "model")


def test_more_patterns_than_end_in_time_are_refused():
    with pytest.raises(ValueError, match=r"need 768,212 patterns of positions"):
        Mismatch(30, 3)
    with pytest.raises(ValueError, match="more than the 100,000 that end in time"):
        Mismatch(10**18, 10**9)


def test_letters_may_be_numbers_of_any_integer_type():
    plain = Mismatch(2, 1, alphabet=[97, 98])([b"abab"])
    np.testing.assert_array_equal(
        Mismatch(2, 1, alphabet=list(np.array([97, 98])))([b"abab"]), plain
    )
    assert plain[0, 0] > 0


def test_what_suggest_cannot_compare_is_refused_in_words():
    series = [np.arange(float(n)) for n in (3, 4, 5, 6)]
    with pytest.raises(ValueError, match=r"needs two classes of at least 4 objects each"):
        suggest(series, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="nothing to explain"):
        suggest(np.eye(20), np.ones(20), task="regression")
