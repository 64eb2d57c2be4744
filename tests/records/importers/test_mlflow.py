import math
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tracker_servers import CloudRun, Service, mlflow_service
from writers import write

from deviate.errors import InputError
from deviate.model.records import Series
from deviate.records.importers import IMPORTERS, Imported
from deviate.records.importers.mlflow import read_mlflow
from deviate.records.trackers.addresses import read_project
from deviate.records.trackers.groups import group_runs, import_groups

LONG = "digits: a #1 é experiment with a name that is too long for one line of YAML, as people may give them"
WRITE = f"""
import math, sys
import mlflow

mlflow.set_tracking_uri(sys.argv[1])
client = mlflow.MlflowClient()

mlflow.set_experiment({LONG!r})
for seed in range(2):
    with mlflow.start_run(run_name=f"seed {{seed}}"):
        mlflow.log_params({{"lr": 0.1, "seed": seed, "api_key": "0123456789abcdef"}})
        for step in range(5):
            mlflow.log_metric("val/loss", 1 / (3 + step + seed), step=step)
            mlflow.log_metric("stepless", step / 7)
        mlflow.log_metric("val/loss", 0.1 + 0.2, step=4)
        mlflow.log_metric("final", 1 / 3)
        mlflow.log_metric("nan", math.nan)
        mlflow.log_metric("inf", -math.inf, step=7)
        mlflow.log_metric("system/cpu", 3.0)

mlflow.set_experiment("ends")
try:
    with mlflow.start_run(run_name="failed"):
        mlflow.log_metric("acc", 0.25, step=1)
        raise ValueError
except ValueError:
    pass
mlflow.start_run(run_name="killed")
mlflow.log_metric("acc", 0.5, step=1)
mlflow.end_run("KILLED")
with mlflow.start_run(run_name="parent"):
    with mlflow.start_run(run_name="child", nested=True):
        mlflow.log_metric("acc", 0.75, step=1)
with mlflow.start_run(run_name="deleted") as run:
    mlflow.log_metric("acc", 1.0, step=1)
client.delete_run(run.info.run_id)
going = client.create_run(mlflow.get_experiment_by_name("ends").experiment_id, run_name="going on")
client.log_metric(going.info.run_id, "acc", 2.0, step=1)

mlflow.set_experiment("removed")
with mlflow.start_run():
    mlflow.log_metric("acc", 1.0)
client.delete_experiment(mlflow.get_experiment_by_name("removed").experiment_id)
"""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, require: Callable[[str], None]) -> Path:
    """A folder with a store of each kind."""
    for name in ("mlflow", "sqlalchemy", "alembic"):
        require(name)
    folder = tmp_path_factory.mktemp("stores")
    write(folder, WRITE, (folder / "mlruns").as_uri(), MLFLOW_ALLOW_FILE_STORE="true")
    write(folder, WRITE, "sqlite:///mlflow.db")
    return folder


@pytest.fixture(params=["mlruns", "mlflow.db"])
def store(stores: Path, request: pytest.FixtureRequest) -> Path:
    return stores / str(request.param)


def points(series: Series) -> list[tuple[int | None, float]]:
    return list(zip(series.steps, series.values, strict=True))


def by_name(path: Path) -> dict[str, Imported]:
    return {imported.name: imported for imported in read_mlflow(path)}


def test_each_experiment_of_a_store_has_its_runs_with_all_bits_of_their_values(store: Path) -> None:
    found = by_name(store)
    assert found.keys() == {LONG, "ends"}
    imported = found[LONG]
    assert [run.label for run in imported.runs] == ["seed 0", "seed 1"]
    for seed, run in enumerate(imported.runs):
        expected = [*((step, 1 / (3 + step + seed)) for step in range(4)), (4, 0.1 + 0.2)]
        assert points(run.series["val/loss"]) == expected
        assert points(run.series["final"]) == [(None, 1 / 3)]
        assert points(run.series["inf"]) == [(7, -math.inf)]
        assert math.isnan(run.series["nan"].values[0])
        assert run.series.keys() == {"val/loss", "stepless", "final", "nan", "inf"}
        assert run.status == "completed"
    assert "val/loss: logged more than once at a step: the last value counts" in imported.notes


def test_what_was_logged_without_steps_is_numbered_and_said(store: Path) -> None:
    imported = by_name(store)[LONG]
    assert points(imported.runs[1].series["stepless"]) == [(step, step / 7) for step in range(5)]
    assert "stepless: logged without a step: numbered in the order of logging" in imported.notes


def test_parameters_are_the_environment_without_secrets(store: Path) -> None:
    run = by_name(store)[LONG].runs[1]
    assert run.seeds == {"seed": 1}
    assert run.environment["param.lr"] == "0.1"
    assert run.environment["param.api_key"] == "[redacted]"


def test_times_are_seconds_of_the_run(store: Path) -> None:
    run = by_name(store)[LONG].runs[0]
    times = list(run.series["val/loss"].times)
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] <= run.wall_time_s < 60
    assert run.started > 1.7e9


def test_how_a_run_ended_is_kept_and_what_is_left_out_is_said(store: Path) -> None:
    imported = by_name(store)["ends"]
    assert {run.label: (run.status, points(run.series["acc"])) for run in imported.runs} == {
        "failed": ("crashed", [(1, 0.25)]),
        "killed": ("cancelled", [(1, 0.5)]),
        "child": ("completed", [(1, 0.75)]),
        "going on": ("lost", [(1, 2.0)]),
    }
    assert "going on: killed or still running, so the run does not count" in imported.notes
    assert "parent: parent run without metrics, left out" in imported.notes


def test_a_folder_in_which_the_data_base_lies_is_that_store(stores: Path, tmp_path: Path) -> None:
    shutil.copy(stores / "mlflow.db", tmp_path)
    assert IMPORTERS["mlflow"].claims(tmp_path)
    assert [it.runs for it in read_mlflow(tmp_path)] == [it.runs for it in read_mlflow(stores / "mlflow.db")]


def test_the_folder_of_an_experiment_is_read_alone(stores: Path) -> None:
    whole = by_name(stores / "mlruns")
    for folder in (path.parent for path in (stores / "mlruns").glob("*/meta.yaml")):
        if not any(folder.glob("*/meta.yaml")):
            continue
        assert IMPORTERS["mlflow"].claims(folder)
        (imported,) = read_mlflow(folder)
        assert imported.runs == whole[imported.name].runs


def test_reading_a_data_base_does_not_change_it(stores: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(stores / "mlflow.db", tmp_path))
    before = path.read_bytes()
    path.chmod(0o444)
    read_mlflow(path)
    assert path.read_bytes() == before
    assert [it.name for it in tmp_path.iterdir()] == ["mlflow.db"]


def test_a_damaged_metric_is_an_error_with_its_line(stores: Path, tmp_path: Path) -> None:
    root = shutil.copytree(stores / "mlruns", tmp_path / "mlruns")
    path = next(root.glob("*/*/metrics/val/loss"))
    path.write_text(path.read_text() + "1700000000000 zero 5\n")
    with pytest.raises(InputError, match="val/loss is damaged in line 7: '1700000000000 zero 5'"):
        read_mlflow(root)


def test_a_torn_last_line_is_left_out_and_said(stores: Path, tmp_path: Path) -> None:
    root = shutil.copytree(stores / "mlruns", tmp_path / "mlruns")
    for path in root.glob("*/*/metrics/val/loss"):
        path.write_text(path.read_text().rpartition("0.30")[0] + "0.3")
    imported = by_name(root)[LONG]
    assert [list(run.series["val/loss"].steps) for run in imported.runs] == [[0, 1, 2, 3, 4]] * 2
    assert imported.runs[0].series["val/loss"].values[-1] == 1 / 7
    assert "val/loss of seed 0, val/loss of seed 1: the last line is incomplete, left out" in imported.notes


def test_a_truncated_data_base_is_told(stores: Path, tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    path.write_bytes((stores / "mlflow.db").read_bytes()[:20_000])
    with pytest.raises(InputError, match=r"is no store of MLflow, or is damaged|reading the MLflow store"):
        read_mlflow(path)


def test_stores_without_runs_are_told(tmp_path: Path) -> None:
    experiment = tmp_path / "mlruns" / "0"
    experiment.mkdir(parents=True)
    (experiment / "meta.yaml").write_text("experiment_id: '0'\nlifecycle_stage: active\nname: Default\n")
    with pytest.raises(InputError, match="holds no MLflow runs"):
        read_mlflow(tmp_path / "mlruns")


def test_other_data_bases_and_folders_are_not_claimed(stores: Path, tmp_path: Path) -> None:
    claims = IMPORTERS["mlflow"].claims
    assert claims(stores / "mlruns")
    assert claims(stores / "mlflow.db")
    with sqlite3.connect(tmp_path / "other.db") as base:
        base.execute("CREATE TABLE runs (id)")
    base.close()
    (tmp_path / "meta.yaml").write_text("a: b\n")
    (tmp_path / "mlflow.db").write_text("something else")
    assert not any(claims(path) for path in (tmp_path, *tmp_path.iterdir(), tmp_path / "missing"))


def test_the_runs_of_an_experiment_are_grouped_like_those_of_a_server(store: Path) -> None:
    grouping = group_runs(read_project(f"mlflow:{store}#{LONG}"))
    assert [len(group.runs) for group in grouping.groups] == [2]
    assert grouping.left_out == ("seed",)
    (imported,) = import_groups(grouping, grouping.groups)
    assert imported.runs == by_name(store)[LONG].runs
    assert {run.sweep for run in read_project(f"mlflow:{store}#ends").runs} == {"", "parent"}
    with pytest.raises(InputError, match="the store has 3 experiments"):
        read_project(f"mlflow:{store}")


VALUES: list[float | str] = [0.1, "NaN", 1.7976931348623157e308, 0.4, 0.5, 0.6, 0.7]
"""As the server answers after NaN and infinity were logged."""


def logged_run(seed: int, **more: object) -> CloudRun:
    rows = [{"_step": step, "loss": value, "system/cpu": 1.0} for step, value in enumerate(VALUES)]
    return CloudRun(f"run{seed}", {"lr": 0.1, "seed": seed}, rows, **more)  # type: ignore[arg-type]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, require: Callable[[str], None]) -> Iterator[Service]:
    """A server with an experiment of five runs, of which one failed and one still runs."""
    require("mlflow")
    for name in ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with mlflow_service(
        [logged_run(0), logged_run(1), logged_run(2, state="failed"), logged_run(3, state="running"), logged_run(4)]
    ) as service:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", service.url)
        yield service


def test_all_pages_of_runs_and_values_are_read(server: Service) -> None:
    grouping = group_runs(read_project("mlflow:cifar"), without=["lr"])
    (imported,) = import_groups(grouping, grouping.groups)
    assert [one.status for one in imported.runs] == ["completed", "completed", "crashed", "lost", "completed"]
    assert [one.seeds for one in imported.runs] == [{"seed": seed} for seed in range(5)]
    series = imported.runs[0].series
    assert series.keys() == {"loss"}
    assert list(series["loss"].steps) == list(range(7))
    values = list(series["loss"].values)
    assert (math.isnan(values[1]), values[2:]) == (True, [math.inf, 0.4, 0.5, 0.6, 0.7])
    assert imported.arguments == ("mlflow:cifar", "--without", "lr")


def test_an_experiment_is_named_by_name_number_or_page(server: Service) -> None:
    for place in ("cifar", "7", f"{server.url}#cifar", f"{server.url}/#/experiments/7/runs"):
        assert len(read_project(f"mlflow:{place}").runs) == 5, place
    with pytest.raises(InputError, match="no experiment 'mnist'") as caught:
        read_project("mlflow:mnist")
    assert caught.value.hint == "name one with #EXPERIMENT: Default, cifar"


def test_a_refusal_says_what_to_do(server: Service) -> None:
    server.refusals += [401]
    with pytest.raises(InputError, match="reading the MLflow store http") as caught:
        read_project("mlflow:cifar")
    assert "MLFLOW_TRACKING_USERNAME" in caught.value.hint


def test_a_missing_library_is_named_with_how_to_get_it(server: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match="the package mlflow is not installed") as caught:
        read_project("mlflow:cifar")
    assert "pip install --upgrade mlflow" in caught.value.hint


@pytest.mark.requires("mlflow")
def test_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(InputError, match=r"reading the MLflow store http://127\.0\.0\.1:9: API request"):
        read_project("mlflow:http://127.0.0.1:9#x")


def test_a_path_that_is_no_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{tmp_path} is no store of MLflow"):
        read_project(f"mlflow:{tmp_path}#x")
    assert not list(tmp_path.iterdir())


def test_keys_are_sent_as_mlflow_sends_them_and_shown_nowhere(server: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "a-secret-token")
    read_project("mlflow:cifar")
    monkeypatch.delenv("MLFLOW_TRACKING_TOKEN")
    address = read_project(f"mlflow:{server.url.replace('//', '//me:hidden@')}#cifar").address
    assert server.keys == {"Bearer a-secret-token", "Basic bWU6aGlkZGVu"}
    assert "hidden" not in address


def test_what_deviate_wrote_there_is_no_run_of_training(server: Service) -> None:
    server.runs = [*server.runs, logged_run(5, tags={"deviate.experiment": "base"})]
    project = read_project("mlflow:cifar")
    assert (len(project.runs), project.notes) == (5, ["run5: written by deviate report, left out"])
