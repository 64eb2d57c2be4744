"""Taps around methods that update meters: the value that the meter will print is read after the update.

The tap is called in two steps, like taps around sinks (see `calls`). The second step is done by `map` and `starmap` in
C: the callee sees the script as its caller, and the value is read afterwards.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import starmap
from sys import _getframe
from types import BuiltinMethodType, CoroutineType, MemberDescriptorType, MethodType

from .annotations import TYPE_CHECKING, Any, Callable, Mapping, Sequence
from .recorder import Recorder
from .values import ABSENT, MOST_ITEMS, is_remote, read

if TYPE_CHECKING:
    from .values import Numbers


def update(
    recorder: Recorder,
    sites: tuple[int, ...],
    label: object,
    callee: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Callable[[], Any]:
    """The first step: returns the remaining call, which ends by reading the meter."""
    after = partial(_record, recorder, sites, label, callee, args, kwargs)
    return map(after, starmap(partial(callee, **kwargs) if kwargs else callee, (args,))).__next__


def _record(
    recorder: Recorder,
    sites: tuple[int, ...],
    label: object,
    callee: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    result: Any,
) -> Any:
    """Read the meter, unless the update is a coroutine that has not run yet."""
    if type(result) is not CoroutineType:
        for site in sites:
            try:
                argument = next(iter((*args, *kwargs.values())), None)
                numbers = _numbers(callee, recorder.fields[site]) or read(argument)
                recorder.numbers(site, numbers, label, _getframe(1))
            except Exception as error:
                recorder.fault("site %s" % site, error)
    return result


def _numbers(callee: Any, names: Sequence[str]) -> Numbers:
    """Numbers from the first attribute of the meter that has any."""
    owner = callee.__self__ if type(callee) in (MethodType, BuiltinMethodType) else callee
    for name in names:
        try:
            value = _attribute(owner, name)
            numbers = [] if isinstance(value, str) else read(value)
        except Exception:  # a property may raise, such as a mean of nothing
            numbers = []
        if len(numbers) == 1 and numbers[0][0] is None:
            return numbers
    return []


def _attribute(owner: Any, name: str) -> Any:
    """The value of a plain attribute, a slot or a property; ABSENT if reading it would run other code.

    A property is user code: the analysis lists only properties that compute without side effects. A property that would
    copy a number from an accelerator to the host, and so wait for it, also counts as absent.
    """
    member = next((base.__dict__[name] for base in type(owner).__mro__ if name in base.__dict__), ABSENT)
    if isinstance(member, property):
        return ABSENT if _is_remote_inside(owner) else member.__get__(owner)
    if isinstance(member, MemberDescriptorType):
        return member.__get__(owner)
    state = _state(owner)
    if name in state:
        return state[name]
    return ABSENT if hasattr(type(member), "__get__") else member


def _state(owner: Any) -> Mapping[str, Any]:
    try:
        state: Mapping[str, Any] = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return state


def _is_remote_inside(owner: Any) -> bool:
    """Whether the meter holds values on an accelerator, directly or in a sequence or mapping."""
    members = [member for base in type(owner).__mro__ for member in base.__dict__.values()]
    slots = [member.__get__(owner) for member in members if type(member) is MemberDescriptorType]
    values = [*_state(owner).values(), *slots]
    for value in values:
        if isinstance(value, dict):
            inside = list(value.values())[:MOST_ITEMS]
        elif isinstance(value, (list, tuple, deque)):
            inside = [value[0], value[-1]] if value else []
        else:
            inside = [value]
        if any(map(is_remote, inside)):
            return True
    return False
