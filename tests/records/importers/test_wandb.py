import math
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from writers import write

from deviate.errors import InputError
from deviate.model.records import Series
from deviate.records.importers import IMPORTERS, Imported
from deviate.records.importers.wandb import read_wandb
from deviate.records.trackers.addresses import read_project

WRITE = """
import math, os, sys
import wandb

def log_run(seed, *, n_steps=5, group=None, project="digits", name=None, exit_code=0):
    config = {"lr": 0.1, "seed": seed, "optimizer": {"name": "sgd"}, "api_key": "0123456789abcdef"}
    run = wandb.init(dir=folder, project=project, group=group, name=name or f"seed {seed}", config=config)
    for step in range(n_steps):
        run.log({"loss": 1 / (3 + step + seed), "val": {"acc": step / 7}, "text": "no", "flag": True})
    run.log({"late": 0.1 + 0.2, "nan": math.nan, "inf": -math.inf, "hist": wandb.Histogram([1, 2])}, step=100)
    run.summary["best"] = 1 / 3
    run.finish(exit_code=exit_code)

for what in sys.argv[1:]:
    folder = os.path.join(os.getcwd(), what)
    os.mkdir(folder)
    match what:
        case "runs":
            for seed in range(2):
                log_run(seed)
        case "long":
            log_run(0, n_steps=3_000)
        case "groups":
            log_run(0, group="base")
            log_run(1, group="base")
            log_run(2, group="new", project="other")
        case "names":
            log_run(0, name="same")
            log_run(1, name="same")
        case "summary":
            run = wandb.init(dir=folder, project="digits")
            run.summary.update({"test": {"acc": 0.1}, "word": "no"})
            run.finish()
        case "failed":
            log_run(0, exit_code=3)
        case "interrupted":
            log_run(0, exit_code=255)
        case "raised":
            wandb.init(dir=folder, project="digits").log({"loss": 0.5})
            raise RuntimeError
        case "killed":
            log_run(0)
            wandb.init(dir=folder, project="digits").log({"loss": 0.5})
            os.kill(os.getpid(), 9)
        case "empty":
            wandb.init(dir=folder, project="digits").finish()
"""


TOGETHER = ("runs", "long", "groups", "names", "summary", "failed", "interrupted", "empty")
"""What one process writes; another ends with what ends its run."""


def log(folder: Path, *what: str, code: int = 0) -> Path:
    """A folder in which each of them has a `wandb` folder with runs."""
    write(folder, WRITE, *what, code=code, WANDB_MODE="offline", WANDB_SILENT="true")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _needs(require: Callable[[str], None]) -> None:
    require("wandb")


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return log(tmp_path_factory.mktemp("logged"), *TOGETHER)


@pytest.fixture(scope="module")
def runs(logged: Path) -> Path:
    return logged / "runs" / "wandb"


def read_one(path: Path) -> Imported:
    (imported,) = read_wandb(path)
    return imported


def points(series: Series) -> list[tuple[int | None, float]]:
    return list(zip(series.steps, series.values, strict=True))


def file_of(folder: Path) -> Path:
    """The file of the run that ended first."""
    return min(folder.glob("offline-*/*.wandb"), key=lambda path: path.stat().st_mtime_ns)


def test_runs_in_a_folder_are_one_experiment_with_all_bits_of_their_values(runs: Path) -> None:
    imported = read_one(runs)
    assert imported.name == "digits"
    assert [run.label for run in imported.runs] == ["seed 0", "seed 1"]
    for seed, run in enumerate(imported.runs):
        assert points(run.series["loss"]) == [(step, 1 / (3 + step + seed)) for step in range(5)]
        assert points(run.series["val.acc"]) == [(step, step / 7) for step in range(5)]
        assert points(run.series["late"]) == [(100, 0.1 + 0.2)]
        assert points(run.series["inf"]) == [(100, -math.inf)]
        assert math.isnan(run.series["nan"].values[0])
        assert points(run.series["best"]) == [(None, 1 / 3)]
        assert run.series.keys() == {"loss", "val.acc", "late", "inf", "nan", "best"}
        assert (run.status, run.seeds) == ("completed", {"seed": seed})


def test_the_settings_of_a_run_are_its_environment_without_secrets(runs: Path) -> None:
    environment = read_one(runs).runs[0].environment
    assert environment["config.lr"] == "0.1"
    assert environment["config.optimizer.name"] == "sgd"
    assert environment["config.api_key"] == "[redacted]"
    assert "Python" in environment["python"]


def test_times_are_seconds_of_the_run(runs: Path) -> None:
    run = read_one(runs).runs[0]
    times = list(run.series["loss"].times)
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] <= run.wall_time_s < 60
    assert run.started > 1.7e9


def test_a_run_s_folder_and_its_file_are_the_same_run(runs: Path) -> None:
    whole = read_one(runs).runs[0]
    assert read_one(file_of(runs)).runs == (whole,)
    assert read_one(file_of(runs).parent).runs == (whole,)
    assert read_one(runs.parent).runs == read_one(runs).runs
    assert read_one(runs / "latest-run").runs == (read_one(runs).runs[1],)


def test_records_that_go_over_several_blocks_are_whole(logged: Path) -> None:
    folder = logged / "long" / "wandb"
    assert file_of(folder).stat().st_size > 10 * 32_768
    assert points(read_one(folder).runs[0].series["loss"]) == [(step, 1 / (3 + step)) for step in range(3_000)]


def test_groups_and_projects_are_experiments(logged: Path) -> None:
    base, new = read_wandb(logged / "groups" / "wandb")
    assert (base.name, [run.label for run in base.runs]) == ("digits-base", ["seed 0", "seed 1"])
    assert (new.name, [run.label for run in new.runs]) == ("other-new", ["seed 2"])


def test_runs_of_one_name_are_told_apart_by_their_ids(logged: Path) -> None:
    labels = [run.label for run in read_one(logged / "names" / "wandb").runs]
    assert len(set(labels)) == 2
    assert all(label.startswith("same (") for label in labels)


def test_a_run_with_a_summary_alone_has_scores(logged: Path) -> None:
    (run,) = read_one(logged / "summary" / "wandb").runs
    assert {name: points(series) for name, series in run.series.items()} == {"test.acc": [(None, 0.1)]}


@pytest.mark.parametrize(
    ("what", "status"), [("failed", "crashed"), ("interrupted", "cancelled"), ("raised", "crashed")]
)
def test_exit_codes_tell_how_a_run_ended(logged: Path, tmp_path: Path, what: str, status: str) -> None:
    folder = logged if what in TOGETHER else log(tmp_path, what, code=1)
    (run,) = read_one(folder / what / "wandb").runs
    assert run.status == status
    assert run.series["loss"].values[0] in {1 / 3, 0.5}


def test_a_run_that_was_killed_is_lost_or_said_to_be_missing(tmp_path: Path) -> None:
    imported = read_one(log(tmp_path, "killed", code=-9) / "killed" / "wandb")
    told = any("ends before the run is identified" in note for note in imported.notes)
    assert [run.status for run in imported.runs] == ["completed"] + ["lost"] * (not told)


@pytest.mark.parametrize("n_bytes", [1, 8, 40])
def test_a_file_that_breaks_off_is_read_up_to_there_and_said(runs: Path, tmp_path: Path, n_bytes: int) -> None:
    folder = shutil.copytree(runs, tmp_path / "wandb", symlinks=True)
    path = file_of(folder)
    path.write_bytes(path.read_bytes()[:-n_bytes])
    imported = read_one(folder)
    assert [run.status for run in imported.runs] == ["lost", "completed"]
    assert points(imported.runs[0].series["loss"]) == [(step, 1 / (3 + step)) for step in range(5)]
    assert imported.notes[0].startswith("seed 0: killed or still running")


def test_zeros_at_the_end_are_no_records(runs: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(runs, tmp_path / "wandb", symlinks=True)
    with file_of(folder).open("ab") as file:
        file.write(bytes(1_000))
    assert read_one(folder).runs == read_one(runs).runs


def test_a_flipped_bit_is_an_error_with_its_place(runs: Path, tmp_path: Path) -> None:
    data = bytearray(file_of(runs).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "run-a.wandb").write_bytes(data)
    with pytest.raises(InputError, match="damaged at byte"):
        read_wandb(tmp_path)


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no W&B run"):
        read_wandb(tmp_path)
    (tmp_path / "run-a.wandb").write_text("something else")
    with pytest.raises(InputError, match="is not a W&B run"):
        read_wandb(tmp_path)
    (tmp_path / "run-a.wandb").write_bytes(b"")
    with pytest.raises(InputError, match="logged no numbers"):
        read_wandb(tmp_path)


def test_an_empty_file_beside_others_is_left_out_and_said(runs: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(runs, tmp_path / "wandb", symlinks=True)
    (folder / "offline-run-1-a").mkdir()
    (folder / "offline-run-1-a" / "run-a.wandb").write_bytes(b"")
    imported = read_one(folder)
    assert imported.runs == read_one(runs).runs
    assert imported.notes == ("run-a.wandb: ends before the run is identified, left out",)


def test_runs_without_numbers_are_told(logged: Path) -> None:
    with pytest.raises(InputError, match="logged no numbers"):
        read_wandb(logged / "empty" / "wandb")


def test_folders_of_runs_are_claimed(runs: Path, tmp_path: Path) -> None:
    claims = IMPORTERS["wandb"].claims
    assert all(claims(path) for path in (runs, runs.parent, file_of(runs), file_of(runs).parent))
    assert not any(claims(path) for path in (tmp_path, tmp_path / "missing", file_of(runs).parent / "files"))


def test_a_missing_library_is_named_with_how_to_get_it(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb.proto.wandb_internal_pb2", None)
    with pytest.raises(InputError, match=r"reading .*\.wandb: the package wandb.* is not installed here"):
        read_wandb(runs)
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match="the package wandb is not installed") as caught:
        read_project("wandb:lab/cifar")
    assert "reading wandb:lab/cifar:" in caught.value.message
    assert "pip install --upgrade wandb" in caught.value.hint


@pytest.mark.parametrize("address", ["wandb:", "wandb:/", "wandb:lab//cifar", "wandb:lab/cifar/runs"])
def test_what_names_no_project_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="no project"):
        read_project(address)
