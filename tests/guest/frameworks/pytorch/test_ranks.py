"""PyTorch in several processes: what each evaluates is kept once and put together, and weights are those of one."""

import functools
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Child, Result

from deviate.guest.streams import STREAMS
from deviate.records.experiments import read
from deviate.stability.captures.collect import captured_of

TRAIN = """\
import torch, torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
torch.set_num_threads(1)
dist.init_process_group("gloo"); rank = dist.get_rank()
X = torch.sin(torch.arange(900.0) ** 1.5).reshape(150, 6); Y = (X[:, 0] > 0).long()
sampler = DistributedSampler(TensorDataset(X[:80], Y[:80]))
train_loader = DataLoader(TensorDataset(X[:80], Y[:80]), 10, sampler=sampler)
dealt = TensorDataset(X[80:101], Y[80:101])
dealt_loader = DataLoader(dealt, 4, sampler=DistributedSampler(dealt, shuffle=False))
whole_loader = DataLoader(TensorDataset(X[101:120], Y[101:120]), 4)
first_loader = DataLoader(TensorDataset(X[120:], Y[120:]), 4)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
@torch.no_grad()
def count(net, loader):
    net.eval()
    return sum(torch.tensor([(net(x).argmax(1) == y).sum(), len(y)]) for x, y in loader)
for epoch in range(2):
    model.train(); sampler.set_epoch(epoch)
    for x, y in train_loader:
        optimizer.zero_grad(); F.cross_entropy(model(x), y).backward(); optimizer.step()
    dealt_counts = count(model, dealt_loader); dist.all_reduce(dealt_counts)
    counts = {"dealt": dealt_counts, "whole": count(model, whole_loader)}
    if rank == 0:
        counts["first"] = count(model.module, first_loader)
        for name, (right, n) in counts.items(): print(name, (right / n).item(), flush=True)
dist.destroy_process_group()
if rank == 0:
    right, n = count(model.module, first_loader); print("first", (right / n).item())
"""

STARTED = """\
import json, os, sys, torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import RandomSampler

def train(rank, method):
    global model  # there when the process ends
    torch.set_num_threads(1)
    dist.init_process_group("gloo", "file://" + os.path.abspath("meeting"), rank=rank, world_size=2)
    unseeded = torch.rand(1).item()
    generator = torch.Generator().manual_seed(7 + rank)
    orders = []
    for _ in range(2):
        state = generator.get_state(); dist.broadcast(state, 0); generator.set_state(state)
        orders.append(list(RandomSampler(range(20), generator=generator)))
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(6, 7), nn.Dropout(), nn.Linear(7, 2))
    model = fully_shard(model) if method == "fully_shard" else nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(2):
        model(torch.ones(4, 6) + rank).sum().backward(); optimizer.step(); optimizer.zero_grad()
    mask = torch.nn.functional.dropout(torch.ones(16)).tolist()
    os.write(1, json.dumps([rank, unseeded, orders, mask]).encode() + b"\\n")  # at once: two write to one pipe
    dist.destroy_process_group()

if __name__ == "__main__":
    torch.multiprocessing.spawn(train, (sys.argv[1],), nprocs=2)
"""

LIGHTNING = """\
import torch, lightning
from torch.utils.data import DataLoader, TensorDataset
torch.set_num_threads(1)
class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(6, 2)
    def training_step(self, batch, index):
        loss = self.net(batch[0]).square().mean()
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
lightning.Trainer(
    accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
).fit(Net(), DataLoader(TensorDataset(torch.ones(20, 6)), 5))
"""

ALONE = """\
import torch
model = torch.nn.Linear(2, 1); optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(2):
    optimizer.zero_grad(); model(torch.ones(3, 2)).sum().backward(); optimizer.step()
"""


@pytest.fixture(scope="module", autouse=True)
def _needs_processes() -> None:
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("this PyTorch has no gloo")


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory, deviate_in):  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "train.py").write_text(TRAIN)
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py")
    ran = deviate_in(folder)(
        "run", "--name", "ranks", "--runs", "1", "--capture", "predictions,weights", "--", *torchrun
    )
    assert ran.code == 0, ran.both
    (found,) = read(folder / ".deviate", ["ranks"])
    return found


def test_accuracies_of_all_examples_are_those_that_the_script_printed(experiment) -> None:  # type: ignore[no-untyped-def]
    captured = captured_of(experiment)
    (run,) = experiment.runs
    text = (run.artifacts[0].path.parents[1] / "stdout.log").read_text()
    printed = {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.MULTILINE)}
    accuracies = {it.name: (it.labels == it.truth).mean() for it in captured.sets}
    assert accuracies == pytest.approx(printed)
    # 21 examples are dealt out to two, one of them twice; a set that both go through counts once.
    assert {it.name: it.labels.shape[1] for it in captured.sets} == {"dealt": 22, "whole": 19, "first": 30}
    assert captured.reasons == ()
    (notes,) = [it.notes for it in captured.sets if it.name == "dealt"]
    assert notes[0].startswith("Outputs of 2 processes are combined")


def test_weights_are_those_of_one_process_also_where_the_group_is_no_more(experiment) -> None:  # type: ignore[no-untyped-def]
    kept = [it for it in experiment.runs[0].artifacts if it.kind == "weights"]
    assert {it.rank for it in kept} == {0}


def test_all_processes_have_one_limit_together(tmp_path: Path) -> None:
    child = Child(tmp_path, TRAIN)
    command = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py")
    # 1440 bytes of an evaluation, and as many of the one before it, fit into 4000 but not into the half of them.
    result = child.run(capture={"predictions": "on", "limit": "4000"}, command=command)
    assert (result.code, result.of("error")) == (0, [])
    assert {it[2] for it in result.of("not captured")} == {"the limit of what is captured of a run is reached"}


@dataclass(frozen=True)
class Started:
    """Two processes that the script started itself, and what each printed: by rank, without the rank."""

    result: Result
    unseeded: list[float]
    orders: list[list[list[int]]]
    masks: list[list[float]]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Started]:
    """Starts two processes that hold the model in one of two ways, once each; with one bit, and weights to be kept."""

    @functools.cache
    def start(method: str) -> Started:
        result = Child(tmp_path_factory.mktemp(method), STARTED).run(
            command=(sys.executable, "train.py", method),
            seeds=dict.fromkeys(STREAMS, 3),
            controls={"one-bit": "5"},
            capture={"weights": "on"},
            environment={"RANK": None, "WORLD_SIZE": None},
        )
        assert (result.code, result.of("error")) == (0, []), result.stderr
        printed = sorted(json.loads(line) for line in result.stdout.splitlines())
        _, unseeded, orders, masks = (list(column) for column in zip(*printed, strict=True))
        return Started(result, unseeded, orders, masks)

    return start


SLOW = pytest.mark.slow  # two processes that import PyTorch


@SLOW
def test_ranks_draw_alike_where_the_script_seeded_alike_or_gave_them_one_state(
    started: Callable[[str], Started],
) -> None:
    ran = started("fully_shard")
    assert ran.unseeded[0] != ran.unseeded[1]
    assert ran.masks[0] == ran.masks[1]
    (first, second), others = ran.orders
    assert [first, second] == others
    assert first != second


@SLOW
@pytest.mark.parametrize("method", ["fully_shard", "replicate"])
def test_the_rank_is_that_of_the_group_where_no_launcher_gave_one(
    started: Callable[[str], Started], method: str
) -> None:
    assert sorted(started(method).result.of("rank")) == [[0, 2], [1, 2]]


@SLOW
def test_processes_that_lightning_starts_have_ranks_and_the_first_one_tells_the_values_of_an_epoch(
    tmp_path: Path,
) -> None:
    pytest.importorskip("lightning")
    without_launcher = {"RANK": None, "WORLD_SIZE": None}
    result = Child(tmp_path, LIGHTNING).run(command=(sys.executable, "train.py"), environment=without_launcher)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert sorted(result.of("rank")) == [[0, 2], [1, 2]]
    assert [event[0] for event in result.of("named")] == ["loss", "loss"]


@SLOW
def test_one_bit_is_flipped_in_all_replicas_and_they_stay_equal(started: Callable[[str], Started]) -> None:
    result = started("replicate").result
    first, second = result.of("flip")
    assert first == second
    assert len(result.of("weights")) == 2
    assert len({digest for _, _, digest, _ in result.of("weights")}) == 1


@SLOW
def test_one_bit_is_flipped_by_the_process_that_holds_the_element(started: Callable[[str], Started]) -> None:
    result = started("fully_shard").result
    assert len(result.of("flip")) == 1
    assert len({digest for _, _, digest, _ in result.of("weights")}) == 2


@SLOW
def test_weights_that_no_process_holds_as_a_whole_are_refused_and_others_kept(
    started: Callable[[str], Started],
) -> None:
    divided, whole = started("fully_shard").result, started("replicate").result
    assert divided.of("artifact") == []
    ((kind, _, reason),) = divided.of("not captured")
    assert (kind, reason.partition(";")[0]) == ("weights", "they are divided between 2 processes")
    assert [event[1] for event in whole.of("artifact")] == ["exit"]


@pytest.mark.parametrize("left", [{"RANK": "3"}, {"RANK": "3", "WORLD_SIZE": "2"}, {"RANK": "one"}])
def test_a_variable_that_no_launcher_set_does_not_make_a_process_one_of_several(
    tmp_path: Path, left: dict[str, str | None]
) -> None:
    child = Child(tmp_path, ALONE)
    result = child.run(capture={"predictions": "on", "weights": "on"}, environment={"WORLD_SIZE": None, **left})
    assert (result.code, result.of("error")) == (0, [])
    assert [event[1] for event in result.of("artifact")] == ["exit"]
