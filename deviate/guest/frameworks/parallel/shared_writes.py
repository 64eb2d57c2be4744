"""Whether a function changes shared objects so that the order of its calls is seen: it appends, or adds in place."""

from __future__ import annotations

from types import CodeType

from ...annotations import Any, Iterator
from ...project import Project

SHARED = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_ATTR")
"""Instructions that load what other threads may have as well; arguments are added."""
METHODS = ("LOAD_METHOD", "LOAD_ATTR")
ORDERED = frozenset((
    "append", "extend", "insert", "appendleft", "extendleft", "write", "writelines", "writerow", "step", "backward",
))  # fmt: skip
"""Methods whose order of calls is seen in the object afterwards."""
STORES = ("STORE_GLOBAL", "STORE_NAME", "STORE_DEREF", "STORE_ATTR")
DEPTH = 3
"""Functions of the project are followed over so many calls."""


def writes_in_order(function: Any, project: Project) -> bool:
    seen: set[CodeType] = set()
    return any(_writes(code) for code in _codes(function, getattr(function, "__self__", None), project, seen, DEPTH))


def _codes(function: Any, owner: Any, project: Project, seen: set[CodeType], depth: int) -> Iterator[CodeType]:
    """Code of a function of the project, and of those that it calls."""
    code = getattr(function, "__code__", None)
    if code is None or code in seen or project.place(code) is None:
        return
    seen.add(code)
    yield code
    yield from (constant for constant in code.co_consts if isinstance(constant, CodeType))
    if depth:
        names = getattr(function, "__globals__", {})
        for name in code.co_names:
            yield from _codes(names.get(name), None, project, seen, depth - 1)
            if owner is not None:
                yield from _codes(getattr(type(owner), name, None), owner, project, seen, depth - 1)


def _writes(code: CodeType) -> bool:
    import dis  # takes milliseconds, and few programs start threads

    arguments = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    before: Any = None
    is_in_place = False
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        is_method = name in METHODS and value in ORDERED
        if is_method and before is not None and _is_shared(before, arguments):
            return True
        if name in STORES or (name == "STORE_SUBSCR" and is_in_place):
            return True
        if name.startswith("INPLACE_") or (name == "BINARY_OP" and instruction.argrepr.endswith("=")):
            is_in_place = True
        elif name not in ("SWAP", "ROT_TWO", "ROT_THREE", "COPY", "CACHE", "EXTENDED_ARG"):
            is_in_place = False
        before = instruction
    return False


def _is_shared(load: Any, arguments: set[str]) -> bool:
    """Whether an instruction loads an object that other threads may have as well."""
    return load.opname in SHARED or (load.opname.startswith("LOAD_FAST") and load.argval in arguments)
