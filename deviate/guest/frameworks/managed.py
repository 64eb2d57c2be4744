"""Managed loops: training that a framework drives, seen at the methods that it calls on objects of its own.

Nothing is added to what the user hands to a framework: it looks at callbacks to choose how it runs, and shows them.
"""

from __future__ import annotations

import weakref
from sys import _getframe

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable, Mapping
from ..recorder import Running


class Managed:
    """The loops that a framework drives, by the object that drives each: a main step is an epoch."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.recorder = context.recorder
        self.running: dict[int, tuple[Callable[[], object], Running]] = {}

    def begin(self, driver: object) -> Running:
        """Training begins, outside of any step yet."""
        self.end(driver)  # an earlier training that ended in an exception
        number, frame = self.context.project.managed_loop(_getframe(1))
        # With its frame the loop is taken off the running ones when the call ends in an exception.
        loop = Running(number) if frame is None else Running(number, id(frame), frame.f_code)
        self.running[id(driver)] = weakref.ref(driver), loop
        return loop

    def loop_of(self, driver: object) -> Running | None:
        """Its loop; that of a driver which is gone, at the same address, is none."""
        entry = self.running.get(id(driver))
        return entry[1] if entry is not None and entry[0]() is driver else None

    def step(self, driver: object, step: int | None = None) -> None:
        """The step with this number begins, or the next one."""
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
        """Values that the framework reports, each under its own name."""
        for name, value in values.items():
            self.recorder.named_value(str(name), value, _getframe())

    def patch(
        self,
        owner: Any,
        name: str,
        before: Callable[..., object] | None = None,
        after: Callable[..., object] | None = None,
    ) -> None:
        """Act before or after each call of the method `owner.name`, which may have several homes."""
        if not hasattr(getattr(owner, name, None), "__deviate__"):
            self.context.observe(owner, name, before=before, after=after)
