"""Names of metrics: readable, in snake case, unique within the script."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .words import FILLERS, PHASES, QUALITY, SHORT_TIMES, SPEEDS, clause, words

MOST_WORDS = 4
PLAIN = frozenset("item float int detach cpu numpy mean sum avg val np torch tf math round len data result time100".split())


@dataclass(slots=True)
class Wanted:
    """What a name can be made of, most telling first.

    Attributes:
        text: words before the value in its message.
        expression: words of the expression.
        phase: train, test, val or eval, where message, function or expression say so.
        hints: prefixes that tell call paths and labels apart, to be tried in turn.
    """

    text: list[str]
    expression: list[str]
    phase: str | None
    hints: Sequence[str] = field(default_factory=tuple)
    line: int = 0
    extra: Sequence[str] = field(default_factory=tuple)


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
    for text in texts:
        found = [PHASES[word] for word in words(text) if word in PHASES]
        if found:
            return found[0]
    return None


def give_names(wanted: Sequence[Wanted]) -> list[str]:
    """A name for each, in order: short where that tells them apart, longer where it must."""
    names = [_first(item) for item in wanted]
    names = _lengthen(names, wanted, lambda name, item: _prefixed(name, item.hints[0]) if item.hints else name)
    names = _lengthen(names, wanted, lambda name, item: _prefixed(name, item.phase) if item.phase else name)
    for depth in range(1, 4):
        names = _lengthen(
            names, wanted, lambda name, item, d=depth: _prefixed(name, item.hints[d]) if len(item.hints) > d else name
        )
    names = _lengthen(names, wanted, lambda name, item: _joined(name, item.expression))
    names = _lengthen(names, wanted, lambda name, item: _joined(name, item.extra))
    names = _lengthen(names, wanted, lambda name, item: f"{name}_line_{item.line}")
    return _numbered(names)


def _first(item: Wanted) -> str:
    chosen = item.text or item.expression
    name = "_".join(dict.fromkeys(chosen))
    phase_words = [PHASES[word] for word in chosen if word in PHASES]
    if phase_words:
        rest = [word for word in dict.fromkeys(chosen) if word not in PHASES]
        name = "_".join([phase_words[0], *rest]) if rest else "_".join([phase_words[0], *item.expression])
    elif item.phase and set(chosen) & QUALITY:
        name = f"{item.phase}_{name}"
    name = re.sub(r"\W", "_", name)
    return name if not name[:1].isdigit() else f"m_{name}"


def _lengthen(names: list[str], wanted: Sequence[Wanted], change: Callable[[str, Wanted], str]) -> list[str]:
    counts = Counter(names)
    changed = [change(name, item) if counts[name] > 1 else name for name, item in zip(names, wanted, strict=True)]
    kept = {name for name in names if counts[name] == 1}
    return [name if new in kept else new for name, new in zip(names, changed, strict=True)]


def _prefixed(name: str, prefix: str | None) -> str:
    return name if not prefix or name.split("_")[0] == prefix else f"{prefix}_{name}"


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
        if seen[name] > 1:
            number = seen[name]
            while f"{name}_{number}" in taken:
                number += 1
            name = f"{name}_{number}"
            taken.add(name)
        result.append(name)
    return result


def snake(text: str) -> str:
    """A text as a name."""
    return "_".join(words(text))
