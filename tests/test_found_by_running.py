"""What analysis cannot reach, the run finds: values of code that is chosen while the script runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOOP = """\
weight = 1.0
for epoch in range(2):
    weight *= 0.5
    print("loss", weight)
"""
CALLBACKS = {
    "train.py": f"""\
import importlib, json
hooks = {{}}
for name in json.load(open("hooks.json")):
    hooks[name] = vars(importlib.import_module("reports"))[name]
{LOOP}\
    hooks["on_epoch"](weight)
""",
    "hooks.json": '["on_epoch"]',
    "reports.py": """\
def on_epoch(weight):
    print(f"val accuracy {1 - weight:.3f}")
""",
}
CONFIGURED = {
    "train.py": f"""\
import importlib, yaml
with open("config.yaml") as file:
    target = yaml.safe_load(file)["evaluator"]
module, _, name = target.rpartition(".")
evaluator = getattr(importlib.import_module(module), name)()
{LOOP}\
    evaluator.evaluate(weight)
""",
    "config.yaml": "evaluator: evaluation.Accuracy\n",
    "evaluation.py": """\
class Accuracy:
    def evaluate(self, weight):
        print("val accuracy: %.3f" % (1 - weight))
""",
}
CHOSEN = {
    "train.py": f"""\
import sys
import metrics
{LOOP}\
    getattr(metrics, "_".join(["val", "accuracy"]))(weight)
""",
    "metrics.py": """\
def val_accuracy(weight):
    print("val accuracy", 1 - weight)
""",
}
REGISTERED = {
    "train.py": f"""\
import registry
registry.load("plugins")
{LOOP}\
    registry.call("epoch", weight)
""",
    "registry.py": """\
import importlib, pkgutil
functions = {}
def register(name):
    def keep(function):
        functions[name] = function
        return function
    return keep
def load(package):
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(package + "." + module.name)
def call(name, *arguments):
    return functions[name](*arguments)
""",
    "plugins/__init__.py": "",
    "plugins/accuracy.py": """\
from registry import register
@register("epoch")
def report(weight):
    print("val accuracy", 1 - weight)
""",
}
PROJECTS = {"callbacks": CALLBACKS, "configured": CONFIGURED, "chosen": CHOSEN, "registered": REGISTERED}
Report = dict[str, Any]


@pytest.fixture
def run(project: Path, deviate_in: Callable[..., Any]) -> Callable[..., tuple[str, Report]]:
    """Runs a project twice, and gives what is printed, and the report as JSON."""

    def run_twice(files: dict[str, str], *arguments: str) -> tuple[str, Report]:
        for name, text in files.items():
            (project / name).parent.mkdir(exist_ok=True)
            (project / name).write_text(text)
        answer = deviate_in(project)("run", "train.py", "--runs", "2", "--json", "out.json", *arguments)
        assert answer.code == 0, answer.both
        return answer.out, json.loads((project / "out.json").read_text())

    return run_twice


def values_of(report: Report) -> dict[str, list[list[float]]]:
    """The scores of each metric, by replicate."""
    (experiment,) = report["experiments"]
    names = [metric["metric"] for metric in experiment["metrics"]]
    assert len(set(names)) == len(names)
    return {metric["metric"]: [score["score"] for score in metric["scores"]] for metric in experiment["metrics"]}


@pytest.mark.parametrize("kind", PROJECTS)
def test_values_of_code_that_is_chosen_while_the_script_runs_are_metrics(kind: str, run, require) -> None:  # type: ignore[no-untyped-def]
    if kind == "configured":
        require("yaml")
    out, report = run(PROJECTS[kind])
    scores = values_of(report)
    assert scores == {"loss": [0.25, 0.25], "val_accuracy": [0.75, 0.75]}
    found = {metric["metric"]: metric["is_found_by_running"] for metric in report["experiments"][0]["metrics"]}
    assert not found["loss"]
    assert found["val_accuracy"] == ("found by running" in out)


def test_what_is_reported_before_the_main_loop_is_none(run) -> None:  # type: ignore[no-untyped-def]
    early = {**CHOSEN, "train.py": CHOSEN["train.py"].replace("for epoch", "print('start loss', 9.0 + 1)\nfor epoch")}
    early["metrics.py"] += "vars()['val_accuracy'](0.9)\n"
    _, report = run(early)
    assert values_of(report) == {"loss": [0.25, 0.25], "val_accuracy": [0.75, 0.75]}


def test_a_file_that_lists_the_metrics_is_obeyed(run, project: Path) -> None:  # type: ignore[no-untyped-def]
    (project / "deviate.toml").write_text('[metrics.loss]\nwhere = "train.py:5"\nexpression = "weight"\n')
    out, report = run(CHOSEN)
    assert values_of(report) == {"loss": [0.25, 0.25]}
    text = " ".join(out.split())
    assert 'write [metrics.val_accuracy] with where = "metrics.py:2" and expression = "1 - weight"' in text
