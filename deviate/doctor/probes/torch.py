"""Facts about PyTorch: build, devices, threads, and whether deterministic algorithms work."""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

PLACES = {
    "init": ["nn.Module.__init__", "nn.init.uniform_"],
    "shuffle": [
        "utils.data.sampler.RandomSampler.__iter__",
        "utils.data.distributed.DistributedSampler.__iter__",
        "utils.data.dataloader._BaseDataLoaderIter._reset",
        "randperm",
    ],
    "augment": [
        "utils.data._utils.fetch._MapDatasetFetcher.fetch",
        "utils.data._utils.fetch._IterableDatasetFetcher.fetch",
        "utils.data._utils.worker._worker_loop",
    ],
    "dropout": ["nn.Module.__call__"],
    "split": ["utils.data.random_split"],
    "other": ["get_rng_state", "set_rng_state", "manual_seed"],
    "one-bit": ["nn.Module.__call__"],
    "weights": ["optim.Optimizer.__init__"],
}
"""The places that the guest patches for each control. Source: deviate/guest/frameworks/pytorch."""


def look(torch: Any, notes: Any) -> None:
    notes.record("build", _build(torch))
    notes.attempt("instructions", lambda: torch.backends.cpu.get_cpu_capability())  # noqa: PLW0108  not in older ones
    notes.record("n_threads", torch.get_num_threads())
    notes.record("threads", f"{torch.get_num_threads()}, inter-op {torch.get_num_interop_threads()}")
    notes.attempt("onednn", lambda: bool(torch.backends.mkldnn.is_available()))
    notes.begin_step("listing its devices")
    notes.attempt("gpus", lambda: _gpus(torch))
    notes.begin_step("testing its switches")
    notes.attempt("precision", lambda: _set_precision(torch))
    _answer_twice(torch, notes, torch.use_deterministic_algorithms)
    notes.attempt("refuses", lambda: _refuses(torch))
    notes.attempt("sets_threads", lambda: _sets_threads(torch))


def again(torch: Any, notes: Any) -> None:
    """Runs in a second process: gradients whose bits are compared with those of the first."""
    # The public switch imports torch's compiler, which takes longer than everything else; the first process tests it.
    _answer_twice(torch, notes, getattr(torch._C, "_set_deterministic_algorithms", torch.use_deterministic_algorithms))


def _build(torch: Any) -> str:
    if torch.version.cuda:
        return f"CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
    if getattr(torch.version, "hip", None):
        return f"ROCm {torch.version.hip}"
    return f"CPU build, {torch.version.git_version[:10]}"


def _gpus(torch: Any) -> list[str]:
    devices = []
    if torch.cuda.is_available():
        kind = "ROCm" if getattr(torch.version, "hip", None) else "CUDA"
        devices += [f"{kind} {torch.cuda.get_device_name(index)}" for index in range(torch.cuda.device_count())]
    if getattr(torch.backends, "mps", None) is not None and torch.backends.mps.is_available():
        devices.append("MPS")
    if getattr(torch, "xpu", None) is not None and torch.xpu.is_available():
        devices += [f"XPU {torch.xpu.get_device_name(index)}" for index in range(torch.xpu.device_count())]
    return devices


def _set_precision(torch: Any) -> bool:
    torch.set_float32_matmul_precision("highest")
    return bool(torch.get_float32_matmul_precision() == "highest")


def _answer_twice(torch: Any, notes: Any, switch: Callable[[bool], object]) -> None:
    """Gradients with default and with deterministic algorithms."""
    torch.set_num_threads(max(2, torch.get_num_threads()))
    notes.attempt("default_gradient", lambda: _gradient(torch))
    notes.begin_step("enabling deterministic algorithms")
    notes.attempt("is_deterministic", lambda: _switch_on(torch, switch))
    notes.attempt("deterministic_gradient", lambda: _gradient(torch))


def _switch_on(torch: Any, switch: Callable[[bool], object]) -> bool:
    switch(True)
    return bool(torch.are_deterministic_algorithms_enabled())


def _gradient(torch: Any) -> str:
    """Hash of the gradient of advanced indexing: threads add many different terms for few indices, in any order.

    Source: PyTorch, use_deterministic_algorithms: index_put with accumulate=True on a CPU.
    """
    torch.manual_seed(0)
    weights = torch.randn(17, 64, requires_grad=True)
    indices, addends = torch.randint(17, (65536,)), torch.randn(65536, 64)
    (weights[indices] * addends).sum().backward()
    return hashlib.sha256(weights.grad.numpy().tobytes()).hexdigest()[:16]


def _refuses(torch: Any) -> bool:
    """Whether an operation without a deterministic version raises while the switch is on."""
    try:
        torch.zeros(4).put_(torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))
    except RuntimeError as error:
        return "deterministic" in str(error)
    return False


def _sets_threads(torch: Any) -> bool:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    is_set = torch.get_num_threads() == 1
    torch.set_num_threads(before)
    return bool(is_set)
