import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def literature():
    spec = importlib.util.spec_from_file_location("literature", ROOT / "tools" / "literature.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["literature"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["literature"]


def test_the_page_is_up_to_date_and_no_item_lacks_a_test_or_a_reason_or_has_both(
    literature, monkeypatch, capsys
):
    found = literature.collect(literature.TESTS)
    monkeypatch.setattr(literature, "collect", lambda tests: found)  # reads all tests: once
    assert literature.main(["--check"]) == 0, capsys.readouterr().out
    assert not set(found) & set(literature.reasons())


def test_markers_are_found_wherever_pytest_accepts_them(literature, tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.spec('CS-0.02')\n"
        "@pytest.mark.spec('CS-6.01', 'CS-6.02', code='src/mercer/geometry/hyperplanes.py')\n"
        "def test_one(): ...\n"
        "class TestTwo:\n"
        "    @pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.spec('HO-47'))])\n"
        "    def test_three(self, x): ...\n"
    )
    found = literature.collect(tests)
    assert {item: [proof.name for proof in found[item]] for item in found} == {
        "CS-0.02": [""],
        "CS-6.01": ["test_one"],
        "CS-6.02": ["test_one"],
        "HO-47": ["TestTwo::test_three"],
    }
    assert found["CS-6.01"][0].code == "src/mercer/geometry/hyperplanes.py"


def test_ids_must_be_literal(literature, tmp_path):
    (tmp_path / "test_b.py").write_text("import pytest\nx = pytest.mark.spec(NAME)\n")
    with pytest.raises(SystemExit, match="literal"):
        literature.collect(tmp_path)


def test_items_are_sorted_as_numbers(literature):
    assert sorted(["CS-B.02", "CS-6.10", "HO-2", "CS-6.9", "CS-7.01"], key=literature.order) == [
        "CS-6.9",
        "CS-6.10",
        "CS-7.01",
        "CS-B.02",
        "HO-2",
    ]
