"""Evaluation sets with NumPy outputs, for several adapters: names, rows that belong together, loops of the script."""

from __future__ import annotations

import weakref
from types import FrameType

from .. import names
from ..annotations import Any, Array, Callable, Mapping
from ..project import GuestProject
from .capture import FULL, KEY_WIDTH, PREDICTIONS, Capture, fit_name
from .rows import NO_ROWS, NOTHING, Batches, numbers, rows

NOWHERE = (1, 0)
LOADERS = ("loader", "_dataset")
"""Where iterators have what the script goes through; the second one in TensorFlow."""
DEEPEST, MOST_ITEMS = 2, 16
"""Of the containers in which data is looked for."""


class Way:
    """The call path to a line; calls with equal paths belong together."""


class CaptureSets:
    """The sets of one framework in the current evaluation."""

    def __init__(self, capture: Capture, project: GuestProject, framework: str) -> None:
        self.capture = capture
        self.project = project
        self.framework = framework
        self.has_refused = False
        self.models: list[Callable[[], Any]] = []
        self.roots: dict[str, Callable[[], Any]] = {}
        self.ways: dict[tuple[object, ...], Way] = {}

    # ------------------------------------------------------------ names

    def way(self, frame: FrameType | None, number: int = 0) -> Way:
        """The call path through the script to a frame, for each number apart."""
        calls = [(str(self.project.place(outer.f_code)), outer.f_lasti) for outer in self.project.frames(frame)]
        return self.ways.setdefault((number, *calls), Way())

    def name(self, data: Any, frame: FrameType | None, default: str = "") -> tuple[str, Any]:
        """The name of data in the outermost frame of the script that has a name for it, and the identity of the data.

        Args:
            default: where it has none; else what the function is called that evaluates.

        Returns:
            The second is the data, or what it is a nameless part of.
        """
        own_name = names.find(frame, self.project, lambda value: value is data)
        # With a default, the data is what a library has made of the script's: what it is a part of says nothing.
        for place in (NOWHERE,) if default else (NOWHERE, _span(data)):
            if own_name in ("", names.PLAIN):
                holder_name = names.find(frame, self.project, lambda value: _holds(value, data, place))  # noqa: B023
                if holder_name not in ("", own_name):
                    return holder_name, data if place == NOWHERE else _root(data)
        return own_name or default or names.of_function(frame, self.project), data

    def beside(self, data: Any, frame: FrameType | None) -> Any:
        """Labels beside the data in the script, such as `y_test` beside `X_test`; None if there are none."""
        around_data = list(names.beside(frame, self.project, lambda value: value is data))
        if not around_data or not hasattr(data, "shape"):
            return None
        around, data_name = dict(around_data[1:]), around_data[0][0]
        labels: Any = map(around.get, names.label_names(data_name))
        return next((each for each in labels if len(getattr(each, "shape", ())) and len(each) == len(data)), None)

    def number_of(self, model: Any) -> int:
        """The number of a model, from 1; models that exist at the same time are numbered by their first calls."""
        for number, reference in enumerate(self.models):
            if reference() is model:
                return number + 1
        free = next((number for number, reference in enumerate(self.models) if reference() is None), len(self.models))
        self.models[free : free + 1] = [weakref.ref(model)]
        return free + 1

    # ------------------------------------------------------------ rows

    def store(
        self,
        name: str,
        root: Any,
        batches: Batches,
        step: int | None = None,
        beside: Callable[[], Any] = lambda: None,
    ) -> None:
        """Store a pass over data, or a part of one, and its further outputs as `<name>+<suffix>`.

        What comes again in the same evaluation counts anew; what is another set of the same name gets a number.

        Args:
            root: what the script goes through, by which a set is known.
            beside: gives the true labels where the batches have none.
        """
        outputs, truth, keys = batches.whole()
        arrays = rows(outputs, numbers(beside()) if truth is None else truth, keys)
        if batches.why_not == FULL:
            self.give_up(name, root, FULL)
        elif arrays is None:
            self.refuse(name, batches.why_not or NO_ROWS)
        else:
            name = self.keep(name, root, arrays, step)
            for suffix, further in batches.further.items():
                more = rows(further.whole()[0], None, None)
                if more is not None:
                    self._keep_further(name, suffix, {**arrays, **more}, step)

    def _keep_further(self, name: str, suffix: str, arrays: dict[str, Array], step: int | None) -> None:
        """Store further outputs for the rows of a set that have just been stored."""
        of_set = self.capture.open.get(fit_name(name))
        if of_set is None or of_set.why_not:
            return
        further = "%s+%s" % (name, suffix)
        if of_set.parts["outputs"].rows == arrays["outputs"][1][0]:  # the set begins with these rows
            self.capture.again(further)
        self.capture.rows(further, arrays, self.framework, step)

    def keep(self, name: str, root: Any, arrays: dict[str, Array], step: int | None = None) -> str:
        """Store arrays that are already in their final form."""
        name = self._place(name, root, arrays)
        self.capture.rows(name, arrays, self.framework, step)
        return name

    def give_up(self, name: str, root: Any, reason: str) -> None:
        """Discard a pass over data, and earlier ones over the same data, which would be mistaken for the last."""
        self.has_refused = True
        self.capture.give_up(self._number_name(name, root), self.framework, reason)

    def _number_name(self, name: str, root: Any) -> str:
        """The name of a set, with a number if a set of other data has the same name."""
        chosen, number = name, 1
        while chosen in self.capture.open:
            other_root = self.roots.get(chosen, lambda: None)()
            if other_root is None or root is None or other_root is root:
                break
            number += 1
            chosen = "%s_%d" % (name, number)
        try:
            self.roots[chosen] = weakref.ref(root)
        except TypeError:
            self.roots.pop(chosen, None)
        return chosen

    def _place(self, name: str, root: Any, arrays: dict[str, Array]) -> str:
        chosen = self._number_name(name, root)
        if chosen in self.capture.open and self.capture.open[chosen].why_not:
            return chosen  # further parts of a discarded set
        before = self.capture.open.get(chosen) or self.capture.last.get(chosen)
        if "keys" in arrays and before is not None and "keys" in before.parts:
            old = before.parts["keys"].whole()[2]
            new = bytes(arrays["keys"][2])
            if old == new and "truth" not in arrays and "truth" in before.parts:
                arrays["truth"] = before.parts["truth"].whole()
            # Parts of a set are consecutive; if its first example comes again, it is another pass.
            if old.find(new[:KEY_WIDTH]) % KEY_WIDTH == 0:
                self.capture.again(chosen)
        elif before is not None:
            self.capture.again(chosen)
        return chosen

    def refuse(self, name: str, reason: str) -> None:
        """Report once why a set is not captured."""
        self.has_refused = True
        self.capture.refuse(PREDICTIONS, name, reason)


def _root(data: Any) -> Any:
    """The base array that data is a view of; tables and datasets are their own base."""
    base = getattr(data, "base", None)
    return data if base is None or not hasattr(base, "shape") or len(base) <= len(data) else base


def _span(data: Any) -> tuple[int, int]:
    """First and last memory address of a NumPy array; NOWHERE for other objects."""
    if type(data).__module__.partition(".")[0] != "numpy" or not getattr(data, "nbytes", 0):
        return NOWHERE
    start: int = data.__array_interface__["data"][0]
    return start, start + int(sum((n - 1) * abs(step) for n, step in zip(data.shape, data.strides)))


def _holds(value: Any, data: Any, part: tuple[int, int], depth: int = 0) -> bool:
    """Whether a value is the data, its base array, or a small container of one of them."""
    if value is data:
        return True
    if type(value) in (dict, tuple, list):
        items = list(value.values()) if type(value) is dict else value
        return (
            depth < DEEPEST and len(items) <= MOST_ITEMS and any(_holds(item, data, part, depth + 1) for item in items)
        )
    start, end = _span(value) if part != NOWHERE else NOWHERE
    return start <= part[0] <= part[1] <= end


# ---------------------------------------------------------------- loops of the script


class CaptureLoop:
    """One iteration over a dataset, or consecutive calls without one.

    Attributes:
        name: of the data set.
        data: the data set.
        root: by what of it the loop is known.
        step: of the main loop.
        batches: what was put out.
    """

    def __init__(self, name: str, data: Any, root: Any, step: int, batches: Batches) -> None:
        self.name = name
        self.data = data
        self.root = root
        self.step = step
        self.batches = batches

    def add(self, outputs: Any, truth: Any, inputs: list[Any], further: Mapping[str, Any] = NOTHING) -> None:
        self.batches.add(outputs, _snapshot(truth), [_snapshot(each) for each in inputs], further)


class Loops:
    """The loops of the current evaluation."""

    def __init__(self, capture: Capture, project: GuestProject, framework: str) -> None:
        self.capture = capture
        self.recorder = capture.recorder
        self.sets = CaptureSets(capture, project, framework)
        self.loops: list[CaptureLoop] = []
        capture.at_end.append(self.hand_over)

    def find_loop(self, root: Any, step: int, name: str | None = None) -> CaptureLoop | None:
        """The loop of a step with this root, with any name unless one is passed."""
        matches = (loop for loop in self.loops if loop.root is root and loop.step == step and name in (None, loop.name))
        return next(matches, None)

    def begin(self, name: str, data: Any, root: Any, step: int) -> CaptureLoop:
        self.loops.append(CaptureLoop(name, data, root, step, Batches(self.capture)))
        return self.loops[-1]

    def loop_of(self, data: Any, frame: FrameType, iterator: Any = None, model: Any = None) -> CaptureLoop:
        """The loop that a call in this frame belongs to.

        Args:
            data: the first input, None where there is none. iterator: of the loader that yielded it; None where the
                script has it from elsewhere, and calls from one call path belong together.
            model: which is called; calls of several models from one path are apart.
        """
        step = self.capture.step()
        if iterator is None:
            root = self.sets.way(frame, 0 if model is None else self.sets.number_of(model))
            name = self.sets.name(self if data is None else data, frame)[0]
            return self.find_loop(root, step, name) or self.begin(name, root, root, step)
        loop = self.find_loop(iterator, step)
        if loop is None:
            held = (getattr(iterator, name, None) for name in LOADERS)
            source = next((each for each in held if each is not None), iterator)
            loop = self.begin(self.sets.name(source, frame)[0], source, iterator, step)
        return loop

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is called with labels and outputs, which may belong to the latest call."""
        if self.loops:
            self.loops[-1].batches.label(outputs, lambda: _snapshot(numbers(truth)))

    def training_continues(self) -> None:
        """Training continues, which ends an evaluation."""
        if self.loops or self.capture.open:
            self.capture.end_evaluation()

    def hand_over(self) -> None:
        """The evaluation has ended."""
        loops, self.loops = self.loops, []
        for loop in loops:
            with self.recorder.guarded("outputs of %s" % loop.name):
                if loop.batches:
                    self.sets.store(loop.name, loop.data, loop.batches, loop.step)


def _snapshot(value: Any) -> Any:
    """A copy of values that the script may overwrite before the evaluation ends."""
    return value.copy() if type(value).__module__ == "numpy" and hasattr(value, "copy") else value
