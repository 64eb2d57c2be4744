"""What a script logs itself is kept, with deviate installed or not, and whatever the library of its arrays."""

import sys
from pathlib import Path

import numpy as np
import pytest
from harness import Child, Result

LOGGED = """\
import sys
import deviate

print(deviate.__name__, hasattr(deviate, "__version__"))
for epoch in range(3):
    deviate.log("score", epoch / 2)
    for start in (0, 2):
        outputs = [[epoch, start], [1, 0]]
        deviate.log_predictions(outputs, [1, 0], name="held out", inputs=[[start], [start + 1]], kind=["a", "bc"])
deviate.log_groups(name="held out", age=[3, 4, 5, 6])
deviate.log_weights({"w": [[1.5, 2.5]]})
deviate.log_predictions([1, 2], [1], name="odd")
"""


def run(folder: Path, text: str = LOGGED, *, is_installed: bool = True) -> Result:
    child = Child(folder, text).tap('«deviate.log»("score"', form="call", fields=("trackers.deviate_log", "0"))
    child.loop("in «range(3)»:", 8)
    return child.run(command=(sys.executable, *(() if is_installed else ("-S",)), "train.py"))


def arrays(folder: Path, result: Result, kind: str) -> dict[str, np.ndarray]:
    file = [event[4] for event in result.of("artifact") if event[0] == kind][-1]
    [path] = folder.rglob(f"artifacts/{file}")
    with np.load(path) as found:
        return dict(found)


def test_values_outputs_weights_and_groups_are_kept(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.stdout == "deviate True\n", result.stderr
    assert result.values() == [0.0, 0.5, 1.0]
    kept = arrays(tmp_path, result, "predictions")
    assert kept["outputs"].tolist() == [[2, 0], [1, 0], [2, 2], [1, 0]]
    assert kept["truth"].tolist() == [1, 0, 1, 0]
    assert kept["kind"].tolist() == ["a", "bc", "a", "bc"]
    assert kept["age"].tolist() == [3, 4, 5, 6]
    assert len(set(kept["keys"].tolist())) == 4
    assert arrays(tmp_path, result, "weights")["w"].tolist() == [[1.5, 2.5]]
    [[where, told]] = result.of("error")
    assert (where, told) == (
        "deviate.log_predictions",
        "ValueError: rows of one batch differ in number: outputs 2, truth 1",
    )


def test_a_script_that_imports_deviate_runs_where_it_is_not_installed(tmp_path: Path) -> None:
    result = run(tmp_path, is_installed=False)
    assert (result.code, result.stdout) == (0, "deviate False\n"), result.stderr
    assert next(event[:2] for event in result.of("artifact")) == ["predictions", "held_out"]


def test_without_a_run_nothing_happens() -> None:
    import deviate

    assert deviate.log("x", 1) is None  # type: ignore[func-returns-value]
    assert deviate.log_predictions([1], [1]) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy", "tensorflow"])
def test_arrays_of_every_library_are_kept_alike(  # type: ignore[no-untyped-def]
    tmp_path: Path, require, library: str
) -> None:
    require(library.partition(".")[0])
    make = {"torch": "tensor", "tensorflow": "constant"}.get(library, "asarray")
    half = "" if library == "numpy" else ", dtype=m.bfloat16"
    text = f"""\
import deviate
import {library} as m
deviate.log_predictions(m.{make}([[0.5, 1.5], [2.5, 3.0]]{half}), m.{make}([1, 0]))
"""
    result = Child(tmp_path, text).run()
    assert (result.code, result.of("error")) == (0, []), result.stderr
    kept = arrays(tmp_path, result, "predictions")
    assert kept["outputs"].tolist() == [[0.5, 1.5], [2.5, 3.0]]
    assert kept["truth"].tolist() == [1, 0]
