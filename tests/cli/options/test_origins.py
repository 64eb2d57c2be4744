"""Values come from a flag, else a variable, else the file, else the default; messages and records say from which."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deviate.cli.app import run_arguments
from deviate.records.plans import read_plan

TRAIN = 'for epoch in range(3):\n    print(f"test acc: {epoch / 10:.3f}")\n'
FILE = """\
[experiment]
runs = 2
variants = ["impl"]
then = ["python train.py"]
[capture]
keep = ["weights"]
"""
Call = Callable[..., Any]


@pytest.fixture
def deviate(project: Path, deviate_in: Callable[[Path], Call], monkeypatch: pytest.MonkeyPatch) -> Call:
    """`deviate("run …", DEVIATE_RUNS="3")` in a folder with a script and a deviate.toml."""
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    (project / "deviate.toml").write_text(FILE, encoding="utf-8")
    run = deviate_in(project)

    def call(words: str, **variables: str) -> Any:
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            return run(*words.split())

    return call


def origins_of(deviate: Call) -> dict[str, tuple[object, str]]:
    settings = json.loads(deviate("show train --format json").out)["settings"]
    return {name: (entry["value"], entry["from"]) for name, entry in settings.items()}


def test_a_flag_overrides_a_variable_which_overrides_the_file_and_a_plan_keeps_which_it_was(
    deviate: Call, project: Path
) -> None:
    variables = {
        "DEVIATE_RUNS": "3", "DEVIATE_VARIANTS": "control", "DEVIATE_RETRIES": "", "DEVIATE_MARGIN": "0.5",
        "DEVIATE_OPTION": "partition=gpu;qos=low", "DEVIATE_TIMEOUT": "20m",
    }  # fmt: skip
    planned = deviate("run train.py --plan-only --runs 4", **variables)
    assert (planned.code, planned.err) == (0, "")
    assert "Set by   DEVIATE_MARGIN=0.5, DEVIATE_OPTION=partition=gpu;qos=low, DEVIATE_TIMEOUT=20m, " in planned.out
    origins = origins_of(deviate)
    assert origins["runs"] == (4, "--runs")
    assert origins["variants"] == (["control"], "DEVIATE_VARIANTS")
    assert origins["margin"] == (0.5, "DEVIATE_MARGIN")
    assert origins["then"] == ("python train.py", "deviate.toml")
    assert origins["capture"] == (["weights"], "deviate.toml")
    assert origins["timeout_s"] == (1200, "DEVIATE_TIMEOUT")
    assert origins["retries"] == (1, "default")
    assert origins["options"] == ([], "default")
    assert "seed" not in origins

    grown = deviate("run train.py --plan-only --variants control,impl --jobs 3 --margin 0.5", DEVIATE_RUNS="5")
    assert (grown.code, grown.err) == (0, "")
    origins = origins_of(deviate)
    assert origins["runs"] == (5, "DEVIATE_RUNS")
    assert origins["variants"] == (["control", "impl"], "--variants")
    assert origins["jobs"] == (3, "--jobs")
    assert origins["margin"] == (0.5, "DEVIATE_MARGIN")
    assert origins["timeout_s"] == (None, "default")
    plan = read_plan(project / ".deviate/experiments/train")
    assert [sorted(change.fields) for change in plan.history] == [["settings", "variants"]]


@pytest.mark.parametrize(
    ("words", "name", "value", "message"),
    [
        ("run train.py", "RUNS", "many", "Invalid value for DEVIATE_RUNS: "),
        ("show a", "CONFIDENCE", "95", "Invalid value for DEVIATE_CONFIDENCE: "),
        ("run train.py", "EXECUTOR", "moon", "DEVIATE_EXECUTOR=moon is none of local, "),
        ("run train.py", "MARGIN", "-1", "DEVIATE_MARGIN=-1: a margin must be positive"),
        ("run train.py --executor slurm", "OPTION", "gpu", "DEVIATE_OPTION=gpu is not of the form KEY=VALUE"),
        ("run train.py", "THEN", "python 'a", 'DEVIATE_THEN="python \'a": No closing quotation'),
        ("run train.py", "TIMEOUT", "soon", "DEVIATE_TIMEOUT=soon is no time"),
        ("run train.py", "CAPTURE_EVERY", "3", "every 3 steps: there is nothing to capture"),
        ("check a b", "UNDECIDED", "perhaps", "DEVIATE_UNDECIDED=perhaps is none of pass, fail"),
    ],
)
def test_a_message_on_a_bad_value_names_the_variable(
    words: str, name: str, value: str, message: str, project: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.setenv(f"DEVIATE_{name}", value)
    assert run_arguments(words.split()) in {1, 2}
    error = capsys.readouterr().err
    assert error.startswith(f"Error: {message}")
    assert f"DEVIATE_{name}" in error
    assert len(error.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        ("check a b", {"RUNS": "5", "JOBS": "2"}, "Error: no experiment named 'a'"),
        ("run train.py --looks 5,9 --dry-run", {"RUNS": "7"}, ""),
        ("list", {"EXECUTER": "ray"}, "Warning: DEVIATE_EXECUTER is no variable of a setting, and is ignored; did you"),
    ],
)
def test_a_variable_is_for_the_calls_that_can_use_it(
    words: str, variables: dict[str, str], message: str, project: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    for name, value in variables.items():
        monkeypatch.setenv(f"DEVIATE_{name}", value)
    run_arguments(words.split())
    error = capsys.readouterr().err
    assert error.startswith(message) if message else not error
