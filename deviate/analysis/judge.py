"""Judgement: whether a reported value is a metric, weighed from its origin, its words and how it is shown."""

from dataclasses import dataclass

from deviate.model import Direction, Role

from .origin import Origin, Origins
from .templates import decimals, is_integer_spec
from .tree import dotted, identifiers
from .values import Value
from .words import (
    COUNTERS,
    ESTIMATES,
    MEMORY,
    NEUTRAL,
    QUALIFIERS,
    QUALITY,
    RATES,
    SHORT_TIMES,
    SPEEDS,
    all_words,
    clause,
    direction_of,
    unit_after,
    words,
)

REFUSED = {
    "counter": "counter",
    "size": "size",
    "setting": "setting",
    "rate": "setting",
    "clock": "clock",
    "memory": "memory",
    "text": "name",
    "constant": "constant",
    "object": "object",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that is reported, with what stands around it.

    Attributes:
        before, after: text up to the neighbouring values of the message.
        earlier: texts before that, nearest first, up to the first value that may be a metric.
    """

    value: Value
    before: str
    after: str
    line: int
    sink: str
    message: str
    earlier: tuple[str, ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The role of a metric, or (role None) the reason why it is none."""

    role: Role | None
    direction: Direction | None = None
    evidence: tuple[str, ...] = ()
    reason: str = ""


class Judge:
    """Weighs candidates."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins

    def origin(self, value: Value) -> Origin:
        origin = self.origins.of(value.source, value.function)
        if value.path and origin.kind in ("object", "constant", "text"):
            return Origin("unknown")
        return origin

    def decide(self, candidate: Candidate) -> Decision:
        """Metric or not, with reasons."""
        value = candidate.value
        origin = self.origin(value)
        own = all_words([*identifiers(value.source), value.path])
        near = words(clause(candidate.before))
        refused = self._refuse(candidate, origin, own, near)
        if refused:
            return Decision(None, reason=refused)
        evidence = self._evidence(candidate, origin, own, near)
        role = self._role(candidate, origin, own, near)
        if role is None:
            return Decision(None, reason="nothing marks it as a measurement: no telling word, no float format")
        direction = direction_of([*own, *near]) if role == "quality" else None
        if role == "time":
            is_speed = origin.kind == "speed" or unit_after(candidate.after)[0] == "speed" or SPEEDS & {*own, *near}
            direction = "max" if is_speed else "min"
        elif role == "quality":
            direction = direction_of(near) or direction_of(own)
        return Decision(role, direction, evidence)

    def _refuse(self, candidate: Candidate, origin: Origin, own: list[str], near: list[str]) -> str:
        named = set(own) | set(near)
        if RATES & set(own) or (RATES & set(near[-2:]) and origin.kind not in ("quality", "duration", "speed")):
            return "setting: learning rate"
        if ESTIMATES & named and origin.kind != "quality" and not QUALITY & set(own):
            return "estimate: time left"
        if (MEMORY & set(near[-3:]) and not QUALITY & set(own)) or MEMORY & set(own):
            return "memory: use of memory"
        if origin.kind in REFUSED and not _is_named_for_quality(candidate, origin, own, near):
            prefix = REFUSED[origin.kind]
            reason = origin.reason or prefix
            return reason if reason.startswith(prefix) else f"{prefix}: {reason}"
        if is_integer_spec(candidate.value.spec) and not QUALITY & named and origin.kind not in ("duration", "speed"):
            return "counter: shown as a whole number"
        counts = bool(own) and own[-1] in COUNTERS and origin.kind in {"unknown", "computed"}
        if counts and decimals(candidate.value.spec) is None and not QUALITY & named:
            return f"counter: named {dotted(candidate.value.source) or own[-1]}"
        return ""

    def _role(self, candidate: Candidate, origin: Origin, own: list[str], near: list[str]) -> Role | None:
        digits = decimals(candidate.value.spec)
        if origin.kind in ("duration", "speed"):
            return "time"
        names_other = digits is None and bool(near) and near[-1] in QUALIFIERS
        if origin.kind == "quality" or (QUALITY - NEUTRAL) & set(own):
            return "quality"
        if (SHORT_TIMES | SPEEDS) & set(own) and not QUALITY & set(near):
            return "time"
        if not names_other:
            if QUALITY & set(near) or NEUTRAL & set(own):
                return "quality"
            if (SHORT_TIMES | SPEEDS) & set(near) or unit_after(candidate.after)[0]:
                return "time"
        if NEUTRAL & set(own):
            return "quality"
        if digits is not None and digits >= 1 and origin.kind in ("computed", "unknown"):
            return "quality" if origin.kind == "computed" else "other"
        return None

    def _evidence(self, candidate: Candidate, origin: Origin, own: list[str], near: list[str]) -> tuple[str, ...]:
        found = []
        telling = QUALITY | SHORT_TIMES | SPEEDS
        texts = [word for word in near if word in telling]
        names = [word for word in own if word in telling]
        if texts:
            found.append(f'called "{clause(candidate.before).strip(" :=(%/)")}" in the message')
        if names:
            found.append(f"named with {', '.join(dict.fromkeys(names))}")
        if origin.kind in ("quality", "duration", "speed", "computed") and origin.reason:
            found.append(origin.reason)
        digits = decimals(candidate.value.spec)
        shown = "" if digits is None else f"shown with {digits} decimal{'' if digits == 1 else 's'} "
        found.append(f"{shown or 'reported '}by {candidate.sink} ({candidate.value.style})")
        return tuple(found)


def _is_named_for_quality(candidate: Candidate, origin: Origin, own: list[str], near: list[str]) -> bool:
    """Whether a value that is computed from counters alone is nevertheless told to be a measurement.

    Schedules and small scripts do so: `acc = epoch / 10`. A counter as it is stays a counter.
    """
    if origin.kind != "counter" or not origin.reason.startswith("counter: computed") or COUNTERS & set(own[-1:]):
        return False
    if is_integer_spec(candidate.value.spec):
        return False
    telling = QUALITY - NEUTRAL
    return bool(telling & set(own)) or (decimals(candidate.value.spec) is not None and bool(telling & set(near[-1:])))
