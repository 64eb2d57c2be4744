"""What `deviate.toml` names by the pattern of its text is recorded, and what is printed stays as it is."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOREIGN = """\
import logging
import sys


def report(epoch, weight):
    out = getattr(sys, "stdout")
    out.write("Epoch %d: \\x1b[1mval" % epoch)
    out.write(" acc\\x1b[0m:  %.1f%%\\n" % (100 * (1 - weight)))
    logging.getLogger("x").info("speed=%g it/s", 100 / weight)
"""
TRAIN = """\
import logging, sys
sys.path.insert(0, FOLDER)
import foreign
logging.basicConfig(level=logging.INFO)
weight = 1.0
for epoch in range(3):
    weight *= 0.5
    foreign.report(epoch, weight)
    for i in range(2):
        print(f"\\r{i} - bar", f"{weight + i:.3f}", end="")
    print()
print("final   result 1e-3!", sys.stdout is sys.__stdout__, type(sys.stdout).__name__)
"""
PATTERNS = """\
[metrics.val_acc]
match = "val acc: {value}"
primary = true
[metrics.bar]
match = "{} - bar {value}"
[metrics.speed]
match = "INFO:x:speed={value} it/s"
[metrics.final]
match = "final result {value}!"
"""


def test_values_are_read_from_what_is_printed(project: Path, deviate_in: Callable[..., Any], tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "foreign.py").write_text(FOREIGN)
    (project / "train.py").write_text(TRAIN.replace("FOLDER", repr(str(library))))
    (project / "deviate.toml").write_text(PATTERNS)
    deviate = deviate_in(project)
    arguments = ("run", "train.py", "--runs", "1", "--variants", "as-is", "--name", "text", "--json", "-")
    answer = deviate(*arguments)
    assert answer.code == 0, answer.both
    assert "deviate.toml:2" in deviate("analyze", "train.py").out
    (experiment,) = json.loads(answer.out[answer.out.index("{\n") :])["experiments"]
    assert {metric["metric"]: metric["scores"][0]["score"] for metric in experiment["metrics"]} == {
        "val_acc": 87.5, "bar": 1.125, "speed": 800.0, "final": 0.001,
    }  # fmt: skip
    [attempt] = project.glob(".deviate/experiments/text/runs/*/*/stdout.log")
    plain = subprocess.run([sys.executable, "train.py"], cwd=project, capture_output=True, check=True)
    assert attempt.read_bytes() == plain.stdout
    [events] = attempt.parent.glob("events-*.jsonl")
    values = [event[1:6] for event in map(json.loads, events.read_text().splitlines()) if event[0] == "named"]
    assert [(around, value) for name, _, around, _, value in values if name == "{} - bar {value}"] == [
        ([0, epoch, 1, step], 0.5 ** (epoch + 1) + step) for epoch in range(3) for step in range(2)
    ]


@pytest.mark.slow
def test_a_pattern_that_came_later_is_said_to_find_nothing(project: Path, deviate_in: Callable[..., Any]) -> None:
    (project / "train.py").write_text("w = 1.0\nfor epoch in range(2):\n    w *= 0.5\n    print('loss', w)\n")
    deviate = deviate_in(project)
    arguments = ("run", "train.py", "--runs", "1", "--variants", "as-is", "--name", "text")
    assert deviate(*arguments).code == 0
    (project / "deviate.toml").write_text('[metrics.later]\nmatch = "loss {value}"\n[metrics.loss]\n')
    assert "runs of this experiment do not look for the text of later" in deviate(*arguments).both
