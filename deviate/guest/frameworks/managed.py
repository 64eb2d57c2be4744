"""Managed loops: training loops inside a framework, observed through methods that it calls on its own objects.

Nothing is added to what the user passes to a framework, which examines and displays its callbacks.
"""

from __future__ import annotations

import weakref
from sys import _getframe

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable, Mapping
from ..recorder import RunningLoop


class Managed:
    """Loops inside a framework, by the object that runs each; a main step is an epoch."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.recorder = context.recorder
        self.running: dict[int, tuple[Callable[[], object], RunningLoop]] = {}

    def begin(self, driver: object) -> RunningLoop:
        """Training begins, outside of any step."""
        self.end(driver)  # an earlier training that ended in an exception
        number, frame = self.context.project.managed_loop(_getframe(1))
        # With its frame the loop is taken off the running ones when the call ends in an exception.
        loop = RunningLoop(number) if frame is None else RunningLoop(number, id(frame), frame.f_code)
        self.running[id(driver)] = weakref.ref(driver), loop
        return loop

    def loop_of(self, driver: object) -> RunningLoop | None:
        """Its loop; that of a driver which is gone, at the same address, is none."""
        entry = self.running.get(id(driver))
        return entry[1] if entry is not None and entry[0]() is driver else None

    def step(self, driver: object, step: int | None = None) -> None:
        """The step with this number begins, or the next step."""
        loop = self.loop_of(driver) or self.begin(driver)
        if loop.step < 0:
            self.recorder.begin(loop)
        loop.step = loop.step + 1 if step is None else step
        self.recorder.settle()
        self.recorder.main_step(loop.id, loop.step)

    def end(self, driver: object) -> None:
        entry = self.running.pop(id(driver), None)
        if entry is not None:
            self.recorder.end(entry[1])

    def report(self, values: Mapping[str, object]) -> None:
        """Record values that the framework reports, under their names."""
        for name, value in values.items():
            self.recorder.named_value(str(name), value, _getframe())

    def patch(
        self,
        owner: Any,
        name: str,
        before: Callable[..., object] | None = None,
        after: Callable[..., object] | None = None,
    ) -> None:
        """Call functions before or after each call of the method `owner.name`; the owner's module may vary."""
        if not hasattr(getattr(owner, name, None), "__deviate__"):
            self.context.observe(owner, name, before=before, after=after)
