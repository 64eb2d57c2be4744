"""Sinks by name: which callables report values, and which of their arguments carry them.

A sink is a generator function with the signature of the callable it stands for; it yields how each argument carries
values. It never looks into the arguments, so the same function serves the analysis (which binds expressions) and the
guest (which binds values). Standard library only and Python 3.8, for sinks travel with the guest, which loads the file
of a sink when it first meets a call of it; the analysis loads them all.
"""

from __future__ import annotations

import functools
import importlib
import re
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, Union

from .kinds import FormatTemplate, Message, Record, Row, Scalar, Summary, Table, Template

Carried = Union[Message, Template, FormatTemplate, Scalar, Record, Row, Table, Summary]
Carry = Callable[..., Iterator[Carried]]
Patterns = Union[str, Iterable[str]]
COPIES = __package__.rpartition(".")[0] + ".plugins"
"""Where sinks of other packages lie when they travel, as modules named after their own."""


class Sink:
    """One way of reporting.

    Attributes:
        key: unique, and the same in the analysis and in the guest: file and function, such as `progress.set_postfix`,
            or first name (`trackers.wandb_log`); of another package module and function (`labbook.deviate_sink.note`).
        name: what the user sees in tables and JSON.
        names: qualified names of the callables; a call's result is written `module.function()`. With `*` for any text,
            as in `torch.*SummaryWriter().add_scalar`, for a class that can be imported from several places. With `[]=`
            behind it an assignment to an item, whose arguments are key and value: the analysis alone knows those.
        spellings: the callee's text, in lower case and with `*`, for receivers whose type cannot be known. The last
            name, of these and of `names`, is written out: callees are looked up by it.
    """

    def __init__(self, name: str, names: Iterable[str], spellings: Iterable[str], carry: Carry) -> None:
        module = carry.__module__
        for folder in (__package__ + ".", COPIES + "."):
            module = module[len(folder) :] if module.startswith(folder) else module
        self.key = module + "." + carry.__name__
        self.name = name
        self.names = tuple(names)
        self.spellings = tuple(spellings)
        self.carry = carry

    def carried(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Carried]:
        """How the arguments of one call carry values; empty if they do not fit.

        A mapping that the call unpacks (`**values`) and whose items are not known stands in `named` under a key that
        begins with `**`.
        """
        try:
            items = self.carry(*positional, **named)
        except TypeError:
            return []
        return list(items)


SINKS: dict[str, Sink] = {}
_exact: dict[str, Sink] = {}
# By the last name of the callee: few patterns are left to try.
_patterns: dict[str, list[tuple[str, Sink]]] = {}
_spellings: dict[str, list[tuple[str, Sink]]] = {}


def sink(name: str, names: Iterable[str], spellings: Iterable[str] = ()) -> Callable[[Carry], Carry]:
    """Register the decorated generator function as the sink `name`.

    Args:
        name: what users see in tables and JSON.
        names: qualified names of the callables; `()` stands for the result of a call, `*` for any text.
        spellings: the callee's text, in lower case and with `*`, for receivers whose type cannot be known.
    """

    def register(carry: Carry) -> Carry:
        new_sink = Sink(name, names, spellings, carry)
        SINKS[new_sink.key] = new_sink
        for qualified in new_sink.names:
            if "*" in qualified:
                _add(_patterns, qualified, new_sink)
            else:
                _exact[qualified] = new_sink
        for spelling in new_sink.spellings:
            _add(_spellings, spelling, new_sink)
        return carry

    return register


def declaring(module: str) -> Callable[..., None]:
    """Make `reports` for a file, which registers sinks that need no function of their own."""

    def reports(
        parameters: str, kind: Callable[..., Carried], name: str, names: Patterns, spellings: Patterns = ()
    ) -> None:
        """Register callables with these parameters as the sink `name`.

        Args:
            parameters: those with a dash carry nothing; those with a bar are optional, and may have several names; a
                star at the end stands for further ones.
            kind: what the others carry together; nothing where the last of them is optional and absent.
            names, spellings: as for `sink`, or as one text.
        """
        listed = [parameter for parameter in parameters.split() if parameter != "*"]
        names_by_place = [parameter.lstrip("-").split("|") for parameter in listed]
        carrying = [aliases for parameter, aliases in zip(listed, names_by_place) if parameter[0] != "-"]
        required = {aliases[0] for aliases in carrying if len(aliases) == 1}
        allowed = {alias for aliases in names_by_place for alias in aliases}

        @functools.lru_cache(maxsize=None)
        def places(n_positional: int, named: tuple[str, ...]) -> list[list[Any]]:
            """Of each value that is carried, the arguments that may hold it: by number or by name."""
            arguments = {
                **{names[0]: n for n, names in enumerate(names_by_place[:n_positional])},
                **{n: n for n in named},
            }
            is_too_much = n_positional > len(names_by_place) or not set(arguments) <= allowed
            if not set(arguments) >= required or (is_too_much and not parameters.endswith("*")):
                raise TypeError(parameters)
            return [[arguments[alias] for alias in aliases if alias in arguments] for aliases in carrying]

        def carry(*positional: Any, **named: Any) -> Iterator[Carried]:
            by_value = places(len(positional), tuple(named))
            values = [given(*[positional[at] if type(at) is int else named[at] for at in where]) for where in by_value]
            is_absent = values[-1] is None and len(carrying[-1]) > 1
            return iter([] if is_absent else [kind(*values)])

        patterns = [listed.split() if isinstance(listed, str) else list(listed) for listed in (names, spellings)]
        carry.__module__, carry.__name__ = module, re.sub(r"\W+", "_", [*patterns[0], *patterns[1]][0])
        sink(name, *patterns)(carry)

    return reports


def nameless(value: Any) -> Scalar:
    """A value alone."""
    return Scalar(None, value)


def methods(owners: Iterable[str], names: Iterable[str]) -> list[str]:
    """Every name with every owner before it: `logging.info`, `logging.getLogger().info`, …."""
    listed = list(names)
    return [owner + "." + name for owner in owners for name in listed]


def by_keyword(values: Mapping[str, Any]) -> Iterator[Carried]:
    """Keyword arguments that are values, each under its own name; what was given with two stars, whole."""
    for name, value in values.items():
        yield Record(value) if name.startswith("**") else Scalar(name, value)


def given(*arguments: Any) -> Any:
    """The first argument that is there: parameters are called differently in several versions of one callable."""
    for argument in arguments:
        if argument is not None:
            return argument
    return None


def find_sink(qualified: str | None, spelling: str) -> Sink | None:
    """The sink of a callee, by its qualified name (None when unknown) or else by how it is spelled; None if no sink."""
    _load_all()
    if qualified is not None:
        match = _exact.get(qualified) or _match(qualified, _patterns)
        if match is not None:
            return match
    return _match(spelling.lower(), _spellings)


def find_by_key(key: str) -> Sink:
    """The sink with this key; only the file that the key names is loaded.

    Raises:
        KeyError: there is no such sink.
    """
    if key not in SINKS:
        file = key.rpartition(".")[0]
        try:
            importlib.import_module("." + file, __package__)
        except ImportError as error:
            raise KeyError(key) from error
    return SINKS[key]


@functools.lru_cache(maxsize=None)
def _load_all() -> None:
    """Import every file of this folder; each registers its sinks."""
    import pkgutil  # not for the guest, which never comes here

    package = importlib.import_module(".", __package__)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module("." + module.name, __package__)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _add(patterns: dict[str, list[tuple[str, Sink]]], pattern: str, new_sink: Sink) -> None:
    """Patterns that say more come first: those that begin with the name of a library, then the longer."""
    listed = patterns.setdefault(_last(pattern), [])
    listed.append((pattern, new_sink))
    listed.sort(key=lambda item: (item[0].startswith("*"), -len(item[0])))


def _match(text: str, patterns: Mapping[str, list[tuple[str, Sink]]]) -> Sink | None:
    for pattern, candidate in patterns.get(_last(text), ()):
        if _compile_pattern(pattern).fullmatch(text):
            return candidate
    return None


@functools.lru_cache(maxsize=None)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")))
