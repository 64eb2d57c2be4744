"""The scripts of the benchmarks of `deviate diverge` are those of their tables."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from deviate.sources.catalogue import SOURCES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """`table(file)` gives what a benchmark defines."""
    monkeypatch.syspath_prepend(BENCHMARKS)

    def load(file: str) -> dict[str, Any]:
        return runpy.run_path(str(BENCHMARKS / file))

    yield load
    sys.modules.pop("diverge_answers", None)


def test_each_fault_has_a_script_with_marked_lines(table) -> None:  # type: ignore[no-untyped-def]
    benchmark = table("diverge_faults.py")
    scripts = [fault.script for fault in benchmark["FAULTS"]]
    assert {*scripts, "chance"} == {path.stem for path in (BENCHMARKS / "faults").glob("*.py")}
    assert len(scripts) == len(set(scripts)) >= 30
    assert all(benchmark["marked_lines"](script) for script in scripts)
    assert sum(bool(fault.causes) for fault in benchmark["FAULTS"]) >= 26


def test_each_expected_cause_of_a_fault_is_known(table) -> None:  # type: ignore[no-untyped-def]
    expected = {cause for fault in table("diverge_faults.py")["FAULTS"] for cause in fault.causes}
    assert expected <= set(SOURCES)


def test_each_equal_pair_has_a_script(table) -> None:  # type: ignore[no-untyped-def]
    scripts = [pair.script for pair in table("diverge_equal.py")["PAIRS"]]
    assert sorted(scripts) == sorted(path.stem for path in (BENCHMARKS / "equal").glob("*.py"))
    assert len(scripts) >= 20
