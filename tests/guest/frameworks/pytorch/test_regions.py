"""PyTorch: regions follow modules wherever they go, and compilers, tracers and recomputation see none of them."""

from pathlib import Path

import pytest
from varied import Script, seeds


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def varying(folder: Path, text: str, *streams: str) -> dict[str, set[str]]:
    """For each stream the names of the lines that are others when it varies. A script prints `name value`."""
    script = Script(text, main_loop="")
    held = script.run(folder / "held", seeds()).stdout.splitlines()
    found: dict[str, set[str]] = {}
    for stream in streams:
        lines = script.run(folder / stream, seeds(**{stream: 1})).stdout.splitlines()
        found[stream] = {a.split()[0] for a, b in zip(held, lines, strict=True) if a != b}
    return found


WHERE = """\
import torch
from torch import nn

class Noise(nn.Module):
    def forward(self, x):
        return x + torch.rand(1)

class Compose(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.own = float(torch.rand(1))
    def forward(self, x):
        return self.parts[0](x)

class Late(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.kept = nn.Linear(2, 2)
    def forward(self, x):
        made = nn.Linear(2, 2, bias=False)
        return torch.rand(1), made.weight

torch.manual_seed(0)
zero = torch.zeros(1)
print("transform", Noise()(zero).item())
print("transforms", nn.Sequential(Noise(), nn.Identity())(zero).item())
print("composed", Compose(Noise())(zero).item())
print("constructed", Compose().own)
print("dropout", nn.Dropout(0.5)(torch.ones(64)).tolist())
lazy = nn.LazyLinear(2)
lazy(torch.ones(2, 3))
print("lazy", lazy.weight.tolist())
print("initialiser", nn.init.xavier_uniform_(torch.empty(2, 2)).tolist())
attention = nn.MultiheadAttention(4, 2)
attention._reset_parameters()
print("attention", attention.in_proj_weight.sum().item())
late = Late()
print("forward", late(torch.zeros(2))[0].item())
print("inside", late(torch.zeros(2))[1].tolist())
print("rest", torch.rand(1).item(), torch.rand(1, generator=torch.Generator()).item())
g = torch.Generator()
print("given", nn.init.normal_(torch.empty(2), generator=g).tolist())
with torch.random.fork_rng():
    torch.manual_seed(4)
    print("forked", torch.rand(1).item())
    print("forked-init", nn.Linear(2, 2).weight.tolist())
print("next", torch.rand(1).item())
print("generator", torch.default_generator.get_state().sum().item())
"""


def test_each_draw_belongs_to_the_outermost_region_around_it(tmp_path: Path) -> None:
    initial = {"constructed", "lazy", "initialiser", "attention", "inside", "given", "forked-init"}
    assert varying(tmp_path, WHERE, "init", "dropout", "augment", "other") == {
        "init": initial,
        "dropout": {"dropout", "forward"},
        "augment": {"transform", "transforms", "composed"},
        "other": {"rest", "forked", "next", "generator"},
    }


AS_EVER = """\
import copy, inspect, pickle
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self, n: int = 4, *, p: float = 0.5):
        super().__init__()
        self.linear, self.dropout = nn.Linear(n, n), nn.Dropout(p)
    def forward(self, x):
        return self.dropout(self.linear(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.reentrant = Block(), None
    def forward(self, x):
        if self.reentrant is None:
            return self.block(x)
        return checkpoint(self.block, x, use_reentrant=self.reentrant)

print(inspect.signature(Block), inspect.signature(Block.__init__), inspect.signature(Block(2).__init__))
print(inspect.getsource(Block.__init__).split(":")[0], type(Block.__init__).__name__, Block.__mro__)
print(type(pickle.loads(pickle.dumps(Block.__dict__["__init__"]))).__name__)
net, x = Net(), torch.rand(64, 4)
slopes = []
for net.reentrant in (None, True, False):
    torch.manual_seed(1)
    net.zero_grad()
    net(x.clone().requires_grad_()).sum().backward()
    slopes.append(net.block.linear.weight.grad.clone())
print("recomputed", [torch.equal(slope, slopes[0]) for slope in slopes])

def mask():
    return net.block.dropout(torch.ones(64))
state = torch.get_rng_state()
first = mask()
torch.set_rng_state(state)
print("brought back", torch.equal(first, mask()), torch.equal(first, mask()))
forked = []
for _ in range(2):
    with torch.random.fork_rng():
        torch.manual_seed(9)
        forked.append(torch.cat([mask(), nn.Linear(2, 2).weight.detach().flatten()]))
state = torch.get_rng_state()
after = mask()
torch.set_rng_state(state)
with torch.random.fork_rng():
    mask()
print("forked", torch.equal(*forked), torch.equal(after, mask()))

net.reentrant = None
masks = []
for call in (torch.compile(net, backend="eager"), torch.compile(net, backend="aot_eager", fullgraph=True), net):
    torch.manual_seed(1)
    masks.append(call(x) == 0)
print("compiled", torch.equal(masks[0], masks[2]), masks[1].shape)
step = torch.compile(lambda x: net.block(x)[:, torch.randperm(4)], backend="eager", fullgraph=True)
print(step(x).shape)

@torch.jit.script
def permuted(n: int):
    return torch.randperm(n)

print(sorted(permuted(4).tolist()), torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.Dropout()))(x).shape)
print(torch.jit.trace(copy.deepcopy(net.block).eval(), x).graph)
print(torch.fx.symbolic_trace(net.block).code, type(torch.export.export(net.block.linear, (x,))).__name__)
g = torch.Generator().manual_seed(3)
twin, plain = copy.deepcopy(g), pickle.loads(pickle.dumps(g))
for other in (twin, plain):
    print(torch.equal(torch.rand(3, generator=other), torch.rand(3, generator=g.clone_state())))
print(isinstance(torch.default_generator, torch.Generator), isinstance(g, torch._C.Generator))
print(issubclass(type(g), torch.Generator), issubclass(torch._C.Generator, torch.Generator))
with torch.device("meta"):
    print("on", torch.rand(2).device, torch.randperm(2).device, torch.randint(2, (2,)).device)
print(torch.Generator().initial_seed(), g.initial_seed(), g.device, torch.Generator("cpu").device)
try:
    g.manual_seed("a")
except RuntimeError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_program_with_regions_does_what_it_does_without(tmp_path: Path, plainly) -> None:  # type: ignore[no-untyped-def]
    script = Script(AS_EVER, main_loop="")
    routed, untouched = script.run(tmp_path / "routed", seeds()), script.run(tmp_path / "untouched", None)
    plain = plainly(script.child(tmp_path / "plain"))
    assert plain.stdout.count("True") >= 10
    assert (routed.stdout, routed.stderr) == (plain.stdout, plain.stderr)
    assert (untouched.stdout, untouched.stderr) == (plain.stdout, plain.stderr)


def test_seeds_from_the_system_and_generators_of_the_script_follow_the_variant(tmp_path: Path) -> None:
    text = """\
import torch
print(torch.seed(), torch.rand(1).item())
g = torch.Generator()
print(g.seed(), torch.rand(1, generator=g).item())
print(torch.Generator().manual_seed(3).get_state().sum().item())
made = [
    torch.Generator().manual_seed(i) for i in range(300)]
saved = torch.get_rng_state()
done = [
    torch.set_rng_state(state) for state in (saved, saved.clone(), torch._C.Generator().get_state())]
"""
    script = Script(text, main_loop="")
    runs = [script.run(tmp_path / str(n), seeds(other=n // 2)) for n in range(3)]
    assert runs[0].stdout == runs[1].stdout
    assert not set(runs[0].stdout.split()) & set(runs[2].stdout.split())
    calls = [(event[0], event[1], event[3]) for event in runs[0].of("seed")]
    assert calls[:3] == [
        ("torch.seed", "None", 2),
        ("torch.Generator.seed", "None", 4),
        ("torch.Generator.manual_seed", "3", 5),
    ]
    assert calls[-1] == ("torch.Generator.manual_seed", "99", 7)
    assert runs[0].of("uncontrolled") == [["torch.set_rng_state with a state from elsewhere", "train.py", 10]]
    assert runs[0].of("draws")[-2:] == [["torch", ["other"]], ["torch.Generator", ["other"]]]
