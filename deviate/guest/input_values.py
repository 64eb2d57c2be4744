"""Texts for values by which two runs can be compared: nothing in them is an address, and no code of the user runs."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType

from .annotations import Any, Iterator

PLAIN = frozenset({int, float, complex, bool, type(None)})
BY_REPR = frozenset({"datetime", "decimal", "fractions", "ipaddress", "uuid", "zoneinfo"})
"""Modules of types whose representation is their value."""
SIMPLE = PLAIN | {str, bytes, tuple}
LONGEST = 200
MOST_PARTS = 32
DEPTH = 2


def describe(value: Any, work: str, depth: int = DEPTH) -> str:
    """Text of a value: its content where it has one, else its type with its simple attributes.

    Args:
        work: the folder that is left out of texts and paths.
        depth: how far items and attributes are described.
    """
    kind = type(value)
    if kind is str:
        return repr(value.replace(work, ".")[:LONGEST])
    if kind in PLAIN:
        return repr(value)
    if kind is bytes:
        return repr(value[:LONGEST])
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        return "%s.%s" % (value.__module__, value.__qualname__)
    if kind is MethodType:
        return "%s.%s" % (type(value.__self__).__qualname__, value.__func__.__name__)
    if kind in (tuple, list, set, frozenset):
        return _container(value, work, depth)
    bases = {(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__}
    if ("enum", "Enum") in bases:
        return "%s.%s" % (kind.__qualname__, value._name_)
    if ("pathlib", "PurePath") in bases:
        return repr(str(value).replace(work, "."))
    if kind.__module__.partition(".")[0] in BY_REPR or _is_scalar_of_numpy(kind):
        return repr(value)[:LONGEST]
    if tuple in kind.__mro__:
        return kind.__qualname__ + _container(tuple.__getitem__(value, slice(MOST_PARTS)), work, depth)
    return _object(value, work, depth)


def is_by_address(value: Any) -> bool:
    """Whether the hash of a value is made from an address."""
    if type(value) in (tuple, frozenset):
        return any(is_by_address(item) for item in value)
    of_type: object = type(value).__hash__
    return of_type is object.__hash__


def _container(value: Any, work: str, depth: int) -> str:
    if not depth:
        return "%s of %d" % (type(value).__name__, len(value))
    texts = [describe(item, work, depth - 1) for _, item in zip(range(MOST_PARTS), value)]
    if type(value) in (set, frozenset):
        texts.sort()
    more = ", ..." if len(value) > MOST_PARTS else ""
    return "%s(%s%s)" % ("" if type(value) is tuple else type(value).__name__, ", ".join(texts), more)


def _is_scalar_of_numpy(kind: type) -> bool:
    return kind.__module__ == "numpy" and any(base.__name__ == "generic" for base in kind.__mro__)


def _object(value: Any, work: str, depth: int) -> str:
    """The type of an object with its attributes that are numbers, texts and the like."""
    name = type(value).__qualname__
    if not depth:
        return name
    texts = []
    for attribute, item in _attributes(value):
        if type(item) in SIMPLE or _is_scalar_of_numpy(type(item)):
            texts.append("%s=%s" % (attribute, describe(item, work, depth - 1)))
    return "%s(%s)" % (name, ", ".join(texts)) if texts else name


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that are stored in an object, some of them, read without its own code."""
    try:
        state = object.__getattribute__(value, "__dict__")
    except AttributeError:
        state = {}
    if type(state) is dict:
        yield from list(state.items())[:MOST_PARTS]
    for base in type(value).__mro__:
        for name, member in list(vars(base).items()):
            if type(member) is MemberDescriptorType:
                try:
                    yield name, member.__get__(value, type(value))
                except AttributeError:  # a slot that is not filled
                    continue
