"""What analysis cannot reach, the run finds: values of code that is chosen while the script runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deviate.records.plans import read_plan
from deviate.records.read import read_experiment

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
import metrics
{LOOP}\
    eval(open("call.txt").read())
""",
    "call.txt": "metrics.val_accuracy(weight)",
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
    _, report = run(PROJECTS[kind])
    scores = values_of(report)
    assert scores == {"loss": [0.25, 0.25], "val_accuracy": [0.75, 0.75]}


def test_what_is_reported_before_the_main_loop_is_no_result(run) -> None:  # type: ignore[no-untyped-def]
    early = {**CHOSEN, "train.py": CHOSEN["train.py"].replace("for epoch", "print('start loss', 9.0 + 1)\nfor epoch")}
    early["metrics.py"] += "eval('val_accuracy(0.9)')\n"
    out, report = run(early)
    assert values_of(report).items() >= {"loss": [0.25, 0.25], "val_accuracy": [0.75, 0.75]}.items()
    assert "before_training" not in out


def test_a_file_that_lists_the_metrics_is_obeyed(run, project: Path) -> None:  # type: ignore[no-untyped-def]
    (project / "deviate.toml").write_text('[metrics.loss]\nwhere = "train.py:5"\nexpression = "weight"\n')
    _, report = run(CHOSEN)
    assert values_of(report) == {"loss": [0.25, 0.25]}


def test_the_runs_confirm_the_main_loop(run, project: Path) -> None:  # type: ignore[no-untyped-def]
    """The only loop that the analysis sees never runs; the one that trains is in a file that it does not reach."""
    files = {
        "train.py": 'import library\nlibrary.choose("Trainer")().fit(1.0)\n',
        "library.py": """\
import importlib
def solve(n_steps):
    step = 0
    while step < n_steps:
        step += 1
        print("loss", 0.5 / step)
def choose(name):
    return vars(importlib.import_module("trainers"))[name]
""",
        "trainers.py": """\
class Trainer:
    def fit(self, weight):
        for epoch in range(4):
            weight *= 0.5
            self.tell(weight)
    def tell(self, weight):
        print("val loss: %.3f" % weight)
""",
    }
    out, report = run(files)
    assert values_of(report) == {"val_loss": [0.0625, 0.0625]}
    assert "main loop: trainers.py:3, by the first run (4 steps)" in " ".join(out.split())
    (folder,) = (project / ".deviate" / "experiments").glob("*/")
    (variant,) = read_experiment(folder)
    assert list(variant.runs[0].series["val_loss"].steps) == [0, 1, 2, 3]


def test_a_run_that_reports_nothing_ends_the_experiment(project: Path, deviate_in: Callable[..., Any]) -> None:
    (project / "train.py").write_text('for epoch in range(3):\n    print("ready", epoch)\n')
    answer = deviate_in(project)("run", "train.py", "--runs", "5", "--jobs", "1")
    assert answer.code == 1
    assert "the first run reported no metric; it printed:\n  ready 0\n  ready 1\n  ready 2\n" in answer.both
    assert "train.py:2  epoch  (counter of the loop at line 1)" in answer.both
    assert len(list((project / ".deviate").glob("experiments/*/runs/*/*/result.json"))) < 5


ITEMS = """\
import os, random
names = open("names.txt").read().split()
if os.environ["DEVIATE_REPLICATE"] != "0":
    names.append("test_acc")
def evaluate():
    return {name: random.random() for name in names}
for epoch in range(2):
    metrics = evaluate()
    print(metrics)
"""


def test_the_names_of_the_first_run_fix_the_primary_metric_that_no_analysis_can_name(
    project: Path, deviate_in: Callable[..., Any]
) -> None:
    deviate = deviate_in(project)
    (project / "train.py").write_text(ITEMS)
    (project / "names.txt").write_text("val_acc val_f1 val_loss")
    first = deviate("run", "train.py", "--runs", "1")
    why = "val_acc, a measure of merit before a loss; also reported: val_f1, val_loss"
    assert f"result: {why}\n" in first.out, first.both
    later = deviate("run", "train.py", "--runs", "3")
    assert "Primary metric: val_acc, " in later.out, "what later runs report is no candidate"
    assert "test_acc" in later.out
    place = project / ".deviate" / "experiments" / "train"
    plan = read_plan(place)
    assert plan.selection.primary is not None
    assert plan.selection.primary.name == "val_acc"
    assert any("selection" in change.fields for change in plan.history)
