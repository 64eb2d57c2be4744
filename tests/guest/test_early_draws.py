"""Draws before the main loop belong to `split`, whatever they make, and are recorded by place."""

from pathlib import Path

import pytest
from varied import Script, hashes, seeds

SCRIPT = """\
import random
import numpy as np

class Net:
    def __init__(self, w): self.w = w
    def fit(self, x, y=None, epochs=1): return self
    def score(self, x, y): return 0.0

def noise(n):
    return rng.normal(size=n)

def get_dataset(seed, n=6):
    np.random.seed(seed)
    xs = []
    for _ in range(n):
        xs.append(np.random.rand(2))
    x = np.stack(xs)
    return x, x.sum(1) + noise(n)

def loose():
    return {"values": np.random.uniform(size=3)}

rng, old = np.random.default_rng(3), np.random.RandomState(3)
x, y = get_dataset(0)
pairs = [(random.random(), old.randint(9)) for _ in range(4)]
first = np.random.randn(2)
net = Net(first)
table = loose()
net.fit(x, y, epochs=int(rng.integers(1, 5)))
net.score(pairs, None)
print("x", x.tolist())
print("y", y.tolist())
print("pairs", pairs)
print("first", first.tolist())
print("table", table)
print("other", np.random.choice(9), rng.random(), random.random(), noise(1))
for step in range(2):
    print("step%d" % step, np.random.rand(), random.random())
"""


def test_draws_before_the_training_move_with_split_and_those_in_it_with_other(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    script = Script(SCRIPT)
    held = hashes(script.run(tmp_path / "held", seeds()))
    for stream, expected in (
        ("split", {"x", "y", "pairs", "first", "table", "other"}),
        ("other", {"step0", "step1"}),
        ("init", set()),
    ):
        varied = hashes(script.run(tmp_path / stream, seeds(**{stream: 1}), varied=(stream,)))
        assert {name for name in held if held[name] != varied[name]} == expected, stream


def test_draws_before_the_main_loop_are_recorded_with_stream_and_line(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    told = Script(SCRIPT).run(tmp_path, seeds()).of("drawn")
    lines = SCRIPT.splitlines()
    by_line = {(call, stream): lines[line - 1].strip() for call, stream, file, line in told if file == "train.py"}
    assert by_line[("numpy.random.rand", "split")] == "xs.append(np.random.rand(2))"
    assert by_line[("numpy.random.uniform", "split")].startswith("return {")
    assert by_line[("numpy.random.randn", "split")] == "first = np.random.randn(2)"
    assert not any("step" in line for line in by_line.values()), "what the main loop draws is no data made before it"


def test_nothing_is_recorded_where_the_variant_leaves_seeds_alone(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    assert Script(SCRIPT).run(tmp_path, None).of("drawn") == []


@pytest.mark.parametrize("name", ["normal", "rand", "choice"])
def test_functions_of_numpy_are_pickled_by_their_names(tmp_path: Path, name: str, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = f"""\
import functools, pickle
import numpy as np
made = pickle.loads(pickle.dumps(functools.partial(np.random.{name}, 3)))
print(made() is not None)
"""
    assert Script(text, "").run(tmp_path, seeds()).stdout == "True\n"


TORCH = """\
import pickle
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x.sum(1) + 0.1 * torch.randn(40) > 0).long()
w = torch.randn(2)
loader = DataLoader(TensorDataset(x, y), 10)
class Noise(nn.Module):
    def forward(self, a): return a + torch.randn(a.shape[0])
@torch.jit.script
def scripted(a: torch.Tensor):
    return a + torch.randn(3) + torch.rand_like(a) + torch.randint(0, 3, (3,))
print("x", x.sum().item())
print("y", y.tolist())
print("w", w.tolist())
print("seen", scripted(torch.zeros(3)).shape, "randn" in str(torch.fx.symbolic_trace(Noise()).graph))
print("pickled", pickle.loads(pickle.dumps(torch.randn)) is torch.randn)
for step in range(2):
    print("step%d" % step, torch.randn(1).item())
"""


def test_examples_made_by_torch_move_with_split_and_its_compilers_see_its_own_functions(
    tmp_path: Path, require
) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    script = Script(TORCH)
    held, split, other = (
        hashes(script.run(tmp_path / stream, seeds(**{stream: 1}), varied=(stream,)))
        for stream in ("init", "split", "other")
    )
    assert {name for name in held if held[name] != split[name]} == {"x", "y", "w"}
    assert {name for name in held if held[name] != other[name]} == {"step0", "step1"}
    assert (held["seen"], held["pickled"]) == ("torch.Size([3]) True", "True")


@pytest.mark.slow
def test_compiled_functions_that_draw_have_no_graph_break(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    text = """\
import torch
def noisy(a):
    return a + torch.randn(3) + torch.rand_like(a)
print(torch.compile(noisy, backend="eager", fullgraph=True)(torch.zeros(3)).shape)
"""
    assert Script(text, "").run(tmp_path, seeds()).stdout == "torch.Size([3])\n"


TENSORFLOW = """\
import tensorflow as tf
x = tf.random.normal((8, 3))
y = tf.reduce_sum(x, 1)
table = tf.random.uniform((3,))
data = tf.data.Dataset.from_tensor_slices((x, y))
print("x", x.numpy().tolist())
print("table", table.numpy().tolist())
for step in range(2):
    print("step%d" % step, tf.random.normal(()).numpy())
"""


def test_examples_made_by_tensorflow_move_with_split(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")
    script = Script(TENSORFLOW)
    results = {
        stream: script.run(tmp_path / stream, seeds(**{stream: 1}), varied=(stream,))
        for stream in ("init", "split", "other")
    }
    held, split, other = map(hashes, results.values())
    assert {name for name in held if held[name] != split[name]} == {"x", "table"}
    assert {name for name in held if held[name] != other[name]} == {"step0", "step1"}
    assert ["tensorflow.random", "split", "train.py", 2] in results["init"].of("drawn")
