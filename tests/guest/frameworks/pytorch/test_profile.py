"""A window of steps under the profiler of PyTorch: what it sees, and that the training does not notice."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness import Result
from varied import Script, seeds

from deviate.guest.frameworks.pytorch.profile import Profiler

TRAIN = """\
import hashlib
import random
import numpy as np
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 6), torch.randint(4, (32,))
for epoch in range(4):
    net.train()
    for start in range(0, 32, 8):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x[start:start + 8]), y[start:start + 8])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item().hex())
states = [torch.get_rng_state().numpy().tobytes(), repr(random.getstate()).encode(), repr(np.random.get_state()).encode()]
print("states", hashlib.sha256(b"".join(states)).hexdigest())
"""  # noqa: E501
LOOP = "range(4)"


def run(folder: Path, text: str = TRAIN, loop: str = LOOP, *, profile: str = "") -> Result:
    result = Script(text, loop).child(folder).run(seeds=seeds(), capture={"profile": profile} if profile else {})
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def written(result: Result) -> dict:
    [[kind, name, step, framework, file, n]] = result.of("artifact")
    document = json.loads((result.work.parents[2] / "artifacts" / file).read_text())
    assert (kind, name, framework, n) == ("profile", "torch", "torch", len(document["kernels"]))
    assert document["window"][0] == step
    return document


@pytest.fixture(scope="module")
def profiled(tmp_path_factory, require) -> Result:  # type: ignore[no-untyped-def]
    """One profiled run for all: its second and third epoch."""
    require("torch")
    return run(tmp_path_factory.mktemp("profiled"), profile="1:3")


def test_a_profiled_run_trains_bitwise_as_one_that_is_not(tmp_path: Path, profiled: Result) -> None:
    plain = run(tmp_path)
    assert profiled.stdout == plain.stdout
    assert "states" in plain.stdout
    assert profiled.of("weights") == plain.of("weights") != []
    assert plain.of("artifact") == []


def test_the_calls_of_the_window_are_counted_and_no_others(profiled: Result) -> None:
    document = written(profiled)
    calls = {name: n for name, n, _ in document["kernels"]}
    updates = 2 * 32 // 8
    assert (document["window"], document["n_updates"]) == ([1, 3], updates)
    assert calls["aten::addmm"] == 2 * updates
    assert not [name for name in calls if "#" in name], "ranges that somebody named are no operators"


def test_kernels_stand_with_the_longest_first_in_seconds_of_their_own(profiled: Result) -> None:
    document = written(profiled)
    times = [seconds for _, _, seconds in document["kernels"]]
    assert times == sorted(times, reverse=True)
    assert 0 < sum(times) <= document["wall_s"]
    assert (document["device"], document["framework"]) == ("cpu", "torch")
    assert "self time of operators on the CPU" in document["measure"]


def test_a_window_ends_with_the_loop(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    assert written(run(tmp_path, profile="3:50"))["window"] == [3, 4]


def test_a_window_of_long_steps_ends_after_a_hundred_updates(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    text = TRAIN.replace("for start in range(0, 32, 8):", "for start in [*range(0, 32, 8)] * 30:")
    document = written(run(tmp_path, text, profile="2:4"))
    assert (document["window"], document["n_updates"]) == ([2, 3], 100)
    assert {name: n for name, n, _ in document["kernels"]}["aten::addmm"] == 200


def test_a_loop_that_ends_before_the_window_is_told_of(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    result = run(tmp_path, profile="9:10")
    assert result.of("artifact") == []
    assert result.of("not captured") == [["profile", "torch", "the main loop came to no step 9"]]


def test_a_script_that_profiles_itself_finds_the_profiler_free(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    text = TRAIN.replace(
        "    net.train()\n",
        "    if epoch == 2:\n        with torch.profiler.profile() as own: net(x)\n"
        "        print(sum(it.key == 'aten::addmm' for it in own.events()))\n    net.train()\n",
    )
    result = run(tmp_path, text, profile="1:4")
    assert "\n2\n" in result.stdout, "both operators of its own window are seen"
    calls = {name: n for name, n, _ in written(result)["kernels"]}
    assert calls["aten::addmm"] == 2 * 32 // 8, "what came before the script's own profile is kept"


@pytest.mark.parametrize("attribute", ["self_device_time_total", "self_cuda_time_total"])
def test_of_a_device_the_kernels_count_and_neither_copies_nor_ranges_with_a_name(attribute: str) -> None:
    """Events as the profiler gives them where there is a GPU, by the name of their time in newer and older versions."""

    def event(key: str, device: str, microseconds: float, *, is_named: bool = False) -> SimpleNamespace:
        told = {"key": key, "device_type": f"DeviceType.{device}", "count": 2, "is_user_annotation": is_named}
        return SimpleNamespace(**told, **{attribute: microseconds})

    seen = [
        event("aten::conv2d", "CPU", 900.0),
        event("my range", "CPU", 0.0),
        event("my range", "CUDA", 800.0),
        event("Optimizer.step#SGD.step", "CUDA", 700.0),
        event("named", "CUDA", 600.0, is_named=True),
        event("Memcpy HtoD (Pageable -> Device)", "CUDA", 500.0),
        event("Memset (Device)", "CUDA", 400.0),
        event("sgemm_32x32", "CUDA", 300.0),
        event("void at::native::kernel<4>(int)", "CUDA", 200.0),
    ]
    kernels = list(Profiler(None)._kernels(seen))
    assert kernels == [
        ("sgemm_32x32", 2, pytest.approx(3e-4)),
        ("void at::native::kernel<4>(int)", 2, pytest.approx(2e-4)),
    ]
