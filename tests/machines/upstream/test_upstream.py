"""scikit-learn's own tests of kernel machines and searches, run on mercer's; see rebind.py."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("tests", "exceptions", "at_least"),
    [
        ("sklearn.svm.tests", "exceptions.toml", 151),
        ("sklearn.tests.test_kernel_ridge", "ridge_exceptions.toml", 8),
        ("sklearn.decomposition.tests.test_kernel_pca", "exceptions.toml", 30),
        ("sklearn.gaussian_process.tests.test_gpr", "process_exceptions.toml", 120),
        ("sklearn.gaussian_process.tests.test_gpc", "classifier_exceptions.toml", 30),
        (
            "sklearn.model_selection.tests.test_search "
            "sklearn.model_selection.tests.test_successive_halving "
            "sklearn.model_selection.tests.test_validation",
            "search_exceptions.toml",
            300,
        ),
    ],
)
def test_tests_of_scikit_learn(tests, exceptions, at_least):
    for module in tests.split():  # which are not imported here: their marks are not known to us
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    here = Path(__file__).parent
    environment = dict(os.environ)
    paths = [str(here), *filter(None, sys.path)]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment.pop("PYTEST_ADDOPTS", None)
    environment["EXCEPTIONS"] = exceptions
    environment["LOKY_MAX_CPU_COUNT"] = "1"  # fits in other processes cannot be counted
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "rebind",
            "--pyargs",
            *tests.split(),
            "-q",
            "-p",
            "no:cacheprovider",
            "--tb=short",
            "-c",
            str(here / "pytest.ini"),
        ],
        capture_output=True,
        text=True,
        timeout=400,
        env=environment,
        cwd=here,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed
    assert int(passed.group(1)) >= at_least
