"""What type checkers are told about the estimators."""

import re
from inspect import getmembers_static
from pathlib import Path
from typing import Any, Self, get_type_hints

import pytest
from numpydoc.docscrape import ClassDoc

import mercer
from mercer import selection
from mercer.persistence.classes import estimator_classes

SEARCHES = [v for v in vars(selection).values() if isinstance(v, type) and hasattr(v, "fit")]
ESTIMATORS = [*estimator_classes().values(), *SEARCHES]
SOURCE = Path(mercer.__file__).parent
OF_THE_USER = {  # attributes that hold objects of the user's own kind
    "support_vectors_",
    "landmarks_",
    "inducing_points_",
    "best_estimator_",
    "estimator_",
    "scorer_",
    "X_fit_",
    "X_train_",
}


@pytest.mark.parametrize("estimator", estimator_classes().values(), ids=lambda e: e.__name__)
def test_methods_return_the_estimator_itself(estimator: Any) -> None:
    for name in ("fit", "partial_fit", "set_params", "set_callbacks"):
        if hasattr(estimator, name):
            assert get_type_hints(getattr(estimator, name))["return"] is Self, name


def test_a_users_program_is_checked_strictly(request, monkeypatch, tmp_path) -> None:
    """Types reach the user: mypy accepts right uses, finds wrong ones and knows all attributes."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(SOURCE.parent))
    program = Path(__file__).with_name("users_program.py")
    reveal = tmp_path / "reveal.py"
    lines, wanted = [], {}
    for estimator in ESTIMATORS:
        name, module = estimator.__name__, estimator.__module__
        lines += [f"from {module} import {name}", f"def of_{name}(model: {name}) -> None:"]
        columns = set() if name == "HiddenMarkov" else {"n_features_in_"}  # of sequences: none
        for attribute in {*_attributes(estimator), *_methods(estimator), *columns} - OF_THE_USER:
            lines.append(f"    reveal_type(model.{attribute})")
            wanted[len(lines)] = f"{name}.{attribute}"
    reveal.write_text("\n".join(lines) + "\n")
    kept = request.config.cache.mkdir("mypy")  # of what it knows of NumPy, for the next time
    out, _, status = api.run(
        ["--strict", "--config-file=", f"--cache-dir={kept}", "--follow-imports=silent",
         str(program), str(reveal)]
    )  # fmt: skip
    assert status == 0, out
    found = dict(re.findall(r'reveal\.py:(\d+): note: Revealed type is "(.*)"', out))
    assert len(found) == len(wanted) > 700
    types = {name: found[str(line)] for line, name in wanted.items()}
    unknown = {name for name, known in types.items() if re.fullmatch("(.*-> )?Any", known)}
    assert unknown == {"HiddenMarkov.expected_counts"}  # SciPy's arrays have no types
    processes = [name for name in estimator_classes() if "GaussianProcess" in name]
    for name in processes:  # or scikit-learn's, which have no types
        assert types[f"{name}.kernel_"].startswith("mercer.kernels.base.Kernel |")


def _attributes(estimator: Any) -> set[str]:
    """Return the names of the documented attributes."""
    listed = ", ".join(one.name for one in ClassDoc(estimator)["Attributes"])
    return {name for name in listed.split(", ") if name.endswith("_")}


def _methods(estimator: Any) -> set[str]:
    """Return the names of the public methods but one, whose result scikit-learn gives no type."""
    names = {name for name, _ in getmembers_static(estimator, callable) if name[0] != "_"}
    return names - {"get_metadata_routing"}


def test_the_types_are_shipped() -> None:
    assert (SOURCE / "py.typed").exists()
