"""PyTorch at level 4: gradients that have another formula under a dispatch mode are those without it, bit for bit."""

import pytest
from tracing import Traced, nothing_changed, traced

NAMES = {
    "prod": "ProdBackward0",
    "prod-dim": "ProdBackward1",
    "masked-fill": "MaskedFillBackward1",
    "masked-fill-in-place": "MaskedFillBackward1",
    "masked-fill-on-view": "CopySlices",
    "min": "MinBackward1",
    "max": "MaxBackward1",
    "median": "MedianBackward0",
    "nanmedian": "NanmedianBackward0",
    "foreach-max": "ForeachMaxBackward1",
    "cumprod": "CumprodBackward0",
    "det": "LinalgDetBackward0",
}
"""Parts of the program, and the node that each of them goes through."""
PARTS = tuple(f"{name}{kind}" for name in NAMES for kind in ("", "-touched"))
SCRIPT = """\
import hashlib, os, sys, warnings
import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
warnings.simplefilter("ignore"); torch.set_num_threads(1); torch.manual_seed(0)
def fill(x, v): return x.masked_fill(torch.arange(12).remainder(3) == 0, v)
def fill_(x, v): return (x * 1).masked_fill_(torch.arange(12).remainder(3) == 0, v)
def fill_view(x, v):
    y = x * 1
    y[2:].masked_fill_(torch.arange(10).remainder(3) == 0, v)
    return y
OPERATIONS = {
    "prod": lambda x, v: x.prod(), "prod-dim": lambda x, v: x.view(3, 4).prod(1),
    "masked-fill": fill, "masked-fill-in-place": fill_, "masked-fill-on-view": fill_view,
    "min": lambda x, v: x.min(), "max": lambda x, v: x.max(), "median": lambda x, v: x.median(),
    "nanmedian": lambda x, v: x.nanmedian(), "foreach-max": lambda x, v: torch._foreach_max([x])[0],
    "cumprod": lambda x, v: x.cumprod(0), "det": lambda x, v: torch.linalg.det(x[:9].view(3, 3)),
}
def numbers(seed):
    "Ties, zeros and plain numbers, and gradients of both signs."
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(12, generator=g)
    if seed % 3: x = torch.randint(-2, 3, (12,), generator=g).float() * 0.7 + (seed % 3 - 1) * 0.1
    return x.requires_grad_(), torch.randn((), generator=g).requires_grad_(), g
def bits(*tensors):
    return b"".join(b"-" if t is None else t.detach().numpy().tobytes() for t in tensors)
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return x.detach() * 1
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            y = ctx.saved_tensors[0].detach().requires_grad_()
            return torch.autograd.grad(y.prod(), y)[0] * g
def digests():
    for name, operation in OPERATIONS.items():
        found = hashlib.sha256()
        for seed in range(60):
            x, v, g = numbers(seed)
            y = operation(x * 1, v * 1)
            w = torch.randn(y.shape, generator=g)
            loss = (y * w).sum()
            loss.backward(retain_graph=True)
            loss.backward()
            found.update(bits(x.grad, v.grad))
            x.grad = v.grad = None
            y = operation(x * 1, v * 1)
            first = torch.autograd.grad(y, [x, v], w, create_graph=True, allow_unused=True)
            found.update(bits(*first))
            if any(t is not None and t.grad_fn for t in first):
                sum((t * t).sum() for t in first if t is not None and t.grad_fn).backward()
                found.update(bits(x.grad, v.grad))
            for reentrant in (False, True):
                x.grad = v.grad = None
                (checkpoint(operation, x * 1, v * 1, use_reentrant=reentrant) * w).sum().backward()
                found.update(bits(x.grad, v.grad))
        print(name, found.hexdigest())
    x, v, _ = numbers(1)
    Own.apply(x).sum().backward(); print(bits(x.grad).hex())
    print(bits(torch.func.grad(lambda t: t.prod())(x.detach()), torch.func.vmap(torch.func.grad(torch.prod))(
        x.detach().view(3, 4))).hex())
    y = (x * 1).prod(); y.backward()
    try: y.backward()
    except RuntimeError as error: print("freed")
    y = (x * 1).prod(); y.backward(); print(bits(x.grad).hex())
    found = hashlib.sha256()
    for seed in range(200):
        x, v, g = numbers(3 * seed)
        logits, target = (x[:, None] * torch.arange(1, 8)), torch.randint(7, (12,), generator=g)
        target[::5], weight = -100, torch.rand(7, generator=g)
        loss = cross_entropy(logits, target, weight, label_smoothing=0.1)  # smoothed
        loss.backward(); found.update(bits(loss, x.grad))
    print(found.hexdigest())
    w = torch.ones(2, requires_grad=True)
    print((w * 2).sum().item(), (w * 3).exp().sum().backward(), bits(w.grad).hex())
def train(name, touched):
    x, v, _ = numbers(0)
    opt = torch.optim.SGD([x, v], 0.01)
    for step in range(5):
        y = OPERATIONS[name](x * 1, v * 1)
        if touched and step == 3:
            y.grad_fn.register_hook(lambda given, _: tuple(None if t is None else t * (1 + 2e-7) for t in given))
        opt.zero_grad()
        y.sum().backward(create_graph=name in ("cumprod", "det"))
        opt.step()
for name in OPERATIONS:
    for touched in (False, True): train(name, touched)
digests()
print(hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def runs(require, tmp_path_factory: pytest.TempPathFactory) -> Traced:  # type: ignore[no-untyped-def]
    require("torch")
    return traced(tmp_path_factory.mktemp("runs"), SCRIPT, PARTS, level=4, OMP_NUM_THREADS="1")


def test_their_gradients_are_those_without_a_trace(runs: Traced) -> None:
    assert runs.traced.stdout == runs.plain.stdout
    assert nothing_changed(runs)


@pytest.mark.parametrize("part", NAMES)
def test_a_factor_in_such_a_gradient_is_found(runs: Traced, part: str) -> None:
    assert runs.first(f"{part}-touched", beside=part) == (3, "operation", NAMES[part])


def test_a_loss_with_another_formula_is_one_operation_and_its_gradient_has_its_line(runs: Traced) -> None:
    [line] = [n for n, line in enumerate(SCRIPT.splitlines(), 1) if "# smoothed" in line]
    places = {it[1]: it[3] for it in runs.lines if it[0] == "place"}
    here = [it for it in runs.lines if it[0] == "operation" and places.get(it[4]) == line]
    assert [it[1] for it in here if "backward" not in it[5]] == ["aten.cross_entropy_loss.default"] * 200
    assert "aten._log_softmax_backward_data.default" in {it[1] for it in here if "backward" in it[5]}
