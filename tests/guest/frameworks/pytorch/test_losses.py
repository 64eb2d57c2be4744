"""PyTorch: labels that nothing but a loss is given are those of the output that it is computed of."""

from pathlib import Path

import numpy as np
import pytest
from capturing import kept
from varied import Script

CASES = """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.functional import mse_loss
torch.manual_seed(0)
X = torch.randn(60, 6); Y = (X[:, 0] > 0).long() + (X[:, 1] > 1).long()
def take(n): return X[n : n + 10] * 1.0, Y[n : n + 10] * 1
def fitted(model, loss):
    opt = torch.optim.SGD(model.parameters(), 0.1)
    model.train(); opt.zero_grad(); loss(model(X)).backward(); opt.step()
    return model.eval()
def test_classes():
    model = fitted(nn.Linear(6, 3), lambda out: F.cross_entropy(out, Y)); criterion = nn.CrossEntropyLoss(); right = 0
    for n in (0, 10, 20):
        a, b = take(n)
        with torch.no_grad(): found = model(a); criterion(found, b); right += (found.argmax(1) == b).sum().item()
    print("test", right / 30)
class Log(nn.Linear):
    def forward(self, x): return super().forward(x).log_softmax(-1)
def log_likelihoods(split="val"):
    model = fitted(Log(6, 3), lambda out: F.nll_loss(out, Y)); a, b = take(5)
    with torch.inference_mode(): found = model(a); F.nll_loss(found, b)
    print("val", (found.argmax(1) == b).sum().item() / 10)
def places(split="dev"):
    model = fitted(nn.Sequential(nn.Linear(6, 8), nn.Unflatten(1, (2, 4))), lambda out: out.square().mean())
    a, b = take(0); c = torch.stack([b, b + 1], 1)
    found = model(a); F.cross_entropy(found.view(-1, 4), c.view(-1))
    print("dev", (found.argmax(-1) == c).float().mean().item())
def values(split="holdout"):
    model = fitted(nn.Linear(6, 1), lambda out: F.mse_loss(out.squeeze(1), Y * 1.0)); a, b = take(7)
    with torch.inference_mode(): print("holdout", mse_loss(model(a).squeeze(1), b * 1.0).item())
def same(split="testing"):
    model = fitted(nn.Linear(6, 6), lambda out: F.mse_loss(out, X)); a, b = take(3)
    F.mse_loss(model(a), a)
    def scripted(a, b): return F.mse_loss(a, b)
    print("script", torch.jit.script(scripted)(a, a + 1).item(), torch.jit.trace(scripted, (a, a))(a, a + 1).item())
for case in (test_classes, log_likelihoods, places, values, same): case()
fitted(nn.Linear(6, 3), lambda out: F.cross_entropy(out, Y))
print([type(it).__name__ for it in (torch._C._nn.mse_loss, torch.binary_cross_entropy_with_logits)])
"""


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def test_labels_are_what_a_loss_is_given_beside_the_output(tmp_path: Path) -> None:
    run = kept(tmp_path, Script(CASES, "").child)
    assert run.on.stdout == run.off.stdout, "PyTorch is as it was once the evaluation is over, also to its compiler"
    for name in ("test", "val"):
        assert run.accuracy(name) == run.printed(name), name
    assert run.accuracy("dev") == pytest.approx(run.printed("dev"))
    arrays = run.arrays("holdout")
    error = np.mean((arrays["outputs"].squeeze(1) - arrays["truth"]) ** 2)
    assert error == pytest.approx(run.printed("holdout"))
    assert "truth" not in run.arrays("testing"), "an input is no label of itself"
