"""Projects of trackers are imported, listed, shown and compared; their services are stand-ins."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tracker_servers import CloudRun, Service, mlflow_service, wandb_service

from deviate.records.read import read_experiment

KEY = "0123456789abcdef" * 2 + "01234567"


def history(*values: object) -> list[dict[str, object]]:
    return [
        {
            "_step": step,
            "_runtime": 2.0 * step,
            "_timestamp": 1.77e9 + step,
            "val_acc": value,
            "img": {"_type": "image-file"},
        }
        for step, value in enumerate(values)
    ]


def project_runs() -> list[CloudRun]:
    """Six runs of one configuration, of which one crashed and one goes on, and a sweep over four others."""
    base = []
    for seed in range(6):
        config = {"lr": 0.1, "net": {"depth": 18}, "seed": seed, "save_dir": f"out/{seed}", "api_key": KEY}
        rows = history("NaN", "Infinity", 0.7, 0.5 + seed)
        base.append(CloudRun(f"base{seed}id", config, rows, name=f"base-{seed}", summary={"test_acc": 0.9}))
    base[4].state, base[4].rows = "crashed", base[4].rows[:1]
    base[5].state = "running"
    sweep = [
        CloudRun(
            f"sweep{lr}{seed}",
            {"lr": lr, "net": {"depth": 18}, "seed": seed},
            history(0.8 + lr + seed / 100),
            sweep="s1",
        )
        for lr in (0.01, 0.02, 0.04, 0.1)
        for seed in range(2)
    ]
    return [*base, *sweep]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, require: Callable[[str], None]) -> Iterator[Service]:
    require("wandb")
    with wandb_service(project_runs()) as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        monkeypatch.setenv("HOME", str(tmp_path))  # where no login of the user is
        yield server


@pytest.mark.slow
def test_groups_of_runs_become_experiments(service: Service, project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    done = deviate("import", "wandb:lab/cifar")
    assert done.code == 0, done.err
    assert "14 runs in 5 groups" in done.out
    assert "without: seed, save_dir, api_key" in done.out
    assert "base-5: killed or still running, so the run does not count" in done.out
    (base,) = read_experiment(project / ".deviate/experiments/cifar-lr=0.1")
    assert [run.status for run in base.runs] == [*["completed"] * 4, "crashed", "lost"]
    assert [run.seeds["seed"] for run in base.runs] == list(range(6))
    series = base.runs[3].series["val_acc"]
    assert (list(series.steps), math.isnan(series.values[0])) == ([0, 1, 2, 3], True)
    assert (list(series.values[1:]), list(series.times)) == ([math.inf, 0.7, 3.5], [0.0, 2.0, 4.0, 6.0])
    assert base.runs[0].series.keys() == {"val_acc", "test_acc"}
    assert base.runs[0].environment["config.net.depth"] == "18"
    (sweep,) = read_experiment(project / ".deviate/experiments/cifar-lr=0.04-sweep=s1")
    assert (base.tuned, sweep.tuned) == ("", "one of 4 configurations of sweep s1")
    for path in project.rglob("*.json*"):
        assert KEY not in path.read_text(encoding="utf-8")


@pytest.mark.slow  # each command starts the service process of wandb
def test_what_is_wrong_is_said_with_what_to_do(service: Service, project: Path, deviate_in, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    unknown = deviate("import", "wandb:lab/unknown")
    assert (unknown.code, "Could not find project" in unknown.err) == (1, True)
    service.refusals += [401]
    refused = deviate("import", "wandb:lab/cifar")
    assert (refused.code, "`wandb login`" in refused.err, KEY in refused.both) == (1, True, False)
    monkeypatch.delenv("WANDB_API_KEY")
    missing = deviate("import", "wandb:lab/cifar")
    assert (missing.code, "set WANDB_API_KEY" in missing.err) == (1, True)


@pytest.mark.requires("mlflow")
def test_a_configuration_that_was_tuned_is_labelled_wherever_it_is_shown(
    project: Path, deviate_in, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    with mlflow_service([run for run in project_runs() if run.state == "finished"]) as server:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", server.url)
        dry = deviate("import", "mlflow:cifar", "--dry-run")
        assert (dry.code, (project / ".deviate").exists()) == (0, False)
        assert "12 runs in 5 groups" in dry.out
        assert deviate("import", "mlflow:cifar", "--group", "cifar-lr=0.1", "--name", "base").code == 0
        assert deviate("import", "mlflow:cifar", "--group", "lr=4e-2", "--name", "best").code == 0
        again = deviate("import", "mlflow:cifar", "--group", "lr=4e-2", "--name", "best")
        assert (again.code, "an experiment named best exists already" in again.err) == (1, True)
    search = "one of 4 configurations of sweep s1"
    assert f"tuned: {search}" in deviate("show", "best").out
    listed = {entry["name"]: entry["tuned"] for entry in json.loads(deviate("list", "--format", "json").out)}
    assert listed == {"base": None, "best": search}
    assert deviate("compare", "base", "best", "--metric", "val_acc", "--json", "out.json").code == 0
    (warning,) = [text for text in json.loads(Path("out.json").read_text())["warnings"] if "tuned" in text]
    assert warning.startswith(f"best: tuned, {search}")


def test_options_of_projects_are_refused_for_files(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    (project / "a.csv").write_text("seed,acc\n0,1\n1,2\n")
    refused = deviate("import", "a.csv", "--without", "lr")
    assert (refused.code, "are for projects of a tracker" in refused.err) == (1, True)
    compared = deviate("compare", "wandb:lab/cifar", "a.csv")
    assert (compared.code, "deviate import wandb:lab/cifar --dry-run" in compared.err) == (1, True)
