"""Finds the line of the user's program that an operation of PyTorch belongs to, forward and backward."""

from __future__ import annotations

import sys
from threading import get_ident
from types import CodeType, FrameType

from ....annotations import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from ....observers.trace import TraceWriter

    Origin = tuple[int, str, int]
    """Number of the place, path of the module, and number of the place that called the backward pass, -2 outside."""

PROJECT, ENGINE, ELSEWHERE = 1, 2, 0
BACKWARD = ("torch/autograd/graph.py", "_engine_run_backward")
"""The frame from which the backward pass is run."""
HANDLERS = frozenset(["__torch_dispatch__", "__torch_function__"])
"""Functions that carry out what others have asked for, be they in the project too."""
FORWARD = -2
NEAREST = 8
"""How far below the number of a node the operation that made it is looked for."""
MOST = 1 << 16
"""Nodes whose lines are remembered, and backward passes."""


class TracedLines:
    """Lines of operations, cached by code object and instruction of the frame.

    Nodes of the autograd graph are numbered in order of creation, just before their operation is executed. In the
    backward pass, the number of a running node therefore shows which line created it.
    """

    def __init__(self, torch: Any, trace: TraceWriter, path: Callable[[], str]) -> None:
        self.trace = trace
        self.path = path
        core = torch._C
        self.number = getattr(getattr(core, "_autograd", None), "_get_sequence_nr", lambda: 0)
        self.task = getattr(core, "_current_graph_task_id", lambda: -1)
        self.node = getattr(core, "_current_autograd_node", lambda: None)
        self.codes: dict[int, tuple[CodeType, int]] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.makers: dict[int, tuple[int, str]] = {}
        self.called: dict[int, int] = {}
        self.last = -1

    def forget(self) -> None:
        """Forget all nodes."""
        self.makers.clear()
        self.called.clear()

    def find(self, frame: FrameType | None) -> Origin:
        """The line of an operation that `frame` requested and that was just executed."""
        place, called = self._nearest(frame), FORWARD
        task = self.task()
        if task == -1:
            module = self.path()
        else:
            called = self._caller_place(task, frame)
            line, module = self._origin(called)
            module = self.path() or module  # a running frame is computed again
            if place < 0:
                place = line
        number = self.number()
        if number != self.last:
            self.last = number
            if len(self.makers) > MOST:
                self.makers.clear()
            if number:
                self.makers.setdefault(number - 1, (place, module))
        return place, module, called

    def note(self, first: int, origin: Origin) -> None:
        """Nodes from this number on were created by the last operation."""
        for number in range(first, min(self.number(), first + MOST)):
            self.makers.setdefault(number, origin[:2])

    def _nearest(self, frame: FrameType | None) -> int:
        """The nearest place in the project within the running backward pass; else negative."""
        codes = self.codes
        while frame is not None:
            code = frame.f_code
            entry = codes.get(id(code))
            if entry is None:
                entry = codes[id(code)] = (code, self._kind(code))
            if entry[1] == PROJECT:
                key = (id(code), frame.f_lasti)
                place = self.places.get(key)
                if place is None:
                    place = self.places[key] = self.trace.place(frame)
                return place
            if entry[1] == ENGINE:
                return -1
            frame = frame.f_back
        return -1

    def _kind(self, code: CodeType) -> int:
        if self.trace.project.place(code) is not None:
            return ELSEWHERE if code.co_name in HANDLERS else PROJECT
        name = code.co_filename.replace("\\", "/")
        file, function = BACKWARD
        is_engine = code.co_name == function and name.endswith(file)
        return ENGINE if is_engine else ELSEWHERE

    def _origin(self, called: int) -> tuple[int, str]:
        """Line and module that created the running node."""
        node = self.node()
        if node is None:  # work that the backward pass has deferred to its end
            return called, ""
        number = node._sequence_nr()
        for below in range(NEAREST):
            maker = self.makers.get(number - below)
            if maker is not None:
                return maker
        return called, ""

    def _caller_place(self, task: int, frame: FrameType | None) -> int:
        """Place from which the backward pass was called; on an accelerator it runs in its own thread."""
        place = self.called.get(task)
        if place is None:
            if get_ident() != self.trace.thread:
                frame = sys._current_frames().get(self.trace.thread, frame)
            engine = frame
            while engine is not None and self._kind(engine.f_code) != ENGINE:
                engine = engine.f_back
            if len(self.called) > MOST:
                self.called.clear()
            place = self.called[task] = self.trace.place(engine or frame)
        return place
