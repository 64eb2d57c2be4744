"""Plans: idempotent, and nothing set that the variant does not ask for."""

from pathlib import Path

import pytest
from planned import plan

from deviate.errors import InputError
from deviate.model.plan import Snapshot, Spec
from deviate.records.runs import run_id
from deviate.replay.variants import VARIANTS, find_variant

SNAPSHOT = Snapshot(Path("/snapshot"), Path("/root"), "ab")


def make(
    runs: int = 3, *, variant: str = "algo+impl", seed: int = 0, environment: tuple[tuple[str, str], ...] = ()
) -> list[Spec]:
    chosen = find_variant(variant)
    return plan(
        SNAPSHOT, command=("python", "a.py"), cwd=".", variant=chosen, runs=runs, seed=seed, environment=environment
    )


def variables(variant: str, replicate: int = 0) -> dict[str, str]:
    return dict(make(variant=variant, runs=replicate + 1)[replicate].environment)


def test_more_runs_only_add() -> None:
    assert make(10)[:3] == make(3)
    assert len({run_id(spec) for spec in make(100)}) == 100


def test_as_is_sets_nothing() -> None:
    assert [(spec.seeds, spec.environment, spec.controls) for spec in make(variant="as-is")] == [((), (), ())] * 3


def test_the_hash_seed_of_each_run_is_set_and_recorded() -> None:
    for spec in (*make(), *make(variant="control")):
        assert dict(spec.environment)["PYTHONHASHSEED"] == str(dict(spec.seeds)["hash"])
    assert len({variables("algo+impl", replicate)["PYTHONHASHSEED"] for replicate in range(3)}) == 3
    assert len({variables("impl", replicate)["PYTHONHASHSEED"] for replicate in range(3)}) == 1


def test_variables_that_libraries_read_when_they_load_are_set_where_kernels_and_precision_are_held() -> None:
    names = {"CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE"}
    assert {name: variables("control")[name] for name in names} == {
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "NVIDIA_TF32_OVERRIDE": "0",
    }
    assert not names & variables("impl").keys()
    assert names & variables("init+precision").keys() == {"CUBLAS_WORKSPACE_CONFIG"}


def test_the_levels_of_the_configuration_are_set_for_every_library() -> None:
    assert variables("config") == variables("control")
    one_thread = variables("config", 1)
    assert {name for name, value in one_thread.items() if value == "1" and name.endswith("THREADS")} == {
        "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS",
        "TF_NUM_INTEROP_THREADS",
    }  # fmt: skip
    assert variables("config", 2)["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert dict(make(6, variant="config")[5].controls)["threads"] == "3"


def test_the_guest_is_told_the_levels_of_each_run() -> None:
    first, second = make(2, variant="one-bit")
    assert dict(first.controls)["kernels"] == "deterministic"
    assert dict(first.controls)["one-bit"] != dict(second.controls)["one-bit"]
    assert dict(first.controls)["one-bit"].isdecimal()


def test_trackers_are_put_offline_and_what_the_user_sets_goes_before_ours() -> None:
    assert dict(make()[0].environment)["WANDB_MODE"] == "offline"
    online = make(environment=(("WANDB_MODE", "online"), ("A", "1")))[0]
    assert (dict(online.environment)["WANDB_MODE"], dict(online.environment)["A"]) == ("online", "1")
    (own,) = make(1, variant="control", environment=(("CUBLAS_WORKSPACE_CONFIG", ":16:8"),))
    assert dict(own.environment)["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


def test_another_experiment_seed_gives_other_runs() -> None:
    assert not {run_id(spec) for spec in make(seed=0)} & {run_id(spec) for spec in make(seed=1)}


def test_a_plan_without_a_command_is_refused() -> None:
    with pytest.raises(InputError, match="no command"):
        plan(SNAPSHOT, command=(), cwd=".", variant=VARIANTS["as-is"], runs=1, seed=0)
