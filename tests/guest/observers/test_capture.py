"""Capture: sets of outputs and weights become whole files; what cannot be kept is told, and nothing comes of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from harness import Child, Result

HEAD = """\
import sys
from _deviate_guest import runtime
capture = runtime._context.capture
def array(*values):
    from array import array
    return "float64", (len(values),), array("d", values).tobytes()
def evaluate(name, *values, **more):
    capture.rows(name, {"outputs": array(*values), **{key: array(*value) for key, value in more.items()}}, "none")
"""
FULL = "the limit of what is captured of a run is reached"


def run(folder: Path, text: str, loop: str = "", **wanted: str) -> tuple[Result, dict[str, dict[str, list]]]:
    """The run, and what its files hold; wherever the text has a main loop, `loop` is what that goes over."""
    child = Child(folder, HEAD + text)
    if loop:
        child.loop(f"in «{loop}»:", (HEAD + text).count("\n"))
    result = child.run(capture={"predictions": "on", **wanted})
    assert result.of("error") == [], result.of("error")
    files = {}
    for path in sorted((folder / "attempt-1" / "artifacts").glob("*")):
        assert path.suffix == ".npz", path
        with np.load(path) as arrays:
            files[path.name.rpartition("-")[0]] = {name: array.tolist() for name, array in arrays.items()}
    return result, files


def test_the_last_evaluation_of_each_set_is_kept_and_those_of_every_kth_step(tmp_path: Path) -> None:
    text = """\
for step in range(5):
    evaluate("test", step)
    evaluate("test", step + 0.5)
    if step < 2:
        evaluate("val", -step)
evaluate("late", 9.0)
"""
    result, files = run(tmp_path, text, "range(5)", every="2")
    assert files == {
        "predictions-test-1": {"outputs": [1.0, 1.5]},
        "predictions-test-3": {"outputs": [3.0, 3.5]},
        "predictions-test-4": {"outputs": [4.0, 4.5]},
        "predictions-val-1": {"outputs": [-1.0]},
        "predictions-late": {"outputs": [9.0]},
    }
    told = [(kind, name, step, framework, n) for kind, name, step, framework, _, n in result.of("artifact")]
    assert told == [
        ("predictions", "test", 1, "none", 2),
        ("predictions", "val", 1, "none", 1),
        ("predictions", "test", 3, "none", 2),
        ("predictions", "test", 4, "none", 2),
        ("predictions", "late", -1, "none", 1),
    ]


def test_arrays_that_lack_rows_or_change_their_form_are_not_kept(tmp_path: Path) -> None:
    text = """\
evaluate("test", 1.0, 2.0, truth=(1.0, 2.0))
evaluate("test", 3.0)
evaluate("odd", 1.0)
capture.rows("odd", {"outputs": ("float64", (1, 2), bytes(16))}, "none")
evaluate("odd", 4.0)
evaluate("a/b c", 1.0)
evaluate("twice", 1.0, 2.0)
capture.again("twice")
evaluate("twice", 3.0)
"""
    result, files = run(tmp_path, text)
    assert files == {
        "predictions-test": {"outputs": [1.0, 2.0, 3.0]},
        "predictions-a_b_c": {"outputs": [1.0]},
        "predictions-twice": {"outputs": [3.0]},
    }
    assert result.of("not captured") == [
        ["predictions", "odd", "outputs change their shape or type from batch to batch"]
    ]


def test_a_set_beyond_the_limit_is_told_and_an_earlier_one_does_not_pass_for_it(tmp_path: Path) -> None:
    text = """\
evaluate("small", *range(10))
evaluate("grows", *range(10))
capture.end_evaluation()
evaluate("grows", *range(1000))
capture.end_evaluation()
evaluate("small", *range(1, 11))
"""
    result, files = run(tmp_path, text, limit="1000")
    assert files == {"predictions-small": {"outputs": [float(i) for i in range(1, 11)]}}
    assert result.of("not captured") == [["predictions", "grows", FULL]]


def test_what_other_processes_and_threads_evaluate_is_not_kept(tmp_path: Path) -> None:
    text = """\
import os, threading
evaluate("test", 1.0)
if os.fork() == 0:
    evaluate("test", 2.0)
    evaluate("child", 2.0)
    sys.exit()
os.wait()
thread = threading.Thread(target=evaluate, args=("thread", 3.0))
thread.start()
thread.join()
"""
    _, files = run(tmp_path, text)
    assert files == {"predictions-test": {"outputs": [1.0]}}


def test_a_script_that_fails_keeps_what_it_had(tmp_path: Path) -> None:
    result, files = run(tmp_path, 'evaluate("test", 1.0)\nraise SystemExit(3)\n')
    assert result.code == 3
    assert files == {"predictions-test": {"outputs": [1.0]}}


WEIGHTS = """\
value = 0.0
capture.weights_of["none"] = lambda: [("w", array(value)), ("late", ("float64", (1,), lambda: array(value)[2]))]
for step in range(4):
    value = float(step)
"""


def test_weights_are_kept_at_the_end_of_the_main_loop_and_at_exit_if_they_have_changed(tmp_path: Path) -> None:
    at_steps = {
        "weights-none-step-1": {"w": [1.0], "late": [1.0]},
        "weights-none-loop-3": {"w": [3.0], "late": [3.0]},
    }
    for name, end in (("same", ""), ("other", "\nvalue = 7.0")):
        child = Child(tmp_path / name, HEAD + WEIGHTS + end)
        child.loop("in «range(4)»:", (HEAD + WEIGHTS).count("\n"))
        result = child.run(capture={"weights": "on", "every": "2"})
        assert result.of("error") == []
        files = {}
        for path in (tmp_path / name / "attempt-1" / "artifacts").iterdir():
            with np.load(path) as arrays:
                files[path.name.rpartition("-")[0]] = {key: array.tolist() for key, array in arrays.items()}
        assert files == at_steps | ({} if not end else {"weights-none-exit": {"w": [7.0], "late": [7.0]}})


def test_weights_at_the_end_of_a_loop_have_its_last_step_where_that_was_asked_for(tmp_path: Path) -> None:
    text = """\
capture.weights_of["none"] = lambda: [("w", array(value))]
start = 0.0
def train():
    global value
    for step in range(3):
        value = start + step
train(); start = 10.0; train(); train()
"""
    result, files = run(tmp_path, text, "range(3)", weights="on", every="3")
    assert files == {"weights-none-loop-2": {"w": [2.0]}, "weights-none-loop_2-2": {"w": [12.0]}}
    assert [event[1:3] for event in result.of("artifact")] == [["loop", 2], ["loop", 2]]
    result, files = run(tmp_path / "other", text, "range(3)", weights="on", every="2")
    assert {name: values["w"] for name, values in files.items()} == {
        "weights-none-step-1": [1.0], "weights-none-loop": [2.0],
        "weights-none-step_2-1": [11.0], "weights-none-loop_2": [12.0], "weights-none-step_3-1": [11.0],
    }  # fmt: skip


def test_weights_beyond_the_limit_or_of_a_strange_type_are_told(tmp_path: Path) -> None:
    text = """\
capture.weights_of["big"] = lambda: [("w", ("float64", (1000,), bytes(8000)))]
capture.weights_of["odd"] = lambda: [("w", ("float8", (1,), bytes(1)))]
capture.weights_of["good"] = lambda: [("w", array(1.0))]
"""
    result, files = run(tmp_path, text, weights="on", limit="4000")
    assert files == {"weights-good-exit": {"w": [1.0]}}
    assert result.of("not captured") == [
        ["weights", "big", FULL],
        ["weights", "odd", "it could not be written: KeyError: 'float8'"],
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    text = """\
import os
folder = os.path.join(capture.folder, "artifacts")
os.makedirs(folder)
os.symlink("/dev/full", os.path.join(folder, "predictions-full-%x.npz.part" % os.getpid()))
evaluate("full", *range(100000))
evaluate("good", 1.0)
"""
    result, files = run(tmp_path, text)
    assert files == {"predictions-good": {"outputs": [1.0]}}
    [[kind, name, reason]] = result.of("not captured")
    assert (kind, name) == ("predictions", "full")
    assert "No space left on device" in reason


def test_keys_tell_examples_apart_in_whatever_order_they_come(tmp_path: Path) -> None:
    text = """\
from _deviate_guest.runtime.observers.capture import example_keys
import json
rows = [bytes([n] * 40000) for n in (1, 2, 3)]
def keys(rows):
    kind, shape, data = example_keys(("uint8", (len(rows), len(rows[0]) if rows else 5), b"".join(rows)))
    return [kind, shape, [data[at : at + 8].hex() for at in range(0, len(data), 8)]]
print(json.dumps([keys(rows), keys(rows[::-1]), keys([]), keys([b"", b""])]))
"""
    result, _ = run(tmp_path, text)
    there, back, none, empty = json.loads(result.stdout)
    assert there == ["uint64", [3], back[2][::-1]]
    assert len(set(there[2])) == 3
    assert none == ["uint64", [0], []]
    assert len(set(empty[2])) == 1


def test_a_run_that_keeps_nothing_loads_nothing_for_it(tmp_path: Path) -> None:
    text = "import sys\nprint([name for name in ('hashlib', 'zipfile', 'zlib') if name in sys.modules])\n"
    bare = Child(tmp_path / "bare", text).run(environment={"DEVIATE_RUN_DIR": None})
    assert Child(tmp_path / "guest", text).run().stdout == bare.stdout
    assert not (tmp_path / "guest" / "attempt-1" / "artifacts").exists()
