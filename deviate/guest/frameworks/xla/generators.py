"""The generators of XLA devices: an integer per device on the host, which has a state per stream.

The first draw after the integer was set copies it to the device, as an input of the graph, and each draw computes the
next state from it on both sides. So a switch of states inside a graph adds an input, the same one in every step, and
the graph is not compiled again. At the end of a step the state moves on without a draw.

Source: torch_xla/csrc/xla_graph_executor.cpp, GetRngSeed; torch/csrc/lazy/core/lazy_graph_executor.cpp, MarkStep.
"""

from __future__ import annotations

from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...saved_states import SavedStates
from ...seeds import wraps_like
from ...streams import OTHER, Bank, Streams, spell_seed
from ..pytorch.generators import backward_check

LIBRARY = "torch_xla"
CALL = "torch_xla.core.xla_model.set_rng_state"
COMPILER = "torch_xla._dynamo"
"""Where a compiled graph takes its seed from the state, and moves it on."""
INTERNAL = ("torch_xla._dynamo", "torch_xla.core", "torch_xla.utils")
"""Modules that save and restore states."""
FREE_COMPILED = "draws on the device in a compiled step"
FREE_EXPORTED = "draws on the device in an exported program"


def route_generators(torch_xla: Any, context: AdapterContext) -> None:
    if context.streams.is_active:
        generators = XlaGenerators(context.streams, torch_xla._XLAC)
        generators.patch()
        XlaStates(torch_xla, context, generators).patch()
        _observe_exports(torch_xla, context)
    else:
        context.seeding.override(torch_xla.core.xla_model, "set_rng_state", CALL, LIBRARY, internal=INTERNAL)


class XlaGenerators(Bank):
    """The generators of all devices of this process. `torch.manual_seed` does not seed them.

    Before the runtime is initialised there are no devices, and a state is a seed. Initialising it here would forbid the
    script to start processes.
    """

    def __init__(self, streams: Streams, api: Any) -> None:
        self.api = api
        self.get_seed = api._xla_get_rng_seed
        self.set_seed = api._xla_set_rng_seed
        self.waiting: Any = None
        self.is_ready = False
        super().__init__(streams, LIBRARY)

    def patch(self) -> None:
        """Begin as soon as there are devices, and tell draws from what the end of a step does to a state."""
        default_device, step_marker = self.api._xla_get_default_device, self.api._xla_step_marker

        def get_default_device() -> Any:
            device = default_device()
            if not self.is_ready:
                self._begin()
            return device

        def mark_step(*args: Any, **kwargs: Any) -> Any:
            is_routed = self.is_ready and self.streams.is_routed_thread()
            if is_routed:
                self.note_draws(self.streams.now)
            result = step_marker(*args, **kwargs)
            if is_routed:
                now = self.streams.now
                self.states[now] = self.marks[now] = self.get_state()
            return result

        self.api._xla_get_default_device = wraps_like(get_default_device, default_device)
        self.api._xla_step_marker = wraps_like(mark_step, step_marker)

    def _begin(self) -> None:
        if self.api._xla_runtime_is_initialized():
            self.is_ready = True
            self.set_state(self.waiting)
            self.marks[self.streams.now] = self.get_state()

    def devices(self) -> list[str]:
        return ["xla:%d" % number for number in range(len(self.api._xla_get_devices()))]

    def new_state(self, seed: int) -> Any:
        return seed

    def set_state(self, state: Any) -> None:
        if not self.is_ready:
            self.waiting = state
            return
        devices = self.devices()
        for device, seed in zip(devices, [state] * len(devices) if isinstance(state, int) else state):
            self.set_seed(seed, device)

    def get_state(self) -> Any:
        return tuple(map(self.get_seed, self.devices())) if self.is_ready else self.waiting

    def fingerprint(self, state: Any) -> Any:
        return state

    def switch(self, before: str, now: str) -> None:
        if not self.is_ready:
            self._begin()
        super().switch(before, now)
        if isinstance(self.marks.get(now), int):  # a seed that has become the state of each device
            self.marks[now] = self.get_state()

    def after_seeding(self, now: str) -> None:
        self.set_state(self._state(now))
        super().after_seeding(now)

    def note_draws(self, now: str) -> None:
        super().note_draws(now)
        for stream in [stream for stream, state in self.states.items() if isinstance(state, int)]:
            self.marks[stream] = self.states[stream]  # nothing has drawn from a seed


class XlaStates:
    """Seeds that the script sets, and states that it saves. Restoring one restores those of all streams."""

    def __init__(self, torch_xla: Any, context: AdapterContext, bank: XlaGenerators) -> None:
        self.model = torch_xla.core.xla_model
        self.context = context
        self.bank = bank
        self.saved = SavedStates()
        self.recorded: set[tuple[str, int]] = set()
        self.is_in_backward = backward_check(torch_xla.core.xla_model.torch)

    def patch(self) -> None:
        get_state, set_state = self.model.get_rng_state, self.model.set_rng_state

        def get_rng_state(device: Any = None) -> int:
            state: int = get_state(device)
            if self.context.streams.is_routed_thread():
                self._save(state)
            return state

        def set_rng_state(seed: Any, device: Any = None) -> Any:
            seeding = self.context.seeding
            if seeding.is_passing() or self.is_in_backward():
                return set_state(seed, device)
            caller = str(_getframe(1).f_globals.get("__name__"))
            if seed in self.saved:
                return self._restore(seed, lambda: set_state(seed, device))
            if caller.startswith(INTERNAL):
                if caller.startswith(COMPILER):
                    self._record_compiled(_getframe(1))
                return set_state(seed, device)
            seeding.record(CALL, seed)
            text = spell_seed(seed)
            new = self.context.streams.seed(LIBRARY, text)
            return self.context.streams.reseed(LIBRARY, text, lambda: seeding.carry_out(set_state, (new, device), {}))

        self.model.get_rng_state = wraps_like(get_rng_state, get_state)
        self.model.set_rng_state = wraps_like(set_rng_state, set_state)

    def _save(self, state: int) -> None:
        bank, is_outside = self.bank, self.context.streams.now == OTHER
        belongings = (dict(bank.states), dict(bank.marks), dict(bank.script_seeds)) if is_outside else None
        self.saved.keep(state, belongings)

    def _restore(self, state: int, set_state: Any) -> Any:
        bank, saved = self.bank, self.saved[state]
        now = self.context.streams.now
        bank.note_draws(now)
        result = set_state()
        if saved is not None and now == OTHER:
            bank.states, bank.marks, bank.script_seeds = map(dict, saved)
        bank.states[now] = bank.get_state()
        return result

    def _record_compiled(self, frame: FrameType) -> None:
        """A compiled graph that draws was called; as a whole it draws from the stream that it was called in."""
        if self.context.streams.now == OTHER:
            place = self.context.project.nearest(frame)
            if place not in self.recorded:
                self.recorded.add(place)
                self.context.recorder.event("uncontrolled", FREE_COMPILED, *place)


def _observe_exports(torch_xla: Any, context: AdapterContext) -> None:
    """Report an exported program that draws: its seed is that of the export in all of its calls."""
    api = torch_xla._XLAC
    original, seed_id = api._get_tensors_xla_device_data_node, api._get_seed_info_id()

    def get_nodes(*args: Any, **kwargs: Any) -> Any:
        nodes = original(*args, **kwargs)
        frame = _getframe(1)
        if frame.f_globals.get("__name__") == "torch_xla.stablehlo" and seed_id in nodes[0]:
            context.recorder.event("uncontrolled", FREE_EXPORTED, *context.project.nearest(frame))
        return nodes

    api._get_tensors_xla_device_data_node = wraps_like(get_nodes, original)
