"""What a user meets first: packages behind `import mercer`, and messages that say what to do."""

import subprocess
import sys

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import RBF, Spectrum, Subsequence, normalize


def test_packages_load_when_they_are_first_used():
    program = (
        "import mercer, sys; before = 'mercer.inspection' in sys.modules; "
        "print(before, mercer.inspection.check([[1.0]]).is_psd)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.split() == ["False", "True"], result.stderr


@pytest.mark.parametrize("name", ["sigma", "length_scale"])
def test_a_width_is_answered_with_from_sigma(name):
    with pytest.raises(TypeError, match=r"RBF\.from_sigma\(sigma\)"):
        RBF(**{name: 1.0})


def test_gaussian_is_a_name_of_the_kernel():
    assert type(SVC(kernel="gaussian").fit([[0.0], [1.0]], [0, 1]).kernel_) is RBF


def test_a_parameter_of_a_nested_kernel_is_offered():
    with pytest.raises(ValueError, match="kernel__kernel__p"):
        SVC(kernel=normalize(Spectrum(2))).set_params(kernel__p=3)


@pytest.mark.parametrize("decay", [0, -2])
def test_decay_has_one_range(decay):
    with pytest.raises(ValueError, match="decay must be a number > 0"):
        Subsequence(n=2, decay=decay)


def test_missing_probabilities_say_how_to_get_them():
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="probability=True"):
        model.predict_proba([[0.0]])


def test_a_precomputed_matrix_of_the_wrong_width_says_which_columns_it_needs():
    model = SVC(kernel="precomputed").fit(np.eye(3), [0, 0, 1])
    with pytest.raises(ValueError, match="one column for each training object"):
        model.predict(np.eye(3)[:, :2])
