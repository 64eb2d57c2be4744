"""The core of traces: steps, levels, windows, what a level costs, arrays that are kept, and the end of the process."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from harness import Child

from deviate.guest.observers.trace import LOSS, TraceWriter
from deviate.guest.project import GuestProject
from deviate.guest.recorder import Recorder

LOOP = "for step in range(30):\n    print(step)\n"


def traced(folder: Path, **wanted: str) -> TraceWriter:
    project = GuestProject(str(folder), {"originals": "", "files": {}, "loops": {}, "sites": {}})
    options = {"trace" if key == "level" else f"trace-{key}": value for key, value in wanted.items()}
    return TraceWriter(options, str(folder), Recorder(str(folder), {}, project), project)


def told(folder: Path) -> list[list]:
    [path] = (folder / "artifacts").glob("trace-*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_without_a_level_nothing_is_written_and_nobody_listens(tmp_path: Path) -> None:
    trace = traced(tmp_path)
    trace.tick()
    trace.close()
    assert (trace.level, trace.step) == (0, 0)
    assert trace.recorder.at_close == trace.recorder.at_main_step == []
    assert list(tmp_path.iterdir()) == []


def test_records_are_lists_of_json_as_they_were_given(tmp_path: Path) -> None:
    trace = traced(tmp_path, level="2")
    trace.record("batch", 'in"put\n\u00e4', 7, "int8[2]", 3, None, rows=[1, 2])
    trace.record("update", "w", None)
    trace.record("loss", "loss", lambda: (9, {"value": 0.5}), "float32[]", module="m")
    trace.tick()
    trace.close()
    lines = told(tmp_path)
    assert lines[0][:2] == ["start", 1]
    assert {key: lines[0][2][key] for key in ("rank", "level", "from", "until")} == {
        "rank": 0, "level": 2, "from": 0, "until": None
    }  # fmt: skip
    assert lines[1:4] == [
        ["batch", 'in"put\n\u00e4', 7, "int8[2]", 3, {"rows": [1, 2]}],
        ["update", "w", None, "", -1, {}],
        ["loss", "loss", 9, "float32[]", -1, {"module": "m", "value": 0.5}],
    ]
    assert [line[:2] for line in lines[4:]] == [["step", 1], ["end", 1]]


def test_a_window_has_its_level_and_what_is_around_it_the_losses(tmp_path: Path) -> None:
    trace = traced(tmp_path, level="3", **{"from": "2"})
    levels: list[int] = []
    trace.at_level.append(levels.append)
    seen = []
    for _ in range(4):
        seen.append(trace.level)
        trace.tick()
    assert seen == [LOSS, LOSS, 3, 3]
    trace.close()
    assert levels == [3, 0]


def test_an_array_that_was_asked_for_is_kept_at_every_step(tmp_path: Path) -> None:
    trace = traced(tmp_path, level="2", keep="update|a|b|1")
    for step in range(2):
        for number in range(3):
            array = np.full(2, 10 * step + number, "float32")
            trace.record("update", "a|b", 0, give=lambda array=array: ("float32", (2,), array.tobytes()))
        trace.tick()
    trace.close()
    kept = [np.load(path) for path in sorted((tmp_path / "artifacts").glob("kept-*.npz"))]
    assert {name: list(file[name]) for file in kept for name in file} == {"step-0": [1, 1], "step-1": [11, 11]}


def test_what_a_framework_cannot_show_is_told_once(tmp_path: Path) -> None:
    trace = traced(tmp_path, level="4")
    for _ in range(2):
        trace.ends("torch", 2, "why")
    trace.tick()
    trace.close()
    assert [it for it in told(tmp_path) if it[0] == "ends"] == [["ends", "torch", 2, "why"]]


def test_a_disk_that_takes_nothing_ends_the_trace_and_not_the_program(tmp_path: Path) -> None:
    trace = traced(tmp_path, level="1")
    (tmp_path / "artifacts").write_text("a file where the folder should be")
    trace.tick()
    assert (trace.level, trace.recorder.error_count) == (0, 1)
    trace.tick()
    trace.close()


def test_places_are_those_of_the_project_and_are_told_once(tmp_path: Path) -> None:
    trace = traced(tmp_path, level="1")
    code = SimpleNamespace(co_filename=str(tmp_path / "train.py"))
    outside = SimpleNamespace(co_filename="/usr/lib/library.py")
    inner = SimpleNamespace(f_code=code, f_lineno=4, f_back=None)
    frame = SimpleNamespace(f_code=outside, f_lineno=9, f_back=inner)
    assert [trace.place(frame), trace.place(inner), trace.place(None)] == [0, 0, -1]
    assert trace.file.lines == ['["place", 0, "train.py", 4]']


def test_steps_are_those_of_the_main_loop_where_nothing_tells_of_updates(tmp_path: Path) -> None:
    child = Child(tmp_path, LOOP).loop("in «range(30)»:", 2)
    result = child.run(capture={"trace": "1", "trace-until": "3"})
    assert (result.code, result.of("error")) == (0, [])
    assert result.stdout.split() == ["0", "1", "2"]
    lines = told(tmp_path / "attempt-1")
    assert [it[1] for it in lines if it[0] == "step"] == [1, 2, 3]
    assert lines[-1][:2] == ["end", 3]
    assert result.of("end")


def test_a_forked_process_leaves_no_trace(tmp_path: Path) -> None:
    text = "import os\nif not os.fork():\n    for step in range(9): pass\n    os._exit(0)\nos.wait()\n" + LOOP
    child = Child(tmp_path, text).loop("in «range(9)»:", 3).loop("in «range(30)»:", 7)
    result = child.run(capture={"trace": "1"})
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert told(tmp_path / "attempt-1")[-1][:2] == ["end", 29]
