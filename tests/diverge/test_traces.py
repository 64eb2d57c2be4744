"""Traces read back: by rank, with the lines of the program, whatever was cut off or damaged."""

import itertools
import json
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced import STEP, a_record, a_trace, columns, lines_of, start_line, steps, write_trace

from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import CodeLine
from deviate.diverge.traces import Trace, TraceRecord, kept_array, read_traces
from deviate.errors import RecordError

numbers = st.integers(0, 2**64 - 2)
values = st.floats() | st.text(max_size=5) | st.booleans() | st.none()


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    """An attempt where it lies in an experiment, with the program as it was frozen."""
    snapshot = tmp_path / "snapshot"
    (snapshot / "originals").mkdir(parents=True)
    (snapshot / "tree").mkdir()
    (snapshot / "originals" / "train.py").write_text("first()\n    y = table[index]\nthird()\n")
    (snapshot / "tree" / "train.py").write_text("first()\n    y = tap(table[index])\nthird()\n")
    (snapshot / "tree" / "model.py").write_text("x = layer(x)\r\napi_key = 'abcdefghijklmnop'\r\n")
    place = tmp_path / "runs" / "abc" / "attempt-1"
    (place / "artifacts").mkdir(parents=True)
    return place


def write(attempt: Path, *lines: str, pid: int = 1) -> None:
    (attempt / "artifacts" / f"trace-{pid:x}.jsonl").write_text("".join(lines))


def record_line(name: str = "a", digest: int | None = 1, place: int = -1, **more: object) -> str:
    return json.dumps(["module", name, digest, "float32[4]", place, more]) + "\n"


def only(attempt: Path) -> Trace:
    (found,) = read_traces(attempt)
    return found


def test_an_attempt_without_traces_has_none(attempt: Path) -> None:
    write(attempt)
    assert read_traces(attempt) == ()
    assert read_traces(attempt.parent / "attempt-2") == ()
    assert kept_array(attempt, 0, 0) is None


def test_a_process_that_computed_nothing_has_none(attempt: Path) -> None:
    write(attempt, start_line(), '["end", 0, 0.1]\n')
    assert read_traces(attempt) == ()


def test_watched_lines_that_a_process_without_a_trace_ran_belong_to_the_first_trace(attempt: Path) -> None:
    watched = start_line().replace("}", ', "watched": [["train.py", 3], ["train.py", 4]]}')
    write(attempt, watched, record_line(), pid=1)
    write(attempt, start_line(), '["place", 1, "train.py", 4]\n', '["ran", 1]\n', pid=2)
    trace = only(attempt)
    assert trace.watched - trace.ran == {("train.py", 3)}


def test_inputs_alone_make_no_rank_unless_no_process_has_records(attempt: Path) -> None:
    place, listed = '["place", 0, "train.py", 3]\n', '["input", "listing", "os.listdir()", 7, "a", 0, {}]\n'
    write(attempt, start_line(), place, listed)
    assert len(only(attempt).inputs) == 1
    write(attempt, start_line(), record_line(), pid=2)
    assert only(attempt).pid == 2


def test_a_trace_is_read_as_it_was_written(attempt: Path) -> None:
    trace = a_trace(steps(3), rank=2, is_whole=False)
    write_trace(attempt, trace, pid=0xABC)

    found = only(attempt)

    assert (found.rank, found.pid, found.level, found.until, found.n_steps) == (2, 0xABC, 4, None, 3)
    assert not found.is_whole
    assert [(it.step, it.main_step, it.kind, it.name, it.ordinal, it.digest, it.form) for it in found.records] == [
        (it.step, it.main_step, it.kind, it.name, it.ordinal, it.digest, it.form) for it in trace.records
    ]
    assert compare_traces([found], [trace], "operations").difference is None


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.builds(
            a_record,
            step=st.just(0),
            kind=st.sampled_from(["module", "operation"]),
            name=st.text(max_size=3),
            digest=st.none() | numbers,
            form=st.text(max_size=3),
            value=values,
            module=st.text(max_size=2),
        ),
        max_size=9,
    )
)
def test_records_in_columns_are_the_records(records: list[TraceRecord]) -> None:
    counted = [replace(it, ordinal=at) for at, it in enumerate(records)]
    assert repr(list(columns(counted))) == repr(counted)  # of a NaN the text is equal


def test_a_line_of_the_program_is_that_of_the_original(attempt: Path) -> None:
    places = ['["place", 0, "train.py", 2]\n', '["place", 1, "model.py", 1]\n', '["place", 2, "model.py", 9]\n']
    absent = '["place", 3, "gone.py", 1]\n'
    write(attempt, start_line(), *places, absent, *(record_line(place=number) for number in range(-1, 5)))

    assert [it.place for it in only(attempt).records] == [
        None,
        CodeLine("train.py", 2, "y = table[index]"),
        CodeLine("model.py", 1, "x = layer(x)"),
        CodeLine("model.py", 9),
        CodeLine("gone.py", 1),
        None,
    ]


def test_secrets_in_lines_are_covered(attempt: Path) -> None:
    write(attempt, start_line(), '["place", 0, "model.py", 2]\n', record_line(place=0))
    place = only(attempt).records[0].place
    assert place is not None
    assert "abcdefghijklmnop" not in place.text


def test_the_place_that_called_backward_is_a_place(attempt: Path) -> None:
    write(attempt, start_line(), '["place", 0, "train.py", 1]\n', record_line(called=0), record_line(called=-1))
    called = [it.more["called"] for it in only(attempt).records]
    assert called == [CodeLine("train.py", 1, "first()"), None]


def test_ordinals_count_within_a_step_and_the_main_step_stays_until_the_next(attempt: Path) -> None:
    write(
        attempt, start_line(), record_line(), '["main", 0]\n', record_line(), record_line("b"),
        '["step", 1, 0.5]\n', record_line(), '["main", 1]\n', record_line(), '["end", 1, 0.7]\n',
    )  # fmt: skip
    found = only(attempt)
    assert [(it.step, it.main_step, it.name, it.ordinal) for it in found.records] == [
        (0, None, "a", 0), (0, 0, "a", 1), (0, 0, "b", 0), (1, 0, "a", 0), (1, 1, "a", 1),
    ]  # fmt: skip
    assert (found.n_steps, found.is_whole) == (1, True)


def test_where_a_framework_ends_is_told(attempt: Path) -> None:
    ends = '["ends", "jax", 2, "what is compiled shows nothing inside"]\n'
    write(attempt, start_line(), record_line(), ends)
    found = only(attempt)
    assert found.ends == {"jax": (2, "what is compiled shows nothing inside")}


def test_a_trace_that_was_cut_off_anywhere_keeps_all_whole_lines(attempt: Path) -> None:
    text = start_line() + "".join(lines_of(a_trace(steps(2))))
    random.seed(0)
    for size in random.sample(range(len(text) + 1), 60):
        write(attempt, text[:size])
        whole = text[:size].count("\n")
        found = read_traces(attempt)
        kinds = [json.loads(line)[0] for line in text.splitlines()[:whole]]
        n = sum(kind in {kind for kind, _ in STEP} for kind in kinds)
        assert sum(len(it.records) for it in found) == n
        if n:
            assert found[0].is_whole == (size == len(text))


@pytest.mark.parametrize(
    "line",
    [
        "not json", "[]", "7", "null", '{"a": 1}', '["module"]', '["module", "a", "text", "f", -1, {}]',
        '["module", "a", 1.5, "f", -1, {}]', '["module", 7, 1, "f", -1, {}]', '["module", "a", 1, "f", -1, 5]',
        '["module", "a", 1, "f", -1, [1]]', '["module", ["a"], 1, "f", -1, {}]', '["module", "a", 1, "f", [1], {}]',
        '["step", "x", 1]', '["step", 99999999999999999999, 1]', '["step", -1, 1]', '["main", null]', '["place", 1]',
        '["ends", 3]', '["start", 1, {}]', '["module", "a", 1, "f", -1, {"rows": ["x"]}]', "[" * 100_000,
        '["module", "a", 1, "f", -1, {}', "\x00", '["ends", "jax"]',
    ],
)  # fmt: skip
def test_a_damaged_line_costs_itself_alone_and_is_counted(attempt: Path, line: str) -> None:
    write(attempt, start_line(), record_line("a"), line + "\n", record_line("b"), '["step", 1, 0.5]\n')
    found = only(attempt)
    assert [it.name for it in found.records] == ["a", "b"]
    assert found.n_steps == 1


def test_a_trace_of_another_format_is_refused(attempt: Path) -> None:
    write(attempt, start_line().replace("1", "2", 1), record_line())
    with pytest.raises(RecordError, match="schema 2"):
        read_traces(attempt)


def test_bytes_that_are_no_text_are_counted(attempt: Path) -> None:
    path = attempt / "artifacts" / "trace-1.jsonl"
    path.write_bytes(start_line().encode() + b"\xff\xfe\n" + record_line().encode())
    assert len(only(attempt).records) == 1


def test_a_trace_whose_start_is_damaged_is_that_of_its_file(attempt: Path) -> None:
    write(attempt, "garbage\n", record_line(), pid=0x1F)
    assert (only(attempt).pid, only(attempt).rank) == (0x1F, 0)


def test_ranks_come_in_order_whatever_the_files_are_called(attempt: Path) -> None:
    for order in itertools.permutations(range(3)):
        for rank, pid in enumerate(order):
            write_trace(attempt, a_trace([a_record(name=f"rank {rank}")], rank=rank), pid=pid + 1)
        found = read_traces(attempt)
        assert [(it.rank, it.records[0].name) for it in found] == [(rank, f"rank {rank}") for rank in range(3)]


def test_processes_of_one_rank_are_numbered_in_the_order_in_which_they_started(attempt: Path) -> None:
    for pid, started in ((30, 0x100), (9, 0x200), (7, 0x300)):
        write_trace(attempt, a_trace([a_record(name=f"process {pid}")]), pid=pid)
        (attempt / f"events-{pid}-{started:x}.jsonl").touch()
    write_trace(attempt, a_trace([a_record(name="process 5")], rank=1), pid=5)

    assert [(it.rank, it.records[0].name) for it in read_traces(attempt)] == [
        (0, "process 30"), (1, "process 5"), (2, "process 9"), (3, "process 7"),
    ]  # fmt: skip


def test_a_process_that_replaced_itself_leaves_two_traces(attempt: Path) -> None:
    write(
        attempt, start_line(), record_line("a"), '["end", 0, 1]\n', start_line(), record_line("b"), '["step", 1, 1]\n'
    )
    one, other = read_traces(attempt)
    assert [(it.rank, it.records[0].name, it.is_whole) for it in (one, other)] == [(0, "a", True), (1, "b", False)]


def test_kept_arrays_stand_by_rank_and_step_and_damaged_files_are_left_out(attempt: Path) -> None:
    write_trace(attempt, a_trace([a_record()], rank=1), pid=0xA)
    write_trace(attempt, a_trace([a_record()], rank=0), pid=0xB)
    folder = attempt / "artifacts"
    np.savez(folder / "kept-a-3.npz", **{"step-2": np.arange(3), "step-3": np.zeros(1), "other": np.zeros(2)})
    np.savez(folder / "kept-b-4.npz", **{"step-3": np.ones(1)})
    np.savez(folder / "kept-c-4.npz", **{"step-3": np.ones(1)})
    (folder / "kept-b-9.npz").write_bytes(b"damaged")

    found = {(rank, step): kept_array(attempt, rank, step) for rank in range(3) for step in range(10)}

    assert {key: array.tolist() for key, array in found.items() if array is not None} == {
        (0, 3): [1], (1, 2): [0, 1, 2], (1, 3): [0],
    }  # fmt: skip


def test_a_long_trace_takes_less_than_a_hundred_bytes_a_record_and_is_compared_as_a_whole(attempt: Path) -> None:
    records = steps(1000)
    write_trace(attempt, a_trace(records))
    tracemalloc.start()
    one, other = only(attempt), only(attempt)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / (2 * len(records)) < 100
    assert compare_traces([one], [other], "operations").n_compared == len(records)
