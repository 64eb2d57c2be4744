"""Processes that PyTorch/XLA starts are followed in the thread in which they train, and their values count once."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from deviate.model.records import Run
from deviate.records.experiments import read_variants

SCRIPT = """\
import sys

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from torch_xla.distributed.parallel_loader import MpDeviceLoader


def main(index):
    torch.manual_seed(1)
    x = torch.randn(32, 8)
    y = (x.sum(1) > 0).long()
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, xr.world_size(), xr.global_ordinal())
    device = torch_xla.device()
    loader = MpDeviceLoader(DataLoader(data, batch_size=8, sampler=sampler), device)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        model.train()
        sampler.set_epoch(epoch)
        for rows, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(rows), labels)
            loss.backward()
            if "alone" in sys.argv:
                optimizer.step()
            else:
                xm.optimizer_step(optimizer)
        print(f"epoch {epoch} loss {loss.item():.4f}")
        model.eval()
        with torch.no_grad():
            n_right = (model(x.to(device)).argmax(1) == y.to(device)).sum()
        xm.master_print(f"test_acc {n_right.item() / 32:.4f}")
    xm.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    torch_xla.launch(main)
"""


def run_all(root: Path, deviate_in: Callable, variants: str, *words: str) -> Mapping[str, Run]:
    """The run of each variant."""
    (root / "train.py").write_text(SCRIPT)
    answer = deviate_in(root)("run", "--name", "it", "--runs", "1", "--variants", variants, *words)
    assert answer.code == 0, answer.both
    experiments = read_variants(root / ".deviate", "it")
    return {experiment.variant: experiment.runs[0] for experiment in experiments}


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory, deviate_in: Callable) -> Mapping[str, Run]:
    """The run of each variant, trained in a process that `torch_xla.launch` has started."""
    return run_all(tmp_path_factory.mktemp("launched"), deviate_in, "control,init,shuffle,dropout", "train.py")


def test_values_weights_and_data_of_a_launched_process_are_recorded(launched: Mapping[str, Run]) -> None:
    run = launched["control"]
    assert {name: len(series.values) for name, series in run.series.items()} == {"loss": 3, "test_acc": 3}
    assert [weights.moment for weights in run.weights] == ["loop"]  # the model ends with its function
    assert [evaluation.n_examples for evaluation in run.evaluation] == [32]
    assert (run.uncontrolled, run.warnings) == ((), ())


def test_each_stream_of_a_launched_process_changes_its_training(launched: Mapping[str, Run]) -> None:
    digests = {variant: run.weights[0].digest for variant, run in launched.items()}
    assert len(set(digests.values())) == 4, digests
    drawn = {stream for streams in launched["control"].draws.values() for stream in streams}
    assert drawn >= {"init", "shuffle", "dropout"}


def test_threads_of_several_devices_are_reported_as_not_routed(
    tmp_path: Path, deviate_in: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CPU_NUM_DEVICES", "2")
    run = run_all(tmp_path, deviate_in, "control", "train.py", "--", "alone")["control"]
    assert run.uncontrolled == ("draws in threads of several devices of one process (train.py:14)",)


def test_of_two_processes_of_torchrun_the_first_one_counts(tmp_path: Path, deviate_in: Callable) -> None:
    script = SCRIPT.replace("torch_xla.launch(main)", "main(0)")
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text(script)
    launcher = ("python", "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py")
    answer = deviate_in(root)("run", "--name", "it", "--runs", "1", "--variants", "control", "--", *launcher)
    assert answer.code == 0, answer.both
    (experiment,) = read_variants(root / ".deviate", "it")
    (run,) = experiment.runs
    assert {name: len(series.values) for name, series in run.series.items()} == {"loss": 3, "test_acc": 3}
