"""The programs that draw the figures of the chapters run and write their pictures."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.parametrize("name", ["entropy_feature_box", "entropy_weight_regions"])
def test_figures_are_drawn(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [name, str(picture)])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert picture.stat().st_size > 10_000
    printed = capsys.readouterr().out
    if name == "entropy_feature_box":  # the figure's statement: the rotated box is twice as large,
        assert "larger box: areas 4.000 and 7.99" in printed  # but not for every data set
        assert "prefer it: areas 4.000 and 1.2" in printed
