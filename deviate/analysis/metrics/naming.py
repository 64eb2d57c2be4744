"""Names of metrics in the preview: readable, in snake case, unique within the script. A run shows the final ones."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from deviate.analysis.metrics.collect import Judged
from deviate.analysis.metrics.judge import TRACKERS
from deviate.analysis.resolve.identifier_words import (
    PHASES,
    expression_words,
    phase_of,
    tag_words,
    text_words,
)
from deviate.model.metric_vocabulary import QUALITY


@dataclass(frozen=True, slots=True)
class NameParts:
    """The words from which a name is built.

    Attributes:
        words: those before the value in its message, its tag or key, or else the last ones of its expression.
        phase: train, test, val or eval, where the message says so. of_place: where the expression or the function does;
            it tells equal names apart, and is in no other one.
    """

    words: Sequence[str]
    phase: str | None
    of_place: str | None


def give_names(metrics: Sequence[Judged]) -> list[str]:
    """A name for each, in order; equal ones get the phase, and then a number."""
    parts = [_parts(judged) for judged in metrics]
    names = [_first(one) for one in parts]
    longer = [_with_phase(name, one.phase or one.of_place) for name, one in zip(names, parts, strict=True)]
    return _number(_lengthen(names, longer))


def _lengthen(names: list[str], longer: list[str]) -> list[str]:
    """The names, longer ones where several share a name, but for those that are like the first of them."""
    first: dict[str, str] = {}
    for name, changed in zip(names, longer, strict=True):
        first.setdefault(name, changed)
    return [name if first[name] == changed else changed for name, changed in zip(names, longer, strict=True)]


def _parts(judged: Judged) -> NameParts:
    candidate, value = judged.candidate, judged.candidate.value
    if candidate.sink == "deviate" and candidate.message.count("{}") == 1:  # the name that `deviate.log` was given
        return NameParts([re.sub(r"\W+", "_", candidate.before).strip("_")], None, None)
    is_tagged = candidate.sink in TRACKERS
    text = tag_words(candidate.lead) if is_tagged else text_words(candidate.lead, candidate.earlier)
    of_value = expression_words(value.spelled)
    words = list(text or of_value)
    if all(word in PHASES for word in words):
        words += of_value
    owner = value.function.owner
    spelled = re.sub(r"(?<=\w)\.val\b", "", value.spelled)  # the latest value of a meter
    phase = phase_of(*candidate.heading, *(() if text else (spelled,)))
    of_place = phase_of(spelled, value.function.name, owner.name if owner is not None else "")
    return NameParts(words, phase, of_place)


def _first(parts: NameParts) -> str:
    name = re.sub(r"\W", "_", "_".join(dict.fromkeys(PHASES.get(word, word) for word in parts.words)))
    name = _with_phase(name, parts.phase) if QUALITY & set(parts.words) else name
    return f"m_{name}" if name[:1].isdigit() else name


def _with_phase(name: str, phase: str | None) -> str:
    return f"{phase}_{name}" if phase and not PHASES.keys() & {*name.split("_")} else name


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
