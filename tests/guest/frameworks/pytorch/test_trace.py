"""PyTorch: a trace tells what was computed, step by step, and the program computes the same bits without it."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

MODELS = """\
import contextlib, gc, hashlib, random, sys, warnings
import numpy, torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
torch.set_num_threads(1)
X, Y = torch.randn(24, 1, 6, 6, generator=torch.Generator().manual_seed(5)), torch.arange(24) % 3

def state(*modules):
    found = hashlib.sha256()
    for module in modules:
        for tensor in module.state_dict().values(): found.update(tensor.detach().numpy().tobytes())
    for own in (torch.get_rng_state().numpy().tobytes(), repr(random.getstate()), repr(numpy.random.get_state())):
        found.update(own if isinstance(own, bytes) else own.encode())
    return found.hexdigest()
def losses(model, n=3, make=lambda model: torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)):
    opt = make(model)
    for x, y in DataLoader(TensorDataset(X, Y), 24 // n, shuffle=True):
        opt.zero_grad(); loss = F.cross_entropy(model(x), y); loss.backward(); opt.step()
        yield loss

class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.act = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True)
        self.drop, self.head = nn.Dropout(0.3), nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    def forward(self, x): return self.head(self.drop(self.act(self.norm(self.conv(x)))))
def convolution():
    model = Convolution(); told = [float(loss) for loss in losses(model)]
    model.eval()
    with torch.inference_mode(): print(model(X).sum().item())
    with torch.no_grad(): print(model(X[:2]).sum().item(), told)
    return model,

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.lstm = nn.MultiheadAttention(6, 2, batch_first=True), nn.LSTM(6, 4, batch_first=True)
        self.block, self.head = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Dropout(0.1)), nn.Linear(4, 3)
    def forward(self, x):
        x = x[:, 0]; x = x + self.attention(x, x, x)[0]
        x, _ = self.lstm(x); x = self.block(self.block(x))
        for way in (False, True): x = checkpoint(self.block, x, use_reentrant=way)
        view = x.transpose(1, 2); view[:, 0].mul_(2)
        return {"logits": self.head(x[:, -1]), "hidden": x}
def attention():
    model = Attention(); opt = torch.optim.AdamW(model.parameters())
    for step in range(3):
        out = model(X); loss = F.cross_entropy(out["logits"], Y); loss.backward(); opt.step(); opt.zero_grad()
    print(loss.item()); return model,

class Generator(nn.Linear): pass
class Discriminator(nn.Linear): pass
def gan():
    g, d = Generator(4, 36), Discriminator(36, 1)
    og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    for step in range(2):
        fake = g(torch.randn(8, 4)); od.zero_grad()
        (F.softplus(d(fake.detach())).mean() + F.softplus(-d(X[:8].flatten(1))).mean()).backward(); od.step()
        og.zero_grad(); loss = F.softplus(-d(fake)).mean(); loss.backward(); og.step()
    print(loss.item()); return g, d

class Accumulated(nn.Sequential): pass
def accumulation():
    model = Accumulated(nn.Flatten(), nn.Linear(36, 8), nn.Tanh(), nn.Linear(8, 3))
    model[1].requires_grad_(False)
    opt = torch.optim.SGD([it for it in model.parameters() if it.requires_grad], 0.1)
    for step in range(4):
        x, y = X[6 * step : 6 * step + 6], Y[6 * step : 6 * step + 6]
        (F.cross_entropy(model(x), y) / 2).backward()
        if step % 2:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1); opt.step(); opt.zero_grad()
    return model,

class Manual(nn.Linear): pass
def manual():
    model = Manual(36, 3)
    for step in range(3):
        loss = F.mse_loss(model(X.flatten(1)), F.one_hot(Y, 3).float()); loss.backward()
        for weight in model.parameters(): weight.data -= 0.1 * weight.grad; weight.grad = None
    gradients = torch.autograd.grad(model(X.flatten(1)).square().mean(), list(model.parameters()))
    with torch.no_grad():
        for weight, gradient in zip(model.parameters(), gradients): weight -= 0.1 * gradient
    return model,

def bare():
    w = torch.zeros(36, 3, requires_grad=True); opt = torch.optim.SGD([w], 0.1)
    for step in range(2):
        opt.zero_grad(); loss = F.cross_entropy(X.flatten(1) @ w, Y); loss.backward(); opt.step()
    print(loss.item()); return ()

class Closure(nn.Linear): pass
def closure():
    model = Closure(36, 3); opt = torch.optim.LBFGS(model.parameters(), max_iter=3)
    def again():
        opt.zero_grad(); loss = F.cross_entropy(model(X.flatten(1)), Y); loss.backward(); return loss
    for step in range(2): opt.step(again)
    return model,

class Scaled(nn.Linear): pass
def scaled():
    model = Scaled(36, 3); opt = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for step in range(3):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16): loss = F.cross_entropy(model(X.flatten(1)), Y)
        if step == 1: loss = loss * float("inf")
        scaler.scale(loss).backward(); scaler.step(opt); scaler.update()
    return model,

class Each(nn.Sequential): pass
def each():
    model = Each(nn.Flatten(), nn.Linear(36, 8), nn.Linear(8, 3))
    own = {weight: torch.optim.SGD([weight], 0.1) for weight in model.parameters()}
    for weight in model.parameters(): weight.register_post_accumulate_grad_hook(lambda it: own[it].step())
    for step in range(2):
        model.zero_grad(); F.cross_entropy(model(X), Y).backward()
    return model,

class Strange(nn.Linear): pass
def strange():
    model = Strange(36, 3); weights = dict(model.named_parameters()); x = X.flatten(1)
    def loss(weights, x, y): return F.cross_entropy(torch.func.functional_call(model, weights, (x[None],)), y[None])
    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, x, Y)
    print(each["bias"].sum().item())
    traced, scripted = torch.jit.trace(model, x), torch.jit.script(model)
    print(traced(x).sum().item(), scripted(x).sum().item(), traced.graph is not None)
    meta = Strange(36, 3).to("meta"); print(meta(torch.empty(2, 36, device="meta")).shape)
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode() as mode: print(Strange(36, 3)(torch.empty(2, 36)).shape)
    sparse = nn.Embedding(5, 3, sparse=True); opt = torch.optim.SGD(sparse.parameters(), 0.1)
    sparse(torch.tensor([1, 2, 2])).sum().backward(); opt.step()
    lazy = nn.LazyLinear(2); whole = nn.Sequential(nn.Flatten(), lazy, nn.Linear(2, 3))
    list(losses(whole, make=lambda it: torch.optim.SGD(it[2:].parameters(), 0.1)))
    class Seen(torch.overrides.TorchFunctionMode):
        calls = 0
        def __torch_function__(self, function, types, args=(), kwargs=None):
            Seen.calls += 1; return function(*args, **(kwargs or {}))
    with Seen(): model(x).sum().backward()
    print(Seen.calls)
    return model, sparse, lazy

if __name__ == "__main__":
    for own in (convolution, attention, gan, accumulation, manual, bare, closure, scaled, each, strange):
        torch.manual_seed(3); random.seed(3); numpy.random.seed(3)
        print(own.__name__, state(*own())); gc.collect()
"""

Records = list[list]


def traces(child: Child) -> list[Records]:
    """What the processes of a run told, by rank."""
    files = (child.folder / "attempt-1" / "artifacts").glob("trace-*.jsonl")
    found = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    return sorted(found, key=lambda lines: lines[0][2]["rank"])


def steps(records: Records) -> list[Records]:
    """Records by step, without what is no record."""
    found: list[Records] = [[]]
    for record in records:
        if record[0] == "step":
            found.append([])
        elif len(record) == 6:
            found[-1].append(record)
    return found


def run(folder: Path, text: str, level: int, *arguments: str, **options: str) -> tuple[Result, list[Records]]:
    child = Child(folder, text)
    capture = {"trace": str(level), **{f"trace-{key}": value for key, value in options.items()}} if level else {}
    result = child.run(*arguments, capture=capture)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result, traces(child)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], tuple[Result, list[Records]]]:
    """`models(level)` runs the models, once at each level; 0 for no trace."""
    known: dict[int, tuple[Result, list[Records]]] = {}

    def at(level: int) -> tuple[Result, list[Records]]:
        if level not in known:
            known[level] = run(tmp_path_factory.mktemp(f"level-{level}"), MODELS, level)
        return known[level]

    return at


def of(records: Records, kind: str, name: str = "") -> Records:
    return [it for it in records if it[0] == kind and it[1].startswith(name)]


def names(records: Records, kind: str, name: str = "") -> list[str]:
    return [it[1] for it in of(records, kind, name)]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_traced_run_is_bitwise_the_run_without(models, level: int) -> None:
    assert models(level)[0].stdout == models(0)[0].stdout
    assert models(0)[1] == []
    assert len(models(level)[1]) == 1


def test_a_level_records_what_those_below_it_do(models) -> None:
    kinds = {
        1: {"loss"},
        2: {"state", "batch", "weights", "forward", "gradient", "update"},
        3: {"module", "module-gradient"},
    }
    below: set[str] = set()
    for level, own in kinds.items():
        below |= own
        records = [it for it in models(level)[1][0] if len(it) == 6]
        assert {it[0] for it in records} == below
        beneath = [it for it in models(3)[1][0] if len(it) == 6 and it[0] in below]
        assert [it[:4] for it in records] == [it[:4] for it in beneath]


def test_a_step_is_the_step_of_an_optimizer(models) -> None:
    told = steps(models(3)[1][0])
    first = told[0]
    kinds = list(dict.fromkeys(it[0] for it in first))
    assert kinds == [
        "state", "weights", "batch", "module", "forward", "loss", "module-gradient", "gradient", "update"
    ]  # fmt: skip
    assert names(first, "batch") == ["input", "target"]
    assert len(of(first, "batch", "input")[0][5]["rows"]) == 8
    assert names(first, "module") == ["conv", "norm", "act", "drop", "head.0", "head.1", "head"]
    assert names(first, "module-gradient") == [
        "Convolution", "head", "head.1", "head.0", "drop", "act", "norm", "conv"
    ]  # fmt: skip
    weights = ["conv.weight", "conv.bias", "norm.weight", "norm.bias", "head.1.weight", "head.1.bias"]
    assert names(first, "gradient") == weights
    buffers = [f"norm.{it}" for it in ("running_mean", "running_var", "num_batches_tracked")]
    assert names(first, "update") == names(first, "weights") == weights + buffers


def test_each_optimizer_of_several_ends_a_step_with_its_own_weights(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "Generator") or of(it, "update", "Discriminator")]
    assert [names(it, "update") for it in told] == [
        ["Discriminator.weight", "Discriminator.bias"], ["Generator.weight", "Generator.bias"]
    ] * 2  # fmt: skip
    assert len(of(told[0], "weights", "Generator")) == len(of(told[0], "weights", "Discriminator")) == 2


def test_gradients_that_accumulate_are_recorded_when_they_are_used(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "Accumulated")]
    assert [len(of(it, "loss")) for it in told] == [2, 2]
    assert [names(it, "gradient") for it in told] == [["Accumulated.3.weight", "Accumulated.3.bias"]] * 2
    assert len(of(told[0], "weights", "Accumulated.1")) == 2  # what is frozen has weights, and nothing else


def test_a_program_without_optimizers_ends_a_step_before_its_next_forward_pass(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "Manual")]
    assert [len(of(it, "loss")) for it in told] == [1] * len(told)
    assert [names(it, "gradient") for it in told] == [["Manual.weight", "Manual.bias"]] * len(told)
    assert len(told) == 3
    gradient = of(told[0], "gradient")[0]
    assert gradient[2] != of(told[0], "update")[0][2] != of(told[0], "weights")[0][2]


def test_weights_that_no_module_has_are_named_by_their_optimizer(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "optimizer")]
    assert [names(it, "gradient") for it in told[:2]] == [["optimizer.0.0"]] * 2
    assert names(told[0], "weights") == ["optimizer.0.0"]


def test_an_optimizer_that_computes_the_loss_itself_takes_one_step(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "Closure")]
    assert len(told) == 2
    assert all(len(of(it, "loss")) > 1 and len(of(it, "gradient")) == 2 for it in told)


def test_a_step_that_a_scaler_skips_is_none(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "Scaled")]
    assert [len(of(it, "loss")) for it in told] == [1, 2]


def test_optimizers_that_step_in_the_backward_pass_take_one_step_together(models) -> None:
    told = [it for it in steps(models(2)[1][0]) if of(it, "update", "Each")]
    assert [len(of(it, "update")) for it in told] == [4, 4]


def test_several_outputs_of_a_module_have_records_of_their_own(models) -> None:
    told = next(it for it in steps(models(3)[1][0]) if of(it, "module", "Attention"))
    assert names(told, "module", "Attention.attention") == ["Attention.attention", "Attention.attention[1]"]
    assert names(told, "forward")[-2:] == ["output.logits", "output.hidden"]
    assert names(told, "module", "Attention.block").count("Attention.block") == 4  # of two calls, and two checkpoints


@pytest.mark.slow
def test_compiled_modules_are_traced_as_a_whole(tmp_path: Path) -> None:
    text = MODELS.partition("if __name__")[0] + (
        "torch.manual_seed(0); random.seed(0); numpy.random.seed(0)\n"
        "model = torch.compile(Convolution(), backend='eager')\n"
        "print([it.item() for it in losses(model)], state(model))\n"
    )
    plain, _ = run(tmp_path / "plain", text, 0)
    traced, [records] = run(tmp_path / "traced", text, 3)
    assert traced.stdout == plain.stdout
    assert names(records, "gradient")[:2] == ["conv.weight", "conv.bias"]
    assert len([it for it in records if it[0] == "ends" and it[1:3] == ["torch", 2]]) == 1
    assert not of(records, "module")


INJECTED = """\
import os, torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
FACTOR, IS_SECOND = 1 + 1e-7, os.environ["DEVIATE_REPLICATE"] == "1"
X, Y = torch.randn(48, 6, generator=torch.Generator().manual_seed(5)), torch.arange(48) % 3
class Layer(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        if at("layer"): y = y * FACTOR
        if at("backward"): y.register_hook(lambda gradient: gradient * FACTOR)
        return y
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.body, self.head = nn.Linear(6, 16), Layer(16, 16), nn.Linear(16, 3)
    def forward(self, x):
        x = self.body(torch.tanh(self.stem(x)))
        return self.head(F.dropout(torch.tanh(x), 0.1))
def at(wanted): return IS_SECOND and step == 3 and wanted == kind
for kind in ("input", "layer", "backward", "gradient", "lr", "weight", "order", "draw", "initial"):
    torch.manual_seed(1); step = -1
    model = Net(); opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    if IS_SECOND and kind == "initial": model.head.bias.data[0] *= FACTOR
    for step, (x, y) in enumerate(DataLoader(TensorDataset(X, Y), 8, shuffle=True)):
        if at("input"): x = x * FACTOR
        if at("order"): x, y = x[[1, 0, *range(2, 8)]], y[[1, 0, *range(2, 8)]]
        if at("draw"): torch.rand(1)
        opt.zero_grad(); loss = F.cross_entropy(model(x), y); loss.backward()
        if at("gradient"): model.body.weight.grad *= FACTOR
        if at("lr"): opt.param_groups[0]["lr"] *= FACTOR
        opt.step()
        if at("weight"): model.stem.weight.data *= FACTOR
    del opt
"""
FIRST = {
    "input": (3, "batch", "input"),
    "layer": (3, "module", "body"),
    "backward": (3, "module-gradient", "body"),
    "gradient": (3, "gradient", "body.weight"),
    "lr": (3, "update", ""),
    "weight": (4, "module", "stem"),
    "order": (3, "batch", "input"),
    "draw": (3, "state", "torch"),
    "initial": (0, "weights", "head.bias"),
}


@pytest.mark.slow
def test_what_was_injected_is_the_first_record_that_differs(tmp_path: Path) -> None:
    sides = []
    for replicate in "01":
        child = Child(tmp_path / replicate, INJECTED)
        result = child.run(capture={"trace": "3"}, environment={"DEVIATE_REPLICATE": replicate})
        assert (result.code, result.of("error")) == (0, []), result.stderr
        sides.append(steps(traces(child)[0]))
    for number, (kind, (step, of_kind, name)) in enumerate(FIRST.items()):
        first, second = (side[6 * number : 6 * number + 6] for side in sides)
        pairs = [(at, one, other) for at in range(6) for one, other in zip(first[at], second[at], strict=False)]
        at, one, other = next((at, one, other) for at, one, other in pairs if one[:4] != other[:4])
        assert (at, one[0], one[:2]) == (step, of_kind, other[:2]), kind
        assert re.sub(r"^Net\d*\.", "", one[1]).startswith(name), (kind, one)
        if kind == "order":
            assert sorted(one[5]["rows"]) == sorted(other[5]["rows"]) != one[5]["rows"]
        if kind == "input":
            assert set(one[5]["rows"]).isdisjoint(other[5]["rows"])


RANKS = """\
import os, torch, torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
torch.set_num_threads(1)
class Data(TensorDataset):
    def __getitem__(self, index):
        with torch.no_grad(): return layer(super().__getitem__(index)[0]), index % 3
layer = nn.Linear(6, 6)
if __name__ == "__main__":
    dist.init_process_group("gloo"); rank = dist.get_rank(); torch.manual_seed(0)
    nn.init.eye_(layer.weight); nn.init.zeros_(layer.bias)
    data = Data(torch.randn(32, 6, generator=torch.Generator().manual_seed(1)))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)))
    opt = torch.optim.SGD(model.parameters(), 0.1)
    loader = DataLoader(data, 4, sampler=DistributedSampler(data), num_workers=2, multiprocessing_context="fork")
    for step, (x, y) in enumerate(loader):
        if os.environ["DEVIATE_REPLICATE"] == "1" and (rank, step) == (1, 2): x = x * (1 + 1e-7)
        opt.zero_grad(); F.cross_entropy(model(x), y).backward(); opt.step()
    dist.destroy_process_group()
"""


@pytest.mark.slow
def test_each_rank_has_a_trace_and_the_one_that_parts_first_shows(tmp_path: Path) -> None:
    sides = []
    for replicate in "01":
        child = Child(tmp_path / replicate, RANKS)
        command = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py")
        result = child.run(capture={"trace": "3"}, environment={"DEVIATE_REPLICATE": replicate}, command=command)
        assert (result.code, result.of("error")) == (0, []), result.stderr
        sides.append([steps(records) for records in traces(child)])
    assert [len(side) for side in sides] == [2, 2]
    firsts = []
    for first, second in zip(*sides, strict=True):
        pairs = [(at, one, other) for at in range(4) for one, other in zip(first[at], second[at], strict=False)]
        firsts.append(next((at, *one[:2]) for at, one, other in pairs if one[:4] != other[:4]))
    assert firsts == [(2, "gradient", "0.weight"), (2, "batch", "input")]
    assert not any(it[1] == "Linear" for rank in sides[0] for step in rank for it in step)  # the loader's own layer
