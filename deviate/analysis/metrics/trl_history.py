"""Training history of TRL: the keys that its trainers report beside those of the Trainer of Transformers.

Source: the sections "Logged metrics" of TRL's documentation, 1.10.0 (docs/source/*_trainer.md). Numbers of tokens and
coefficients that they list are no metrics; older versions report fewer.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import argument, constant_number, keywords, last_name

TOKENS = ("entropy", "mean_token_accuracy")
PAIRS = tuple(f"{what}/{which}" for what in ("logits", "logps", "rewards") for which in ("chosen", "rejected"))
COMPLETIONS = (
    *("step_time", "completions/mean_length", "completions/clipped_ratio", "reward", "reward_std"),
    *("frac_reward_zero_std", "entropy", "clip_ratio/region_mean", "clip_ratio/low_mean", "clip_ratio/low_min"),
    *("clip_ratio/high_mean", "clip_ratio/high_max"),
)
TOKENS_SINCE = (0, 20)
"""The version of TRL since which its trainers report both of what tokens tell."""
REQUIREMENTS = (
    "requirements*.txt",
    "requirements/*.txt",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "environment*.y*ml",
)
PIN = re.compile(r"""^[\s"'-]*trl(?:\[[^]]*\])?\s*(?:==?|~=|<=?)\s*v?(\d+)\.(\d+)""", re.MULTILINE)
REPORTED: dict[str, tuple[str, ...]] = {
    "SFTTrainer": TOKENS,
    "DPOTrainer": (*TOKENS, *PAIRS, "rewards/margins", "rewards/accuracies"),
    "KTOTrainer": ("entropy", "kl", *PAIRS, "rewards/margins"),
    "RewardTrainer": ("accuracy", "min_reward", "mean_reward", "max_reward", "margin"),
    "GRPOTrainer": COMPLETIONS,
    "RLOOTrainer": COMPLETIONS,
}


def trl_keys(trainer: str, constructions: Sequence[tuple[cst.Call, Function]], graph: CallGraph) -> list[str]:
    """The keys that a trainer reports by itself.

    Args:
        trainer: full name of its class, or of the class of TRL that it inherits from.
        constructions: the calls that create it.
    """
    package, _, name = trainer.partition(".")
    keys = list(REPORTED.get(name.rpartition(".")[2], ())) if package == "trl" else []
    if keys and _is_pinned_below(TOKENS_SINCE, graph.project.root):
        keys = [key for key in keys if key not in TOKENS]
    if "reward" in keys:
        keys += [key for call, function in constructions for key in _of_rewards(call, function, graph)]
        if any(_weighs_divergence(call) for call, _ in graph.calls):
            keys.append("kl")
    return list(dict.fromkeys(keys))


def _is_pinned_below(version: tuple[int, int], root: Path) -> bool:
    """Whether a project asks for a version of TRL before this one."""
    for pattern in REQUIREMENTS:
        for path in sorted(root.glob(pattern)):
            with suppress(OSError, UnicodeDecodeError):
                pins = PIN.findall(path.read_text(encoding="utf-8"))
                if any((int(major), int(minor)) < version for major, minor in pins):
                    return True
    return False


def _of_rewards(call: cst.Call, function: Function, graph: CallGraph) -> Iterator[str]:
    """Mean and spread of each function of the project that rewards completions."""
    functions = argument(call, 1, "reward_funcs")
    if isinstance(functions, cst.Name):
        bindings = graph.resolver.find(functions.value, function)[1]
        functions = next((value for one in bindings if (value := one.whole("assign")) is not None), functions)
    values = [item.value for item in functions.elements] if isinstance(functions, cst.List | cst.Tuple) else [functions]
    for value in values:
        for reference in graph.resolver.functions(value, function) if value is not None else ():
            yield from (f"rewards/{reference.function.name}/{statistic}" for statistic in ("mean", "std"))


def _weighs_divergence(call: cst.Call) -> bool:
    """Whether the trainer's configuration gives the divergence from the reference model a weight."""
    beta = keywords(call).get("beta") if last_name(call.func) in ("GRPOConfig", "RLOOConfig") else None
    return beta is not None and constant_number(beta) != 0
