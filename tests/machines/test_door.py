"""The flat door of the package."""

import subprocess
import sys

import numpy as np
import pytest

import mercer


def test_every_name_opens():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
    assert dir(mercer) == sorted(mercer.__all__)
    with pytest.raises(AttributeError, match="Perceptron"):
        mercer.Perceptron  # noqa: B018


def test_import_is_lazy():
    script = "import sys, mercer; print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "False"]


def test_configuration(capsys):
    report = mercer.show_config(mode="dict")
    assert report["mercer"] == mercer.__version__
    assert report["instruction set"] in report["instruction sets available"]
    mercer.show_config()
    assert "instruction set" in capsys.readouterr().out
    with pytest.raises(ValueError, match="mode"):
        mercer.show_config("json")


@pytest.mark.parametrize(
    ("machine", "instead"),
    [
        (mercer.SVR(), "GaussianProcessRegressor .* return them"),
        (mercer.NuSVR(), "GaussianProcessRegressor .* return them"),
        (mercer.KernelRidge(), "predict_interval gives intervals"),
    ],
    ids=repr,
)
def test_regressors_without_standard_deviations_say_what_has_them(machine, instead):
    X = np.arange(10.0)[:, None]
    machine.fit(X, X[:, 0])
    with pytest.raises(TypeError, match=instead):
        machine.predict(X, return_std=True)
