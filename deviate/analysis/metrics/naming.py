"""Names of metrics in the preview: readable, in snake case, unique within the script. A run shows the final ones."""

import re
from collections import Counter
from collections.abc import Sequence

from deviate.analysis.metrics.collect import Judged
from deviate.analysis.resolve.identifier_words import PHASES, expression_words, phase_of, tag_words, text_words
from deviate.model.analysis import TRACKERS
from deviate.model.metric_vocabulary import QUALITY


def give_names(metrics: Sequence[Judged]) -> list[str]:
    """A name for each, in order; equal ones get a number."""
    return _number([_name(judged) for judged in metrics])


def _name(judged: Judged) -> str:
    """The words before the value in its message, its tag or key, or else the last ones of its expression."""
    candidate, value = judged.candidate, judged.candidate.value
    if candidate.sink == "deviate" and candidate.message.count("{}") == 1:  # the name that `deviate.log` was given
        return re.sub(r"\W+", "_", candidate.before).strip("_")
    is_tagged = candidate.sink in TRACKERS
    text = tag_words(candidate.lead) if is_tagged else text_words(candidate.lead, candidate.earlier)
    of_value = expression_words(value.spelled)
    words = list(text or of_value)
    if all(word in PHASES for word in words):
        words += of_value
    name = re.sub(r"\W", "_", "_".join(dict.fromkeys(PHASES.get(word, word) for word in words)))
    if QUALITY & set(words):
        spelled = re.sub(r"(?<=\w)\.val\b", "", value.spelled)  # the latest value of a meter
        name = _with_phase(name, phase_of(*candidate.heading, *(() if text else (spelled,))))
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
