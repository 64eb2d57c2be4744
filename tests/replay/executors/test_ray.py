"""Ray alone: a node that dies in the middle of an experiment, and what cannot be used."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.model.plan import Settings
from deviate.records.layout import attempts
from deviate.records.runs import read_claim
from deviate.replay.execute import Listeners, execute_orders
from deviate.replay.executors.ray import ray_executor
from deviate.replay.protocol import Order, RunUpdate

from .conftest import LATE_S, RayHere, added_node
from .test_contract import ALONE, assert_gone, pids_in, root_of

Make = Callable[..., tuple[Order, ...]]


@pytest.mark.slow
def test_an_experiment_survives_the_death_of_a_node_with_each_run_counted_once(
    orders: Make, require: Callable[[str], None]
) -> None:
    require("ray")
    six = orders(ALONE + "time.sleep(0.8)\n", runs=6)
    with RayHere() as cluster:
        node = added_node(cluster, num_cpus=1, resources={"doomed": 1})
        executor = ray_executor(Settings(options=(("address", cluster.address),)), late_s=LATE_S)
        finished: list[RunUpdate] = []
        is_dead = False

        def kill_node(update: RunUpdate) -> None:
            nonlocal is_dead
            finished.extend([update] * (update.kind == "finished"))
            if len(finished) >= 2 and not is_dead:
                is_dead = True
                cluster.remove_node(node, allow_graceful=False)

        settings = Settings(retries=2)
        outcomes = execute_orders(six, executor, settings, Listeners(kill_node))
    assert is_dead
    assert [outcomes[order].status for order in six] == ["completed"] * 6
    for order in six:
        results = [json.loads((attempt / "result.json").read_text()) for attempt in attempts(order.run)]
        assert [result["status"] for result in results][-1] == "completed"
        assert [result["status"] for result in results].count("completed") == 1
    assert not (root_of(six[0]) / "two").exists()


@pytest.mark.slow
def test_a_killed_process_of_ray_ends_its_worker_and_the_run_is_started_anew(ray: str, orders: Make) -> None:
    (order,) = orders(ALONE + "if 'attempt-1' in os.getcwd():\n    time.sleep(300)\n")
    killed: list[int] = []

    def kill_ray_process(update: RunUpdate) -> None:
        claim = read_claim(update.folder)
        if claim and not killed:
            parent = int(Path(f"/proc/{claim.pid}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(parent, 9)
            killed.extend([parent, claim.pid])

    executor = ray_executor(Settings(options=(("address", ray),)), late_s=LATE_S)
    outcomes = execute_orders([order], executor, Settings(), Listeners(kill_ray_process))
    assert (outcomes[order].status, outcomes[order].folder.name) == ("completed", "attempt-2")
    assert_gone(killed)
    assert_gone(pids_in(root_of(order) / "alive-0"))
    assert not (root_of(order) / "two").exists()


@pytest.mark.slow
def test_resources_are_asked_for_per_run(ray: str, orders: Make) -> None:
    two = orders("import time\ntime.sleep(1)\n", runs=2)
    executor = ray_executor(Settings(options=(("address", ray), ("num_cpus", "0.5"), ("memory", "1e6"))), late_s=LATE_S)
    outcomes = execute_orders(two, executor, Settings())
    assert {it.status for it in outcomes.values()} == {"completed"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((("cpus", "1"),), "no option 'cpus'"),
        ((("num_gpus", "one"),), "num_gpus=one: not a number"),
        pytest.param((("address", "127.0.0.1:1"),), "no Ray cluster answers at 127.0.0.1:1", marks=pytest.mark.slow),
    ],
)
def test_what_cannot_be_used_is_one_message(
    require: Callable[[str], None], options: tuple[tuple[str, str], ...], message: str
) -> None:
    require("ray")
    with pytest.raises(InputError, match=message):
        ray_executor(Settings(options=options))


def test_without_ray_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match="needs the package ray") as caught:
        ray_executor(Settings())
    assert caught.value.hint == "run pip install '.[ray]' in a clone of deviate, in the environment that runs it"
