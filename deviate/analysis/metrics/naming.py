"""Names of metrics: readable, in snake case, unique within the script."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deviate.analysis.resolve.identifier_words import PHASES, QUALITY, TELLING


@dataclass(slots=True)
class NameParts:
    """The words from which a name is built.

    Attributes:
        text: words before the value in its message.
        expression: words of the expression.
        phase: train, test, val or eval, where message, function or expression say so.
        hint: words that distinguish this call path or label from the others of the site.
        function: words of the function that reports.
        variant: words such as `best` and `final` around the value.
        statistic: what of a meter is shown: `current`, `avg`, ….
    """

    text: Sequence[str]
    expression: Sequence[str]
    phase: str | None = None
    hint: str = ""
    function: Sequence[str] = ()
    variant: Sequence[str] = ()
    statistic: str = ""
    sink: str = ""


def give_names(name_parts: Sequence[NameParts]) -> list[str]:
    """A name for each, in order: as short as uniqueness allows."""
    names = [_first(item) for item in name_parts]
    for change in CHANGES:
        names = _lengthen(names, name_parts, change)
    return _number(names)


def _first(item: NameParts) -> str:
    chosen = list(item.text or item.expression)
    if item.text and not _stems(chosen) & TELLING and "per" not in chosen:
        chosen += [word for word in item.expression if word in TELLING][:1]
    if all(word in PHASES for word in chosen):
        chosen += item.expression
    name = "_".join(dict.fromkeys(PHASES.get(word, word) for word in chosen))
    if item.phase and _stems(chosen) & QUALITY and not set(chosen) & PHASES.keys():
        name = f"{item.phase}_{name}"
    name = re.sub(r"\W", "_", name)
    return name if not name[:1].isdigit() else f"m_{name}"


def _lengthen(names: list[str], name_parts: Sequence[NameParts], change: Callable[[str, NameParts], str]) -> list[str]:
    """Lengthen the names that several share, where that distinguishes at least two of them."""
    changed = [change(name, item) for name, item in zip(names, name_parts, strict=True)]
    result = list(names)
    shared: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        shared.setdefault(name, []).append(place)
    for name, places in shared.items():
        if len(places) > 1 and len({changed[place] for place in places}) > 1:
            helped = _improved_by(change, places, name_parts)
            for place in places:
                result[place] = name if place in helped else changed[place]
    return result


def _improved_by(
    change: Callable[[str, NameParts], str], places: list[int], name_parts: Sequence[NameParts]
) -> list[int]:
    """The metrics that keep the short name: of several sinks, those of the first."""
    if change is not _with_sink:
        return []
    return [place for place in places if name_parts[place].sink == name_parts[places[0]].sink]


def _with_hint(name: str, item: NameParts) -> str:
    return _prefix(name, item.hint)


def _with_phase(name: str, item: NameParts) -> str:
    return _prefix(name, item.phase)


def _with_statistic(name: str, item: NameParts) -> str:
    return _join(name, [item.statistic] if item.statistic else [])


def _with_variant(name: str, item: NameParts) -> str:
    return _join(name, item.variant[-1:])


def _with_sink(name: str, item: NameParts) -> str:
    return _join(name, item.sink.replace("-", "_").split("_"))


def _with_expression(name: str, item: NameParts) -> str:
    return _join(name, [PHASES.get(word, word) for word in item.expression])


def _with_function(name: str, item: NameParts) -> str:
    return _join(name, [PHASES.get(word, word) for word in item.function])


CHANGES = (_with_hint, _with_phase, _with_sink, _with_expression, _with_statistic, _with_variant, _with_function)
"""Name parts that are added, one after the other, while several metrics share a name."""


def _prefix(name: str, prefix: str | None) -> str:
    return name if not prefix or name.split("_", maxsplit=1)[0] == prefix else f"{prefix}_{name}"


def _join(name: str, more: Sequence[str]) -> str:
    present = _stems(name.split("_"))
    rest = [word for word in more if not _stems([word]) & present]
    return "_".join([name, *rest]) if rest else name


def _stems(names: Sequence[str]) -> set[str]:
    """The words, also without plural endings and numbers: `losses` counts as `loss`."""
    return {
        form for word in names for form in (word, word.rstrip("0123456789"), re.sub(r"(?<=s)es$|(?<!s)s$", "", word))
    }


def _number(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    used = set(names)
    result = []
    for name in names:
        seen[name] += 1
        number = seen[name]
        while number > 1 and f"{name}_{number}" in used:
            number += 1
        result.append(name if number == 1 else f"{name}_{number}")
        used.add(result[-1])
    return result
