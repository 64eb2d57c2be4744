"""PyTorch at level 4: every operation with its line and its module, forward and backward, and nothing else changed."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Result
from varied import Script, seeds

PROGRAM = """\
import hashlib, warnings
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
torch.set_num_threads(1); torch.manual_seed(0); warnings.simplefilter("ignore")
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2.5  # in-double
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 6)
        self.body = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.4), nn.Tanh())
        self.head = nn.Linear(8, 3)
        self.register_buffer("shift", torch.empty(6))
        for k in range(6): self.shift[k] = k / 10
    def forward(self, index):
        x = self.table.weight[index]  # lookup
        x[:, 0] *= 1.5  # on-view
        y = torch.empty_like(x); y[:, :3] = x[:, 3:]; y[:, 3:] = x[:, :3]
        x = nn.functional.pad(x + y + self.shift, (1, 0))[:, 1:].sort(1)[0]
        x = checkpoint(self.body, Double.apply(x), use_reentrant=False)  # part
        with torch.autocast("cpu", torch.bfloat16): return self.head(x)
class Silent(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None): return func(*args, **(kwargs or {}))
@torch.jit.script
def scripted(x): return x.exp().sum()
model = Net()
opt = torch.optim.Adam(model.parameters(), foreach=True)
for step in range(2):
    index = torch.randint(11, (16,))
    with Silent():
        out = model(index).float()
    loss = out.square().mean() + 0.01 * scripted(out)
    opt.zero_grad()
    loss.backward()  # call
    opt.step()
    print(step, loss.item())
a = torch.randn(4, 4)
b = torch.vmap(lambda row: (row * row).sum())(a); c = torch.func.grad(lambda t: (t * t).sum())(a)
sparse = torch.sparse_coo_tensor([[0, 2], [1, 0]], [1.0, 2.0], (3, 3)) * 2
quantised = torch.quantize_per_tensor(a, 0.1, 0, torch.qint8)
spectrum = torch.fft.fft(a).conj() * 2
nothing = torch.zeros(0, 3) * 2
flags = a > 0
torch.max(a, 1)
torch.add(a, 1, out=torch.empty(4, 4))
raw = torch.empty(4, 4); raw[0] = 1.0
raw.sum()  # reads-partly
torch.empty(4, 4).clone().relu()  # reads-wholly
whole = torch.empty(4); whole[torch.tensor([3, 1])] = 1.0; whole[torch.tensor([0, 2])] = 2.0
whole.sum()  # reads-written
del raw, whole
torch.ones(4, 4).sum()  # reads-new
with torch.no_grad(): grown = torch.ones(2).resize_(4)
grown.sum()  # reads-grown
fill = torch.tensor(0.5, requires_grad=True)
torch.zeros(4).masked_fill(flags[0], fill).prod().backward()  # apart
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
print(hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest(), torch._C._len_torch_dispatch_stack() >= 0)
"""
NOISY = """\
import torch
torch.set_num_threads(2); torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(17, 16)); index = torch.randint(17, (16384,)); r = torch.randn(16384, 16)
opt = torch.optim.SGD([w], 0.01)
for step in range(2):
    y = w[index]
    loss = (y * r).sum()
    opt.zero_grad(); loss.backward(); opt.step()
"""
COMPILED = """\
import torch
model = torch.nn.Linear(4, 2)
for step in range(3):
    if step == 1: model = torch.compile(model, backend="eager")
    model(torch.ones(3, 4)).sum().backward()
    for p in model.parameters(): p.grad = None
print("done")
"""


@dataclass(frozen=True)
class Traced:
    """A run, and its trace with lines in place of the numbers of places."""

    run: Result
    lines: tuple[list, ...]

    @property
    def records(self) -> list[list]:
        return [line for line in self.lines if len(line) == 6 and isinstance(line[5], dict)]

    def operations(self, name: str = "", line: int = 0) -> list[list]:
        return [it for it in self.records if it[0] == "operation" and name in it[1] and line in {0, it[4]}]

    @property
    def numbers(self) -> list[list]:
        """What two runs are compared by."""
        return [it[:5] for it in self.records]


def traced(folder: Path, text: str, **capture: str) -> Traced:
    child = Script(text, "range(2)").child(folder)
    run = child.run(seeds=seeds(), capture={"trace": "4", **capture}, environment={"OMP_NUM_THREADS": "2"})
    assert (run.code, run.of("error")) == (0, []), run.stderr
    return Traced(run, tuple(_read(folder)))


def _read(folder: Path) -> Iterator[list]:
    places = {-1: 0}
    [path] = (folder / "attempt-1" / "artifacts").glob("trace-*.jsonl")
    for line in map(json.loads, path.read_text().splitlines()):
        if line[0] == "place":
            places[line[1]] = line[3]
        elif len(line) == 6:
            more = line[5]
            yield [*line[:4], places[line[4]], more | ({"called": places[more["called"]]} if "called" in more else {})]
        else:
            yield line


def line_of(marker: str, text: str = PROGRAM) -> int:
    [number] = [n for n, line in enumerate(text.splitlines(), 1) if marker in line]
    return number


@pytest.fixture(scope="module")
def runs(require, tmp_path_factory: pytest.TempPathFactory) -> tuple[Traced, Traced, Result]:  # type: ignore[no-untyped-def]
    """Two traced runs and one that is not."""
    require("torch")
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two", "plain")]
    with ThreadPoolExecutor(2) as pool:
        one, two = (pool.submit(traced, folder, PROGRAM) for folder in folders[:2])
        plain = Script(PROGRAM, "range(2)").child(folders[2]).run(seeds=seeds())
        return one.result(), two.result(), plain


def test_a_traced_run_computes_what_one_without_a_trace_does(runs: tuple[Traced, Traced, Result]) -> None:
    one, _, plain = runs
    assert (plain.code, plain.of("error")) == (0, []), plain.stderr
    assert one.run.stdout == plain.stdout


def test_equal_runs_have_equal_traces(runs: tuple[Traced, Traced, Result]) -> None:
    one, two, _ = runs
    reads = [it[5].get("reads") for it in one.records]
    differ = [(a, b) for a, b, its in zip(one.numbers, two.numbers, reads, strict=True) if a != b and its is None]
    assert not differ
    assert len(one.operations()) > 200


def test_backward_operations_have_the_line_and_the_module_that_made_them(runs: tuple[Traced, Traced, Result]) -> None:
    one, _, _ = runs
    found = one.operations("aten.index_put.default")
    assert [it[4] for it in found] == [line_of("# lookup")] * 2
    assert found[0][5] == {"module": "Net", "backward": True, "called": line_of("# call")}
    assert {it[5]["module"] for it in one.operations("aten.addmm")} >= {"body.0", "head"}
    assert all(it[5]["module"] == "head" for it in one.operations("aten.mm") if it[3].startswith("bfloat16"))
    assert one.operations("copy_", line_of("# on-view")), "in place on a view: two nodes for one operation"


def test_what_the_program_does_itself_in_a_backward_pass_has_its_own_line(runs: tuple[Traced, Traced, Result]) -> None:
    one, _, _ = runs
    [first, _] = one.operations("aten.mul.Tensor", line_of("# in-double"))
    assert first[5]["called"] == line_of("# call")
    again = [it for it in one.operations("aten.addmm", line_of("# part")) if it[5].get("backward")]
    assert [it[5]["module"] for it in again] == ["body.0"] * 2, "computed anew for the backward pass"


def test_views_make_no_record_and_empty_memory_is_not_compared(runs: tuple[Traced, Traced, Result]) -> None:
    one, _, _ = runs
    assert not one.operations("aten.select") + one.operations("aten.view") + one.operations("aten.detach")
    assert {it[2] for it in one.operations("aten.empty")} == {None}
    shift = [it for it in one.operations("aten.copy_") if it[4] == line_of("for k in range(6)")]
    assert not shift or None not in {it[2] for it in shift}


@pytest.mark.parametrize(
    ("marker", "name", "reads"),
    [
        ("# reads-partly", "aten.sum.default", "partly uninitialised"),
        ("# reads-wholly", "aten.relu.default", "uninitialised"),
        ("# reads-written", "aten.sum.default", None),
        ("# reads-new", "aten.sum.default", None),
        ("# reads-grown", "aten.sum.default", "partly uninitialised"),
    ],
)
def test_what_reads_memory_that_nothing_has_written_says_so(
    runs: tuple[Traced, Traced, Result], marker: str, name: str, reads: str | None
) -> None:
    one, _, _ = runs
    [found] = one.operations(name, line_of(marker))
    assert found[5].get("reads") == reads
    assert [it[1] for it in one.records if "reads" in it[5]] == [
        "aten.sum.default",
        "aten.relu.default",
        "aten.sum.default",
    ]


def test_nodes_that_are_computed_apart_are_one_operation_each(runs: tuple[Traced, Traced, Result]) -> None:
    line = line_of("# apart")
    found = [it for it in runs[0].operations(line=line) if it[5].get("backward")]
    assert [it[1] for it in found if "Backward" in it[1]] == ["ProdBackward0", "MaskedFillBackward1"]
    assert all(it[5] == {"backward": True, "called": line} for it in found)


def test_tensors_of_all_kinds_are_taken_down(runs: tuple[Traced, Traced, Result]) -> None:
    one, _, _ = runs
    forms = {it[3] for it in one.operations()}
    assert {"qint8[4,4]", "complex64[4,4]", "float32[0,3]", "bool[4,4]", "bfloat16[16,3]"} <= forms
    [several] = one.operations("aten.max.dim")
    assert (several[3], several[5]["outputs"]) == ("float32[4] int64[4]", 2)
    [lists] = one.operations("aten._foreach_sqrt")[:1]
    assert lists[5]["outputs"] == 5
    assert lists[3] == "float32[11,6] float32[8,6] float32[8] and 2 more"
    assert all(it[2] is not None for it in one.operations("aten._foreach_addcdiv_")), "they give nothing, and write"


def test_kept_arrays_are_those_of_the_operation(require, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    keep = {"trace-keep": "operation|aten.index_put.default|0", "trace-from": "1", "trace-until": "2"}
    run = traced(tmp_path, NOISY, **keep)
    assert run.lines[-1][:2] == ["end", 2]
    assert {it[5].get("module") for it in run.operations()} == {None}
    [path] = (tmp_path / "attempt-1" / "artifacts").glob("kept-*.npz")
    import numpy as np

    [(name, array)] = np.load(path).items()
    assert (name.split("/")[0], array.shape, array.dtype) == ("step-1", (17, 16), np.float32)


def test_noise_of_advanced_indexing_is_first_seen_in_its_backward_pass(require, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    one, two = (traced(tmp_path / name, NOISY) for name in ("one", "two"))
    differ = [a for a, b in zip(one.records, two.records, strict=True) if a[:4] != b[:4]]
    for first in differ[:1]:  # threads may have come in the same order, in which case there is none
        assert first[1] == "aten.index_put.default"
        assert (first[4], first[5]["called"]) == (line_of("y = w[index]", NOISY), line_of("loss.backward()", NOISY))


def test_a_compiled_program_is_left_alone(require, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    run = traced(tmp_path, COMPILED)
    [ends] = [line for line in run.lines if line[0] == "ends"]
    assert ends[1:3] == ["torch", 3]
    assert "torch.compile" in ends[3]
    assert run.operations()
    assert run.run.stdout == "done\n"
