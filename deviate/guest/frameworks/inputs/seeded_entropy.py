"""The cure `entropy=seeded`: random numbers of the operating system come from a generator with a fixed seed.

It reaches `os.urandom`, `os.getrandom`, `uuid.uuid4`, `secrets`, `random.SystemRandom`, and generators of Python and
NumPy that are made without a seed. It does not reach C and C++ code that asks the system itself, such as `torch.seed`,
nor `uuid.uuid1`. Names of temporary files and keys of `multiprocessing` stay random.

Source: CPython, `random.Random.seed` asks in C, `random.SystemRandom` calls `_urandom` of its module, and so does
`secrets`; NumPy, `SeedSequence` calls `secrets.randbits`.
"""

from __future__ import annotations

import os
from _random import Random
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like
from ...stand_ins import stand_in

MODULES = ("os", "random")
SEED = 26
BITS = 256
UNSEEDED = ("tempfile", "multiprocessing")
"""Modules whose numbers are no input of the program, but have to differ between processes."""
MOST_BETWEEN = 3


def install(module: Any, context: AdapterContext) -> None:
    if context.controls.get("entropy") != "seeded":
        return
    entropy = context.part(SeededEntropy)
    if module.__name__ == "os":
        for name in ("urandom", "getrandom"):
            if hasattr(module, name):
                stand_in(module, name, entropy.function(getattr(module, name)))
    else:
        entropy.patch_random(module, has_streams=context.streams.is_active)


class SeededEntropy:
    """The generator of this process; a forked one has a generator of its own."""

    def __init__(self, context: AdapterContext) -> None:
        self.generator = Random(SEED)
        self.n_forks = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._count_fork, after_in_child=self._begin_anew)

    def _count_fork(self) -> None:
        self.n_forks += 1

    def _begin_anew(self) -> None:
        self.generator.seed(hash((SEED, self.n_forks)))

    def function(self, original: Any) -> Any:
        """`os.urandom` or `os.getrandom`, in the place of the original."""

        def function(size: int, *args: Any, **kwargs: Any) -> bytes:
            if size <= 0 or _is_unseeded(_getframe(1)):
                drawn: bytes = original(size, *args, **kwargs)
                return drawn
            return self.generator.getrandbits(8 * size).to_bytes(size, "little")

        return function

    def patch_random(self, module: Any, *, has_streams: bool) -> None:
        original, system = module.Random.seed, module.SystemRandom
        module._urandom = os.urandom

        def seed(generator: Any, a: Any = None, version: int = 2) -> None:
            if a is None and not isinstance(generator, system) and not _is_unseeded(_getframe(1)):
                a = self.generator.getrandbits(BITS)
            original(generator, a, version)

        module.Random.seed = wraps_like(seed, original)
        module.seed = module._inst.seed
        if not has_streams:  # otherwise deviate has seeded it
            module.seed()
            if hasattr(os, "register_at_fork"):  # Python seeds it in a forked process
                os.register_at_fork(after_in_child=module.seed)


def _is_unseeded(frame: FrameType | None) -> bool:
    for _ in range(MOST_BETWEEN):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__")).startswith(UNSEEDED):
            return True
        frame = frame.f_back
    return False
