"""Trackers stay offline, and tell the runs of an experiment apart."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from planned import plan

from deviate.model.plan import Snapshot, Spec
from deviate.replay.trackers import OFFLINE, tracker_environment, tracker_variables
from deviate.replay.variants import VARIANTS

SNAPSHOT = Snapshot(Path("snapshot"), Path("/home/project"), "0" * 64)


def spec_of(variant: str = "algo", replicate: int = 0, **environment: str) -> Spec:
    given = tuple(environment.items())
    return plan(
        SNAPSHOT, command=("python", "train.py"), cwd=".", variant=VARIANTS[variant], runs=replicate + 1, seed=0,
        environment=given,
    )[replicate]  # fmt: skip


def test_a_spec_keeps_trackers_offline_unless_the_variant_touches_nothing() -> None:
    assert OFFLINE.items() <= dict(spec_of().environment).items()
    assert not OFFLINE.keys() & dict(spec_of("as-is").environment).keys()


def test_nothing_is_set_that_the_spec_already_has() -> None:
    spec = spec_of()
    assert not tracker_variables(spec, "base", {}).keys() & dict(spec.environment).keys()


def test_each_run_has_a_name_of_its_own_and_all_of_an_experiment_have_one_group() -> None:
    runs = [tracker_environment("base", variant, number) for variant in ("algo", "impl") for number in range(3)]
    for tracker in ("WANDB", "SWANLAB", "MLFLOW", "COMET"):
        mine = [{key: value for key, value in run.items() if key.startswith(tracker)} for run in runs]
        names = [value for run in mine for key, value in run.items() if key.endswith("NAME") and "/algo/" in value]
        assert len(set(names)) == 3
        values = [set(run.values()) for run in mine]
        assert set.intersection(*values) == {"deviate/base"}


def test_the_user_s_own_group_and_name_stay() -> None:
    shell = {"WANDB_RUN_GROUP": "paper"}
    variables = tracker_variables(spec_of(WANDB_NAME="mine"), "base", shell)
    assert "WANDB_RUN_GROUP" not in variables
    assert "WANDB_NAME" not in variables
    assert variables["SWANLAB_GROUP"] == "deviate/base"


def test_a_shell_that_puts_a_tracker_online_does_not_publish_copies() -> None:
    shell = {"COMET_START_ONLINE": "1", "MLFLOW_TRACKING_URI": "https://mlflow.example.org"}
    spec = spec_of()
    assert dict(spec.environment)["COMET_START_ONLINE"] == "0"  # in a run it goes before what the shell has
    assert tracker_variables(spec, "base", shell)["MLFLOW_TRACKING_URI"] == ""


def test_what_the_user_sets_for_these_runs_goes_before_offline() -> None:
    assert dict(spec_of(COMET_START_ONLINE="1").environment)["COMET_START_ONLINE"] == "1"


def test_trackers_are_left_alone_as_is_but_for_group_and_name() -> None:
    shell = {"COMET_START_ONLINE": "1", "MLFLOW_TRACKING_URI": "https://mlflow.example.org"}
    variables = tracker_variables(spec_of("as-is"), "base", shell)
    assert variables == tracker_environment("base", "as-is", 0)


@pytest.mark.parametrize("shell", [{"MLFLOW_EXPERIMENT_ID": "7"}, {"MLFLOW_TRACKING_URI": "databricks://mine"}])
def test_an_mlflow_experiment_that_the_user_chose_is_not_contradicted(shell: dict[str, str]) -> None:
    assert "MLFLOW_EXPERIMENT_NAME" not in tracker_variables(spec_of("as-is"), "base", shell)


def test_a_local_mlflow_address_stays() -> None:
    assert "MLFLOW_TRACKING_URI" not in tracker_variables(spec_of(), "base", {"MLFLOW_TRACKING_URI": "file:runs"})


def test_the_values_can_be_given_to_a_process() -> None:
    variables = tracker_variables(spec_of(), "an experiment, größer", {})
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, check=True)
    assert json.loads(done.stdout)["WANDB_RUN_GROUP"] == "deviate/an experiment, größer"
