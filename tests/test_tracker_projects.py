"""Projects of a tracker are imported, listed, shown and compared; W&B's own library reads a stand-in of its service."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tracker_servers import CloudRun, Service, wandb_service

from deviate import records

pytestmark = pytest.mark.slow  # each command starts the service process of wandb
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


def test_groups_of_runs_become_experiments(service: Service, project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    done = deviate("import", "wandb:lab/cifar")
    assert done.code == 0, done.err
    assert "14 runs in 5 groups" in done.out
    assert "without: seed, save_dir, api_key" in done.out
    assert "base-5: not finished, so the run does not count" in done.out
    (base,) = records.read_experiment(project / ".deviate/experiments/cifar-lr=0.1")
    assert [run.status for run in base.runs] == [*["completed"] * 4, "crashed", "lost"]
    assert [run.seeds["seed"] for run in base.runs] == list(range(6))
    series = base.runs[3].series["val_acc"]
    assert (list(series.steps), math.isnan(series.values[0])) == ([0, 1, 2, 3], True)
    assert (list(series.values[1:]), list(series.times)) == ([math.inf, 0.7, 3.5], [0.0, 2.0, 4.0, 6.0])
    assert base.runs[0].series.keys() == {"val_acc", "test_acc"}
    assert base.runs[0].environment["config.net.depth"] == "18"
    assert base.tuned == ""
    for path in project.rglob("*.json*"):
        assert KEY not in path.read_text(encoding="utf-8")

    tuned = "tuned: one of 4 configurations of sweep s1, tuned on val_acc (maximize)"
    assert tuned in deviate("show", "cifar-lr=0.04-sweep=s1").out
    listed = {entry["name"]: entry["tuned"] for entry in json.loads(deviate("list", "--format", "json").out)}
    assert [name for name, search in listed.items() if not search] == ["cifar-lr=0.1"]
    compared = deviate("compare", "cifar-lr=0.1", "cifar-lr=0.04-sweep=s1", "--metric", "val_acc", "--json", "out.json")
    assert compared.code == 0, compared.err
    (warning,) = [text for text in json.loads(Path("out.json").read_text())["warnings"] if "tuned" in text]
    assert warning.startswith("cifar-lr=0.04-sweep=s1: tuned, one of 4 configurations of sweep s1")

    again = deviate("import", "wandb:lab/cifar", "--group", "cifar-lr=0.1")
    assert (again.code, "an experiment named cifar-lr=0.1 exists already" in again.err) == (1, True)


def test_what_is_wrong_is_said_with_what_to_do(service: Service, project: Path, deviate_in, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    unknown = deviate("import", "wandb:lab/unknown")
    assert (unknown.code, "no such project" in unknown.err) == (1, True)
    service.refusals += [401]
    refused = deviate("import", "wandb:lab/cifar")
    assert (refused.code, "refuses the API key" in refused.err, KEY in refused.both) == (1, True, False)
    monkeypatch.delenv("WANDB_API_KEY")
    missing = deviate("import", "wandb:lab/cifar")
    assert (missing.code, "set WANDB_API_KEY" in missing.err) == (1, True)
