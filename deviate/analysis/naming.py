"""Names of metrics: readable, in snake case, unique within the script."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .tree import listed
from .words import FILLERS, PHASES, QUALITY, SHORT_TIMES, SPEEDS, clause, words

MOST_WORDS = 4
PLAIN = listed(
    "item float int detach cpu numpy mean sum avg np torch tf math round len data result self start end begin tic toc"
)


@dataclass(slots=True)
class Wanted:
    """What a name can be made of.

    Attributes:
        text: words before the value in its message.
        expression: words of the expression.
        phase: train, test, val or eval, where message, function or expression say so.
        hint: what tells this call path or label from the others of the same site.
        function: words of the function that reports.
    """

    text: Sequence[str]
    expression: Sequence[str]
    phase: str | None
    hint: str
    function: Sequence[str]
    line: int


def text_words(before: str, earlier: Sequence[str]) -> list[str]:
    """The words that name a value: of the nearest text that has any."""
    for text in (before, *earlier):
        nearest = clause(re.sub(r"\([^()]*\)", " ", text))
        found = [word for word in words(nearest) if not word.isdigit()]
        kept = [word for word in found if word not in FILLERS]
        if any(len(word) > 1 for word in kept):
            return kept[-MOST_WORDS:]
    return []


def expression_words(spelled: str) -> list[str]:
    """The words of an expression that say what it is."""
    found = [word for name in re.findall(r"[A-Za-z_]\w*", spelled) for word in words(name)]
    kept = [word for word in found if word not in PLAIN and not word.isdigit()]
    telling = [place for place, word in enumerate(kept) if word in QUALITY | SHORT_TIMES | SPEEDS]
    if telling and len(kept) > MOST_WORDS:
        kept = kept[max(0, telling[0] - 2) : telling[0] + 2]
    return list(dict.fromkeys(kept))[:MOST_WORDS] or ["value"]


def phase_of(*texts: str) -> str | None:
    """The phase that the first telling text names."""
    return next((phases[0] for phases in map(phases_in, texts) if phases), None)


def phases_in(text: str) -> list[str]:
    """The phases that a text names, in order; what is evaluated is told better by the data than by `eval`."""
    found = [PHASES[word] for word in words(text) if word in PHASES]
    return [phase for phase in found if phase != "eval"] or found


def give_names(wanted: Sequence[Wanted]) -> list[str]:
    """A name for each, in order: short where that tells them apart, longer where it must."""
    names = [_first(item) for item in wanted]
    for change in (_with_hint, _with_phase, _with_expression, _with_function, _with_line):
        names = _lengthen(names, wanted, change)
    return _numbered(names)


def _first(item: Wanted) -> str:
    chosen = item.text or item.expression
    telling = QUALITY | SHORT_TIMES | SPEEDS
    if item.text and not set(chosen) & telling and "per" not in chosen:
        chosen = [*chosen, *[word for word in item.expression if word in telling][:1]]
    if all(word in PHASES for word in chosen):
        chosen = [*chosen, *item.expression]
    name = "_".join(dict.fromkeys(PHASES.get(word, word) for word in chosen))
    if item.phase and set(chosen) & QUALITY and not set(chosen) & PHASES.keys():
        name = f"{item.phase}_{name}"
    name = re.sub(r"\W", "_", name)
    return name if not name[:1].isdigit() else f"m_{name}"


def _lengthen(names: list[str], wanted: Sequence[Wanted], change: Callable[[str, Wanted], str]) -> list[str]:
    """Change the names that several share, where the change tells at least two of them apart."""
    changed = [change(name, item) for name, item in zip(names, wanted, strict=True)]
    result = list(names)
    for name, count in Counter(names).items():
        places = [place for place, other in enumerate(names) if other == name]
        if count > 1 and len({changed[place] for place in places}) > 1:
            for place in places:
                result[place] = changed[place]
    return result


def _with_hint(name: str, item: Wanted) -> str:
    return _prefixed(name, item.hint)


def _with_phase(name: str, item: Wanted) -> str:
    return _prefixed(name, item.phase)


def _with_expression(name: str, item: Wanted) -> str:
    return _joined(name, item.expression)


def _with_function(name: str, item: Wanted) -> str:
    return _joined(name, item.function)


def _with_line(name: str, item: Wanted) -> str:
    return f"{name}_line_{item.line}"


def _prefixed(name: str, prefix: str | None) -> str:
    return name if not prefix or name.split("_", maxsplit=1)[0] == prefix else f"{prefix}_{name}"


def _joined(name: str, more: Sequence[str]) -> str:
    present = name.split("_")
    rest = [word for word in more if word not in present]
    return "_".join([name, *rest]) if rest else name


def _numbered(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    taken = set(names)
    result = []
    for name in names:
        seen[name] += 1
        number = seen[name]
        while number > 1 and f"{name}_{number}" in taken:
            number += 1
        result.append(name if number == 1 else f"{name}_{number}")
        taken.add(result[-1])
    return result
