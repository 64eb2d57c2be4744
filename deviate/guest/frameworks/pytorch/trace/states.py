"""States of shared random generators in the trace of PyTorch; one per stream where seeds are routed."""

from __future__ import annotations

import sys
from zlib import crc32

from ....adapter_context import AdapterContext
from ....annotations import Any, Iterator
from ..generators import ACCELERATORS
from ..tensors import state_bytes

PYTHON = "python"
UNTOUCHED = 0
"""In place of the checksum of a generator that nobody has seeded or drawn from since the process imported PyTorch: what
the system gave it at its start is another state in each process, and nothing comes of it."""


class States:
    """Records the states of the shared generators of Python, NumPy and PyTorch."""

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.trace = context.trace
        self.streams = context.streams
        self.latest: dict[str, tuple[object, int]] = {
            name: (state, UNTOUCHED) for name, state in self._shared_states(set())
        }

    def record(self) -> None:
        """A step begins."""
        of_streams = set()
        for bank in self.streams.banks if self.streams.is_active else ():
            of_streams.add(bank.library)
            states = {**bank.states, self.streams.now: bank.get_state()}
            library = PYTHON if bank.library == "random" else bank.library
            for stream in sorted(states):
                self._tell("%s/%s" % (library, stream), bank.fingerprint(states[stream]), is_seeded=True)
        for library, state in self._shared_states(of_streams):
            self._tell(library, state, is_seeded=False)

    def _shared_states(self, seeded: set[str]) -> Iterator[tuple[str, object]]:
        """Libraries and states of shared generators that no stream routes."""
        modules = sys.modules
        if "random" in modules and "random" not in seeded:
            yield PYTHON, modules["random"].getstate()
        if "numpy.random" in modules and "numpy" not in seeded:
            _, key, *rest = modules["numpy.random"].get_state()
            yield "numpy", (key.tobytes(), tuple(rest))
        if "torch" not in seeded:
            yield "torch", state_bytes(self.torch.default_generator.get_state())
        for name in ACCELERATORS:
            backend: Any = getattr(self.torch, name, None)
            generators = getattr(backend, "default_generators", ())
            if "torch." + name not in seeded and generators and backend.is_initialized():
                for number, generator in enumerate(generators):
                    yield "torch.%s:%d" % (name, number), state_bytes(generator.get_state())

    def _tell(self, name: str, state: object, *, is_seeded: bool) -> None:
        """Record a state; unchanged states, which are frequent, are detected by comparison, as checksums cost more."""
        entry = self.latest.get(name)
        if entry is None and not is_seeded:
            entry = self.latest[name] = (state, UNTOUCHED)
        elif entry is None or entry[0] != state:
            entry = self.latest[name] = (state, _checksum(state))
        self.trace.record("state", name, entry[1])


def _checksum(state: object) -> int:
    data = state if isinstance(state, bytes) else repr(state).encode("utf-8")
    return crc32(data)
