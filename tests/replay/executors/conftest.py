"""Every executor, ready to take orders: on this machine, worker processes, a Slurm and a Ray of two nodes each."""

import dataclasses
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from slurm_here import missing_program, slurm_cluster
from workers_here import WorkersHere

from deviate.model.plan import Selection, Settings
from deviate.records.plans import Plan, VariantPlan, create_experiment
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.executors.ray import ray_executor
from deviate.replay.executors.slurm import slurm_executor
from deviate.replay.executors.workers import WorkersExecutor
from deviate.replay.protocol import Executor, Order
from deviate.replay.variants import VARIANTS

CLUSTERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("slurm", "ray")]
"""Executors for which a scheduler has to be started."""
LATE_S = 20.0
"""Files are seen at once here, but whoever writes them may have to wait for a processor."""


@dataclass(frozen=True)
class Place:
    """Where runs are carried out."""

    name: str
    make: Callable[[Settings], Executor]


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The configuration of a Slurm that runs on this machine."""
    program = missing_program()
    if program is not None:
        pytest.skip(f"{program} is not on this machine")  # not even CI can demand a scheduler
    with slurm_cluster(tmp_path_factory.mktemp("slurm")) as conf:
        yield conf


@pytest.fixture(scope="session")
def ray(require: Callable[[str], None]) -> Iterator[str]:
    """The address of a Ray cluster of two nodes with one processor each."""
    require("ray")
    with RayHere() as cluster:
        added_node(cluster, num_cpus=1)
        yield cluster.address


class RayHere:
    """A Ray cluster with a first node of one processor; its driver leaves files open, which is not ours to warn of."""

    def __enter__(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from ray.cluster_utils import Cluster

            self.cluster = Cluster()
            added_node(self.cluster, num_cpus=1, include_dashboard=False)
        return self.cluster

    def __exit__(self, *_: object) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.cluster.shutdown()


def added_node(cluster: Any, **options: Any) -> Any:
    """The first node of a Ray cluster or a further one; one that does not join in time gives way to another one."""
    before = set(cluster.list_all_nodes())
    try:
        return cluster.add_node(**options)
    except TimeoutError:
        for node in set(cluster.list_all_nodes()) - before:
            cluster.remove_node(node, allow_graceful=False)
        return cluster.add_node(**options)


@pytest.fixture(params=["local", "workers", *CLUSTERS])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, require: Callable[[str], None]) -> Place:
    """Each executor in turn."""
    name: str = request.param
    if name == "local":
        return Place(name, LocalExecutor)
    if name == "workers":
        return Place(name, lambda _: WorkersExecutor(WorkersHere(), late_s=LATE_S))
    if name == "slurm":
        require("submitit")
        monkeypatch.setenv("SLURM_CONF", str(request.getfixturevalue("slurm")))
        return Place(
            name, lambda _: slurm_executor(Settings(options=(("interval", "1"), ("time", "5"))), late_s=LATE_S)
        )
    address = request.getfixturevalue("ray")
    return Place(name, lambda _: ray_executor(Settings(options=(("address", address),)), late_s=LATE_S))


@pytest.fixture
def orders(frozen: Callable[..., Any]) -> Callable[..., tuple[Order, ...]]:
    """`orders("more of the script", runs=2)` are the orders of an experiment on disk."""

    def make(
        more: str = "",
        *,
        runs: int = 1,
        settings: Settings | None = None,
        command: tuple[str, ...] = (),
        **options: Any,
    ) -> tuple[Order, ...]:
        it = frozen(more, **options)
        words = command or (sys.executable, "train.py")
        variants = (VariantPlan("as-is", runs, VARIANTS["as-is"]),)
        plan = Plan("base", time.time(), it.root, words, ".", 0, it.snapshot.sources_hash, variants, Selection(()))
        create_experiment(it.folder, dataclasses.replace(plan, settings=settings or Settings()))
        return tuple(Order(it.folder, spec) for spec in it.specs(runs, command=command))

    return make
