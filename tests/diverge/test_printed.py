"""Printed numbers are compared one by one, also with those of a run that was ended early."""

from pathlib import Path

import pytest
from traced import a_trace

from deviate.diverge.findings import CodeLine
from deviate.diverge.printed import compare_printed
from deviate.diverge.requests import Pair
from deviate.diverge.traces import InputEvent
from deviate.model.records import Run
from deviate.records.layout import log_files

WHOLE = "trees 2 test_loss 2.59\ntrees 4 test_loss 1.05\ntrees 8 test_loss 0.56\n"


def pair(folder: Path, *texts: str, inputs: tuple[tuple[InputEvent, ...], ...] = ((), ())) -> Pair:
    runs, traces = [], []
    for name, text, events in zip(("first", "second"), texts, inputs, strict=True):
        path, _ = log_files(folder / name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        runs.append(Run(name, 0, "as-is", "completed", 0, 1.7e9, 5.0, folder / name, {}))
        traces.append((a_trace([], pid=4000 + len(text), inputs=list(events)),))
    return Pair(("it",), (runs[0], runs[1]), (traces[0], traces[1]))


def reading(shown: str) -> InputEvent:
    return InputEvent("clock", "time.time()", 1, shown, CodeLine("train.py", 1))


CLOCKS = (
    (reading("100.000000"), reading("100.400000"), reading("100.700110")),
    (reading("200.000000"), reading("200.440000"), reading("200.776810")),
)


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        ("at 1700000003.25", "at 1700000004.5", True),
        ("at 1700000003250", "at 1700000004500", True),
        ("model 140234567890128", "model 140234599990016", True),
        ("avg 0.1", "avg 0.11", True),
        ("avg 0.1", "avg 0.12", False),
        ("clock 100.4", "clock 200.44", True),
        ("sum 1690000000.5", "sum 1690000001.5", False),
        ("sum 94", "sum 96", False),
    ],
)
def test_times_addresses_and_parts_of_intervals_are_no_difference(
    one: str, other: str, tmp_path: Path, *, is_equal: bool
) -> None:
    _, difference, _ = compare_printed(pair(tmp_path, one, other, inputs=CLOCKS), is_told=False)
    assert (difference is None) is is_equal


@pytest.mark.parametrize(
    ("other", "n_compared", "values"),
    [
        ("trees 2 test_loss 2.59\ntrees 4 test_loss 1.05\n", 4, None),
        ("trees 2 test_loss 2.39\n", 1, (2.59, 2.39)),
        ("trees 2 test_loss 2.59\ntrees 4 test_loss 0.45\n", 3, (1.05, 0.45)),
        ("something else 3\n", 0, None),
    ],
)
def test_what_a_run_that_ended_early_printed_is_compared_line_by_line(
    other: str, n_compared: int, values: tuple[float, float] | None, tmp_path: Path
) -> None:
    n, difference, _ = compare_printed(pair(tmp_path, WHOLE, other), is_told=False)
    assert n == n_compared
    assert (None if difference is None else difference.values) == values


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run x7-quiet\nloss 2.5\n", "run b2-brisk\nloss 3.5\n"),
        ("loss 2.5\n", "a warning of one run\nloss 3.5\n"),
        ("data is cached now\nloss 2.5\n", "loss 3.5\n"),
    ],
)
def test_a_line_with_other_words_does_not_end_the_comparison(one: str, other: str, tmp_path: Path) -> None:
    _, difference, _ = compare_printed(pair(tmp_path, one, other), is_told=False)
    assert difference is not None
    assert difference.values == (2.5, 3.5)


def test_lines_that_come_by_the_clock_are_compared_at_the_same_step_alone(tmp_path: Path) -> None:
    one, other = "step 10/20 loss 2.5\nstep 20/20 loss 1.5\n", "step 12/20 loss 2.4\nstep 20/20 loss 1.5\n"
    assert compare_printed(pair(tmp_path, one, other), is_told=False)[1] is None


def test_numbers_that_are_no_results_are_named_where_results_tell(tmp_path: Path) -> None:
    texts = "retries: 7\nloss 2.5123\n", "retries: 9\nloss 2.5123\n"
    _, difference, _ = compare_printed(pair(tmp_path, *texts), is_told=False)
    assert difference is not None
    assert difference.name == "retries"
    assert compare_printed(pair(tmp_path, *texts), is_told=True)[1:] == (None, ("retries",))


@pytest.mark.parametrize(("text", "is_counted"), [("width {}.25", True), ("port {}", False), ("heap {}.5 MB", False)])
def test_fractions_alone_count_beside_results_where_they_are_asked_for(
    text: str, *, is_counted: bool, tmp_path: Path
) -> None:
    runs = pair(tmp_path, text.format(3), text.format(4))
    _, difference, _ = compare_printed(runs, is_told=True, counts_fractions=True)
    assert (difference is not None) is is_counted


def test_lines_in_another_order_are_equal(tmp_path: Path) -> None:
    one, other = "C=1 mse=2.5\nC=2 mse=3.5\n", "C=2 mse=3.5\nC=1 mse=2.5\n"
    assert compare_printed(pair(tmp_path, one, other), is_told=False) == (4, None, ())
