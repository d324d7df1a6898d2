"""The example programs draw what their heads say."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("capacity_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_writes_its_picture(path, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    picture = module.main(tmp_path)
    assert picture.parent == tmp_path
    assert picture.stat().st_size > 5000
    plt.close("all")
