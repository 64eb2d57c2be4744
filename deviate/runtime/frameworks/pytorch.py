"""PyTorch: seeds, writers in C, and silence of the taps while a compiler reads the program."""

from __future__ import annotations

import sys

from .. import taps
from ..files import Guard
from ..parts import Guest
from ..seeds import dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("torch", "torch.utils.data")

WORKERS = "torch.utils.data"
"""A loader worker seeds itself from the loader's base seed: that follows from the seed set already."""


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == "torch.utils.data":
        _hold_split(module, guest)
        return
    guest.recorder.event("environment", _facts(module))
    taps.is_compiling = module.compiler.is_compiling if hasattr(module, "compiler") else taps.is_compiling
    if guest.seeding.is_active:
        module.manual_seed(guest.streams.seed("torch"))
    override = guest.seeding.override
    override(module, "manual_seed", "torch.manual_seed", "torch", internal=WORKERS)
    override(module.random, "manual_seed", "torch.manual_seed", "torch", internal=WORKERS)
    for backend in ("cuda", "mps", "xpu"):
        owner = getattr(module, backend, None)
        for name in ("manual_seed", "manual_seed_all"):
            if hasattr(owner, name):
                override(owner, name, "torch.%s.%s" % (backend, name), "torch", internal=WORKERS)
    _part_before(module, "save", guest.guard, position=1, keyword="f")
    _part_before(module.jit, "save", guest.guard, position=1, keyword="f")


def _facts(torch: Any) -> dict[str, str]:
    facts = {"torch": torch.__version__}
    if torch.version.cuda:
        facts["CUDA of torch"] = torch.version.cuda
    return facts


def _part_before(owner: Any, name: str, guard: Guard, position: int, keyword: str) -> None:
    """torch.save opens its file in C, unseen by audit hooks."""
    original = getattr(owner, name)

    def save(*args: Any, **kwargs: Any) -> Any:
        target: Any = args[position] if len(args) > position else kwargs.get(keyword)
        if isinstance(target, str) or hasattr(target, "__fspath__"):
            guard.before_writing(target, is_emptied=True)
        return original(*args, **kwargs)

    setattr(owner, name, dress(save, original))


def _hold_split(data: Any, guest: Guest) -> None:
    """Which examples train and which test is held in every built-in variant."""
    if not guest.seeding.is_active or not hasattr(data, "random_split"):
        return
    original = data.random_split

    def random_split(dataset: Any, lengths: Any, generator: Any = None) -> Any:
        if generator is None:
            torch = sys.modules["torch"]
            generator = torch.Generator().manual_seed(guest.streams.next_seed("torch.random_split", stream="split"))
        return original(dataset, lengths, generator)

    data.random_split = dress(random_split, original)
