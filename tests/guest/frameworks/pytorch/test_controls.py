"""PyTorch: factors are held against the script, and what has no deterministic version is named."""

from pathlib import Path

import pytest
from varied import Script, seeds

HELD = {"kernels": "deterministic", "autotune": "off", "precision": "full"}
FREE = dict.fromkeys(HELD, "default")

NOISY = """\
import hashlib
import torch
torch.manual_seed(0)
w = torch.randn(17, 64, requires_grad=True)
i, r = torch.randint(17, (65536,)), torch.randn(65536, 64)
(w[i] * r).sum().backward()
print(torch.get_num_threads() > 1, hashlib.sha256(w.grad.numpy().tobytes()).hexdigest()[:12])
"""
UNDOING = """\
import torch
torch.use_deterministic_algorithms(False)
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.deterministic = False
torch.set_float32_matmul_precision("medium")
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.mkldnn.enabled = True
torch.set_deterministic_debug_mode("warn")
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True, warn_only=True)
with torch.backends.cudnn.flags(deterministic=True, allow_tf32=False):
    pass
for part in (torch.backends.cudnn.conv, torch.backends.cudnn.rnn, torch.backends.cuda.matmul, torch.backends):
    part.fp32_precision = "tf32"
torch.backends.mkldnn.matmul.fp32_precision = "bf16"
torch.backends.fp32_precision = "none"
print([part.fp32_precision for part in (torch.backends.cudnn.conv, torch.backends.cuda.matmul)])
print(list(torch.utils.data.DataLoader(range(2), num_workers=1)))
"""
STARTING_CUDA = """\
import os
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
for queued, _ in torch.cuda._queued_calls:  # carried out when CUDA is initialised; those of PyTorch need a GPU
    if not queued.__module__.startswith("torch"):
        queued()
print(os.environ.get("CUBLAS_WORKSPACE_CONFIG"))
"""
UNPOOLING = """\
import warnings
import torch
from torch import nn
warnings.filterwarnings("ignore")
with warnings.catch_warnings():
    warnings.simplefilter("error", DeprecationWarning)
    for _ in range(2):
        print(nn.MaxUnpool2d(2)(*nn.MaxPool2d(2, return_indices=True)(torch.arange(4.0).view(1, 1, 2, 2))).tolist())
torch.zeros(3).put_(torch.tensor([1]), torch.tensor([2.0]))
warnings.warn("the script's own")
warnings.warn("Flash Attention defaults to a non-deterministic algorithm. To explicitly enable determinism call torch.")
warnings.warn("Deterministic behavior was enabled with either ..., but this operation is not deterministic because it "
              "uses CuBLAS and you have CUDA >= 10.2.")
warnings.resetwarnings()
warnings.warn("shown")
"""


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def test_atomic_additions_are_noise_and_deterministic_kernels_have_none(tmp_path: Path) -> None:
    script = Script(NOISY, main_loop="")
    free = [script.run(tmp_path / f"free{n}", seeds(), **FREE).stdout for n in range(3)]
    held = [script.run(tmp_path / f"held{n}", seeds(), **HELD).stdout for n in range(3)]
    if not free[0].startswith("True"):
        pytest.skip("one processor adds in order")
    assert len(set(free)) > 1
    assert len(set(held)) == 1


def test_what_would_undo_a_factor_is_told_and_not_done(tmp_path: Path) -> None:
    result = Script(UNDOING, main_loop="").run(tmp_path, seeds(), **HELD, threads="2", onednn="off")
    undone = [(event[0], event[1], event[4]) for event in result.of("control") if event[5] == "overridden"]
    assert undone == [
        ("kernels", "torch.use_deterministic_algorithms", 2),
        ("autotune", "torch.backends.cudnn.benchmark", 3),
        ("kernels", "torch.backends.cudnn.deterministic", 4),
        ("precision", "torch.set_float32_matmul_precision", 5),
        ("precision", "torch.backends.cuda.matmul.allow_tf32", 6),
        ("precision", "torch.backends.cudnn.allow_tf32", 7),
        ("onednn", "torch.backends.mkldnn.enabled", 8),
        ("kernels", "torch.set_deterministic_debug_mode", 9),
        ("threads", "torch.set_num_threads", 10),
        ("kernels", "torch.use_deterministic_algorithms", 11),
        *[("precision", "fp32_precision", 15)] * 4,
        ("precision", "fp32_precision", 16),
    ]
    assert "tf32" not in result.stdout
    assert {event[0] for event in result.of("control") if event[5] == "set"} == {*HELD, "threads", "onednn"}
    facts = {key: value for [event] in result.of("environment") for key, value in event.items()}
    assert {name: facts[f"torch {name}"] for name in (
        "threads", "deterministic algorithms", "cuDNN deterministic", "cuDNN benchmark", "TF32 in cuDNN",
        "TF32 in matmul", "float32 matmul precision", "oneDNN",
    )} == {
        "threads": "2", "deterministic algorithms": "on", "cuDNN deterministic": "on", "cuDNN benchmark": "off",
        "TF32 in cuDNN": "off", "TF32 in matmul": "off", "float32 matmul precision": "highest", "oneDNN": "off",
    }  # fmt: skip
    assert "AVX" in facts["torch build"] or "CPU capability" in facts["torch build"]


def test_free_factors_lose_determinism_and_keep_the_settings_for_speed(tmp_path: Path) -> None:
    text = UNDOING.partition("for part in")[0] + STARTING_CUDA  # PyTorch raises where both interfaces are mixed
    result = Script(text, main_loop="").run(tmp_path, seeds(), **FREE)
    undone = [(event[0], event[1], event[4]) for event in result.of("control") if event[5] == "overridden"]
    assert undone == [
        ("kernels", "torch.set_deterministic_debug_mode", 9),
        ("kernels", "torch.use_deterministic_algorithms", 11),
        ("kernels", "torch.backends.cudnn.deterministic", 12),
        ("kernels", "CUBLAS_WORKSPACE_CONFIG", 0),
    ]
    assert result.stdout == "None\n"
    facts = {key: value for [event] in result.of("environment") for key, value in event.items()}
    assert facts["torch deterministic algorithms"] == "off"
    assert facts["torch cuDNN benchmark"] == "on"
    assert facts["torch threads"] == "1"


def test_nothing_is_held_where_nothing_is_asked_for(tmp_path: Path, plainly) -> None:  # type: ignore[no-untyped-def]
    text = UNDOING + "print(torch.backends.cudnn.benchmark, torch.get_deterministic_debug_mode())\n"
    script = Script(text, main_loop="")
    result = script.run(tmp_path / "on", None)
    assert result.of("control") == []
    assert result.stdout == plainly(script.child(tmp_path / "off")).stdout


def test_an_operation_without_a_deterministic_version_stops_the_run(tmp_path: Path) -> None:
    result = Script(UNPOOLING, main_loop="").child(tmp_path).run(seeds=seeds(), controls=HELD)
    assert result.code == 1
    assert "max_unpooling2d_forward_out does not have a deterministic implementation" in result.stderr
    assert result.of("operation") == []


def test_with_warn_only_such_operations_are_listed_whatever_the_script_filters(tmp_path: Path) -> None:
    script = Script(UNPOOLING, main_loop="")
    result = script.run(tmp_path / "on", seeds(), **HELD, **{"on-missing": "warn"})
    assert result.of("operation") == [
        ["max_unpooling2d_forward_out", "train.py", 8],
        ["put_", "train.py", 9],
        ["Flash Attention", "train.py", 11],
        ["CuBLAS", "train.py", 12],
    ]
    assert [line for line in result.stderr.splitlines() if "Warning" in line] == [
        f"{result.work}/train.py:15: UserWarning: shown"
    ]
