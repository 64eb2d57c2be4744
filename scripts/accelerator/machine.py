"""The hardware and versions of this machine, asked of each framework in a process of its own."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import typing
from collections.abc import Collection
from dataclasses import dataclass

import deviate
from deviate.replay.gpus import mig_profiles
from deviate.replay.machine import machine_facts

ASK_S = 120
"""Time limit for one question: the first import of a framework with its CUDA libraries takes half a minute."""
PACKAGES = ("numpy", "torch", "torch_xla", "jax", "jaxlib", "tensorflow", "tensorflow-cpu")
QUESTIONS = {
    "torch": """\
import json, torch
kinds = [name for name in ("cuda", "xpu", "mps") if hasattr(torch, name) and getattr(torch, name).is_available()]
device = (kinds + ["cpu"])[0]
facts = {}
devices = []
if device == "cuda":
    devices = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    facts["compute capability"] = ".".join(map(str, torch.cuda.get_device_capability()))
    facts["CUDA of PyTorch"] = torch.version.cuda or f"none; HIP {torch.version.hip}"
    facts["cuDNN"] = str(torch.backends.cudnn.version())
elif device != "cpu":
    devices = [device]
device = "rocm" if device == "cuda" and torch.version.hip else device
print(json.dumps({"device": device, "devices": devices, "facts": facts}))
""",
    "jax": """\
import json, jax
devices = [device.device_kind for device in jax.devices()]
print(json.dumps({"device": jax.default_backend(), "devices": devices, "facts": {}}))
""",
    "tensorflow": """\
import json, tensorflow as tf
gpus = [device.name for device in tf.config.list_physical_devices("GPU")]
print(json.dumps({"device": "gpu" if gpus else "cpu", "devices": gpus, "facts": {}}))
""",
    "torch_xla": """\
import json, torch_xla.runtime as runtime
print(json.dumps({"device": runtime.device_type().lower(), "devices": [], "facts": {}}))
""",
}
"""Programs that say what each framework computes on; one that fails is a framework without a device."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is on this machine.

    Attributes:
        facts: hardware and versions in the order in which a page shows them.
        devices: framework to the kind of device that it computes on by default; only installed frameworks.
        has: what checks may need: cuda, rocm, tpu, mig, two-gpus.
        failures: framework to the reason why it did not answer.
    """

    facts: dict[str, str]
    devices: dict[str, str]
    has: frozenset[str]
    failures: dict[str, str]

    @property
    def is_rehearsal(self) -> bool:
        """Whether a CPU has to stand for a device."""
        return set(self.devices.values()) <= {"cpu"}


def examine_machine(frameworks: Collection[str] = tuple(QUESTIONS)) -> Machine:
    """Examine the hardware and these frameworks, as far as they are installed."""
    facts = {**machine_facts(), "Python": platform.python_version(), "deviate": deviate.__version__}
    devices: dict[str, str] = {}
    failures: dict[str, str] = {}
    n_devices = 0
    for framework in filter(_is_installed, frameworks):
        answer = _ask(QUESTIONS[framework])
        if isinstance(answer, str):
            failures[framework] = answer
            continue
        devices[framework] = answer["device"]
        facts |= answer["facts"]
        if answer["device"] != "cpu":
            facts[f"devices of {framework}"] = ", ".join(answer["devices"]) or answer["device"]
            n_devices = max(n_devices, len(answer["devices"]))
    facts |= {name: version for name in PACKAGES if (version := _version(name))}
    return Machine(facts, devices, _abilities(devices, n_devices), failures)


def _abilities(devices: dict[str, str], n_devices: int) -> frozenset[str]:
    kinds = set(devices.values())
    has = set()
    if "rocm" in kinds:
        has.add("rocm")
    elif kinds & {"cuda", "gpu"}:
        has.add("cuda")
    if "tpu" in kinds:
        has.add("tpu")
    if n_devices > 1:
        has.add("two-gpus")
    if mig_profiles():
        has.add("mig")
    return frozenset(has)


def _ask(question: str) -> dict[str, typing.Any] | str:
    """The answer to a question, or the last line of the error."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        answer = subprocess.run(
            [sys.executable, "-c", question],
            capture_output=True,
            text=True,
            check=False,
            timeout=ASK_S,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {ASK_S} s"
    lines = answer.stdout.strip().splitlines()
    if answer.returncode or not lines:
        return (answer.stderr.strip().splitlines() or [f"exit code {answer.returncode}"])[-1]
    parsed: dict[str, typing.Any] = json.loads(lines[-1])
    return parsed


def _is_installed(framework: str) -> bool:
    return bool(_version(framework) or (framework == "tensorflow" and _version("tensorflow-cpu")))


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
