"""Weights, evaluations, predictions and the one bit on an XLA device are those on the CPU, byte for byte."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deviate.model.records import Run
from deviate.records.experiments import read_variants

SCRIPT = """\
import hashlib
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cpu")
if os.environ["WHERE"] == "xla":
    import torch_xla

    device = torch_xla.device()
torch.manual_seed(1)
x = torch.randn(64, 8)
y = (x.sum(1) > 0).long()
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[:24], y[:24]), batch_size=8)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)
        self.last = nn.Linear(8, 2)
        self.register_buffer("scale", torch.ones(8))

    def forward(self, rows):
        return self.last(F.relu(self.second(F.relu(self.first(rows * self.scale)))))


model = Network().to(device)
model.second.weight = model.first.weight
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
for epoch in range(2):
    model.train()
    for rows, labels in train:
        optimizer.zero_grad()
        F.cross_entropy(model(rows.to(device)), labels.to(device)).backward()
        optimizer.step()
        if device.type == "xla":
            torch_xla.sync()
    model.eval()
    n_right = 0
    with torch.no_grad():
        for rows, labels in test:
            n_right += (model(rows.to(device)).argmax(1) == labels.to(device)).sum()
    print(f"epoch {epoch} test_acc {n_right.item() / 24:.4f}")
bytes_ = b"".join(value.cpu().numpy().tobytes() for value in model.state_dict().values())
print("weights on the device", hashlib.sha256(bytes_).hexdigest())
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, deviate_in: Callable) -> dict[tuple[str, str], Run]:
    """The run of each device and variant, with all that can be kept."""
    runs = {}
    for where in ("cpu", "xla"):
        root = tmp_path_factory.mktemp(where)
        (root / "train.py").write_text(SCRIPT)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WHERE", where)
            words = ("--runs", "1", "--variants", "control,one-bit", "--capture", "predictions,weights")
            answer = deviate_in(root)("run", "train.py", "--name", "it", *words)
        assert answer.code == 0, answer.both
        for experiment in read_variants(root / ".deviate", "it"):
            runs[where, experiment.variant] = experiment.runs[0]
    return runs


def arrays(run: Run, kind: str) -> dict[str, np.ndarray]:
    """Those of the last file of this kind."""
    with np.load([file.path for file in run.artifacts if file.kind == kind][-1]) as archive:
        return dict(archive)


def printed_hash(run: Run) -> str:
    (digest,) = re.findall("weights on the device (.+)", Path(run.folder, "stdout.log").read_text())
    return digest


def test_weights_and_evaluations_have_the_hashes_that_they_have_on_the_cpu(runs: dict[tuple[str, str], Run]) -> None:
    for variant in ("control", "one-bit"):
        on_cpu, on_xla = runs["cpu", variant], runs["xla", variant]
        assert on_cpu.weights
        assert on_xla.weights == on_cpu.weights
        assert on_xla.evaluation == on_cpu.evaluation
        assert [item.n_examples for item in on_xla.evaluation] == [24]


def test_the_bit_is_flipped_in_the_weight_on_the_device(runs: dict[tuple[str, str], Run]) -> None:
    control, flipped = runs["xla", "control"], runs["xla", "one-bit"]
    (flip,) = flipped.flips
    assert (flip,) == runs["cpu", "one-bit"].flips
    before, after = arrays(control, "weights"), arrays(flipped, "weights")
    changed = [(name, tuple(index)) for name in before for index in np.argwhere(before[name] != after[name]).tolist()]
    assert [index for _, index in changed] == [flip.index]
    assert after[changed[0][0]][flip.index] == np.float32(flip.after)
    assert printed_hash(flipped) == printed_hash(runs["cpu", "one-bit"])
    assert printed_hash(flipped) != printed_hash(control)


def test_predictions_are_kept_with_their_examples_and_labels(runs: dict[tuple[str, str], Run]) -> None:
    on_cpu, on_xla = arrays(runs["cpu", "control"], "predictions"), arrays(runs["xla", "control"], "predictions")
    assert on_xla.keys() == on_cpu.keys()
    for name in on_cpu.keys() - {"outputs"}:
        assert np.array_equal(on_xla[name], on_cpu[name]), name
    np.testing.assert_allclose(on_xla["outputs"], on_cpu["outputs"], rtol=1e-5, atol=1e-6)
    assert runs["xla", "control"].not_captured == ()
