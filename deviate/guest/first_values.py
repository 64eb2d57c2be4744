"""Tells first values of weights from examples by what training does to the names that they are bound to.

The call of a draw before the training does not always tell what it makes: `rng.normal(size=(4, 2))` may be weights or
examples. The first run of an experiment looks at the names that the statements bind which drew, of the innermost frame
whose names still exist when the training begins, and again when it has ended: where training has changed the numbers,
they were weights. Numbers that are in another order, or fewer of them, are examples.
"""

from __future__ import annotations

import sys
from types import FrameType, FunctionType, ModuleType

from .annotations import TYPE_CHECKING, Any, Callable, Iterator
from .project import GuestProject, outwards
from .recorder import Recorder

if TYPE_CHECKING:
    Numbers = dict[tuple[object, ...], Any]
    """What names hold: arrays, and lists of numbers, by their place."""

MOST_DRAWS = 8
"""Draws of one place that are looked at: the layers of a model are made by one line."""
MOST_TRAININGS = 8
MOST_NUMBERS = 1 << 24
MOST_OBJECTS = 100_000
DEPTH = 6
CO_OPTIMIZED = 1
"""Flag of the code of functions, whose names have slots. Source: the Python reference, module inspect."""
NO_VALUES = (type, ModuleType, FunctionType, str, bytes, int)
GENERATORS = ("random", "numpy.random")
"""Modules of classes whose objects hold numbers that draws change."""


class BoundNames:
    """Names that a statement binds, and where they are found: in a namespace, or in a frame that may have returned."""

    def __init__(self, names: list[str], frame: FrameType) -> None:
        code = frame.f_code
        is_function = bool(code.co_flags & CO_OPTIMIZED)
        local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars} if is_function else set()
        self.frame, self.code = id(frame), code
        self.places: list[tuple[str, dict[str, Any] | None]] = []
        for name in names:
            root, dot, _ = name.partition(".")
            namespace: dict[str, Any] | None = frame.f_globals if is_function else frame.f_locals
            if root in local:  # an object outlives the frame
                namespace = {root: frame.f_locals.get(root)} if dot else None
            self.places.append((name, namespace))

    def numbers(self, frames: dict[int, FrameType]) -> Numbers:
        """The floating-point numbers that the names hold now."""
        numbers: Numbers = {}
        frame = frames.get(self.frame)
        local = frame.f_locals if frame is not None and frame.f_code is self.code else {}
        for name, namespace in self.places:
            root, *attributes = name.split(".")
            value = (local if namespace is None else namespace).get(root)
            for attribute in attributes:
                value = getattr(value, "__dict__", {}).get(attribute)
            _collect(value, (name,), numbers, set())
        return numbers


class FirstValues:
    """Records places of draws whose values training changes.

    Args:
        bound_names: names that the statement binds which a frame executes.
    """

    def __init__(
        self, recorder: Recorder, project: GuestProject, bound_names: Callable[[FrameType], list[str]]
    ) -> None:
        self.recorder = recorder
        self.project = project
        self.bound_names = bound_names
        self.draws: dict[str, list[list[BoundNames]]] = {}
        self.changed: set[tuple[str, int]] = set()
        self.before: dict[tuple[str, int], tuple[BoundNames, Numbers]] = {}
        self.frames: dict[int, FrameType] = {}
        self.n_trainings = 0
        recorder.at_training.append(self._begin)
        recorder.at_training_end.append(self._end)

    def note(self, place: str, frame: FrameType) -> None:
        """Note a draw before the training."""
        draws = self.draws.setdefault(place, [])
        if len(draws) < MOST_DRAWS and self.n_trainings < MOST_TRAININGS:
            links = ((self.bound_names(outer), outer) for outer in self.project.frames(frame))
            draws.append([BoundNames(names, outer) for names, outer in links if names])

    def _begin(self) -> None:
        self.n_trainings += 1
        if self.n_trainings > MOST_TRAININGS:
            return
        every = [(place, number, links) for place, draws in self.draws.items() for number, links in enumerate(draws)]
        codes = {names.code for _, _, links in every for names in links}
        # Of the frames only these: that of the tap would keep the loop from being seen to end.
        self.frames = {id(frame): frame for frame in outwards(sys._getframe(1)) if frame.f_code in codes}
        for place, number, links in every:
            found = ((names, names.numbers(self.frames)) for names in links)
            innermost = next((one for one in found if one[1]), None)
            if innermost is not None:
                self.before[place, number] = innermost

    def _end(self) -> None:
        self.changed |= {
            key for key, (names, numbers) in self.before.items() if _is_trained(numbers, names.numbers(self.frames))
        }
        for place in dict.fromkeys(place for place, _ in self.before):
            if all(key in self.changed for key in self.before if key[0] == place):
                self.recorder.event("first value", place)
        self.before, self.frames = {}, {}


def _collect(value: Any, path: tuple[object, ...], numbers: Numbers, seen: set[int]) -> None:
    """Add the floating-point numbers of an object, array by array, as single precision."""
    if isinstance(value, float):
        numbers.setdefault(path, []).append(value)
        return
    array = _array(value)
    if array is not None:
        if array.dtype.kind == "f" and 0 < array.size <= MOST_NUMBERS:
            numbers[path] = array.ravel().astype("float32")
    elif len(path) <= DEPTH and id(value) not in seen and len(seen) < MOST_OBJECTS:
        seen.add(id(value))
        for key, part in _parts(value):
            _collect(part, path if key is None else (*path, key), numbers, seen)


def _parts(value: Any) -> Iterator[tuple[object, Any]]:
    """What an object consists of; the key of a number in a list is None."""
    if isinstance(value, (list, tuple, set)):
        yield from ((None if isinstance(part, float) else number, part) for number, part in enumerate(value))
    elif isinstance(value, dict):
        yield from list(value.items())
    elif not isinstance(value, NO_VALUES) and type(value).__module__ not in GENERATORS:
        yield from list(getattr(value, "__dict__", {}).items())


def _array(value: Any) -> Any:
    """An array or a tensor as an array of NumPy; None for other objects."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(type(value), "__array__"):
        return None
    try:
        return numpy.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except Exception:  # no numbers that can be read
        return None


def _is_trained(before: Numbers, after: Numbers) -> bool:
    """Whether all arrays have other numbers than any had before, or, where there are none, some single number has."""
    arrays = [path for path, numbers in before.items() if len(numbers) > 1]
    changes = (
        path in after and len(after[path]) == len(before[path]) and not _are_among(after[path], before.values())
        for path in arrays or before
    )
    return all(changes) if arrays else any(changes)


def _are_among(numbers: Any, groups: Any) -> bool:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return {*map(repr, numbers)} <= {repr(number) for group in groups for number in group}
    known = numpy.concatenate([numpy.asarray(group, "float32").view("uint32") for group in groups])
    return bool(numpy.isin(numpy.asarray(numbers, "float32").view("uint32"), known).all())
