"""The checks that need a device: claims from `scripts/accelerator_checks.toml`, and the function that shows each."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).parents[1] / "accelerator_checks.toml"
CHECKS = "scripts.accelerator.checks"
FRAMEWORKS = ("torch", "jax", "tensorflow", "torch_xla")


@dataclass(frozen=True, slots=True)
class Function:
    """How a check is carried out.

    Attributes:
        name: `module:function`, which takes a `Bench` and returns a `Result`.
        typical_s: seconds that it takes on a machine with one GPU; the time of a call is divided in these proportions.
        is_rehearsed: whether it can be carried out with a CPU as the device.
        framework: the framework of its programs; empty where it has one for each.
    """

    name: str
    typical_s: float
    is_rehearsed: bool = True
    framework: str = "torch"


@dataclass(frozen=True, slots=True)
class Check:
    """One claim that needs a device.

    Attributes:
        needs: what the machine must have, all of it: cuda, rocm, tpu, mig, two-gpus.
        function: None for a check that people carry out themselves.
    """

    name: str
    title: str
    why: str
    needs: tuple[str, ...]
    function: Function | None


FUNCTIONS = {
    "gpu-facts": Function(f"{CHECKS}.facts:check_facts", 45, is_rehearsed=False),
    "control-bitwise": Function(f"{CHECKS}.repeats:check_control", 100, framework=""),
    "impl-spread": Function(f"{CHECKS}.repeats:check_spread", 100, framework=""),
    "tf32": Function(f"{CHECKS}.precision:check_tf32", 45),
    "refused-operation": Function(f"{CHECKS}.refusals:check_refusal", 45),
    "deferred-values": Function(f"{CHECKS}.values:check_deferred_values", 60),
    "device-streams": Function(f"{CHECKS}.streams:check_streams", 150, framework=""),
    "two-runs-per-gpu": Function(f"{CHECKS}.sharing:check_sharing", 60),
    "cuda-graphs": Function(f"{CHECKS}.graphs:check_graphs", 60, is_rehearsed=False),
    "diverge-kernel": Function(f"{CHECKS}.divergence:check_divergence", 90),
    "capture-many": Function(f"{CHECKS}.predictions:check_capture", 60),
    "determinism-overhead": Function(f"{CHECKS}.cost:check_cost", 150),
    "multi-gpu-ddp": Function(f"{CHECKS}.streams:check_ranks", 120),
    "rocm-streams": Function(f"{CHECKS}.streams:check_streams", 150, is_rehearsed=False),
    "xla-device": Function(f"{CHECKS}.streams:check_xla", 150, is_rehearsed=False, framework=""),
}
"""By name of the check, in the order in which they are carried out."""
BY_HAND = {
    "mig-instances": "an administrator has to divide the GPU first; `shows` in the list says what to look at",
    "tpu-slots": "no program yet; `shows` in the list says what to look at",
}
"""Checks without a function, each with the reason."""


def read_checks(path: Path = LIST) -> tuple[Check, ...]:
    """All checks, those with a function first, in the order in which they are carried out."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["check"]
    checks = {
        entry["name"]: Check(
            entry["name"], entry["title"], entry["why"], tuple(entry["needs"]), FUNCTIONS.get(entry["name"])
        )
        for entry in listed
    }
    return tuple(checks[name] for name in (*FUNCTIONS, *BY_HAND) if name in checks)


def frameworks_of(checks: Sequence[Check]) -> tuple[str, ...]:
    """The frameworks that these checks use."""
    named = {check.function.framework for check in checks if check.function}
    return FRAMEWORKS if "" in named else tuple(framework for framework in FRAMEWORKS if framework in named)
