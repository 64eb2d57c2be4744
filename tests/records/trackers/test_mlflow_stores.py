import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tracker_servers import CloudRun, Service, mlflow_service

from deviate.errors import InputError
from deviate.records.trackers.addresses import read_project
from deviate.records.trackers.experiments import import_groups
from deviate.records.trackers.groups import group_runs

VALUES: list[float | str] = [0.1, "NaN", 1.7976931348623157e308, 0.4, 0.5, 0.6, 0.7]
"""As the server answers after NaN and infinity were logged."""


def run(seed: int, **more: object) -> CloudRun:
    rows = [{"_step": step, "loss": value, "system/cpu": 1.0} for step, value in enumerate(VALUES)]
    return CloudRun(f"run{seed}", {"lr": 0.1, "seed": seed}, rows, **more)  # type: ignore[arg-type]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, require: Callable[[str], None]) -> Iterator[Service]:
    """A server with an experiment of five runs, of which one failed and one still runs."""
    require("mlflow")
    for name in ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with mlflow_service([run(0), run(1), run(2, state="failed"), run(3, state="running"), run(4)]) as service:
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
    for place in ("cifar", "7", server.url, f"{server.url}#cifar", f"{server.url}/#/experiments/7/runs"):
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
    assert "pip install mlflow" in caught.value.hint


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
    server.runs = [*server.runs, run(5, tags={"deviate.experiment": "base"})]
    project = read_project("mlflow:cifar")
    assert (len(project.runs), project.notes) == (5, ("run5: written by deviate report, left out",))
