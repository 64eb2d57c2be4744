"""Plans: idempotent, and nothing set that the variant does not ask for."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.model import Snapshot, Spec
from deviate.records.specs import run_id
from deviate.replay.plan import plan

SNAPSHOT = Snapshot(Path("/snapshot"), Path("/root"), "ab")


def make(
    runs: int = 3, *, variant: str = "algo+impl", seed: int = 0, environment: tuple[tuple[str, str], ...] = ()
) -> tuple[Spec, ...]:
    return plan(
        SNAPSHOT, command=("python", "a.py"), cwd=".", variant=variant, runs=runs, seed=seed, environment=environment
    )


def test_more_runs_only_add() -> None:
    assert make(10)[:3] == make(3)
    assert len({run_id(spec) for spec in make(100)}) == 100


def test_as_is_sets_nothing() -> None:
    assert [(spec.seeds, spec.environment) for spec in make(variant="as-is")] == [((), ())] * 3


def test_the_hash_seed_of_each_run_is_set_and_recorded() -> None:
    for spec in make():
        assert dict(spec.environment)["PYTHONHASHSEED"] == str(dict(spec.seeds)["python-hash"])


def test_trackers_are_put_offline_unless_the_user_says_otherwise() -> None:
    assert dict(make()[0].environment)["WANDB_MODE"] == "offline"
    online = make(environment=(("WANDB_MODE", "online"), ("A", "1")))[0]
    assert (dict(online.environment)["WANDB_MODE"], dict(online.environment)["A"]) == ("online", "1")


def test_another_experiment_seed_gives_other_runs() -> None:
    assert not {run_id(spec) for spec in make(seed=0)} & {run_id(spec) for spec in make(seed=1)}


@pytest.mark.parametrize("runs", [0, -1])
def test_a_plan_without_runs_is_refused(runs: int) -> None:
    with pytest.raises(InputError, match="cannot be run"):
        make(runs)


def test_a_plan_without_a_command_is_refused() -> None:
    with pytest.raises(InputError, match="no command"):
        plan(SNAPSHOT, command=(), cwd=".", variant="as-is", runs=1, seed=0)
