"""Judgement: whether a reported value is a metric, by the rules for and against it, the most telling first."""

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.identifier_words import QUALIFIERS, all_words, clause, tag_words, unit_after, without_unit
from deviate.analysis.resolve.message_items import FormatStyle, ReportedValue, decimals, is_integer_spec
from deviate.analysis.resolve.origins import COUNTING as COUNTER_KINDS
from deviate.analysis.resolve.origins import UNKNOWN, Origin, Origins
from deviate.analysis.resolve.tree import constant_key, dotted_name, identifiers, last_name
from deviate.model.analysis import TRACKERS, Direction, RejectionReason, Role
from deviate.model.metric_vocabulary import (
    AMOUNTS,
    COUNTERS,
    ESTIMATES,
    MEMORY,
    NEUTRAL,
    QUALITY,
    RATES,
    SHORT_TIMES,
    SPEEDS,
    TUNED,
    WHOLES,
    direction_of,
    split_identifier,
    word_set,
)

FIXED = {
    "counter": RejectionReason.COUNTER,
    "loop counter": RejectionReason.LOOP_COUNTER,
    "conditional counter": RejectionReason.COUNTER,
    "place": RejectionReason.COUNTER,
    "size": RejectionReason.SIZE,
    "setting": RejectionReason.SETTING,
    "rate": RejectionReason.SETTING,
    "clock": RejectionReason.CLOCK,
    "memory": RejectionReason.MEMORY,
    "text": RejectionReason.TEXT,
    "constant": RejectionReason.CONSTANT,
    "object": RejectionReason.OBJECT,
}
"""Kinds of origin that are no measurement."""
TIMES = SHORT_TIMES | SPEEDS


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reported value with the text around it.

    Attributes:
        before, after: text up to the neighbouring values of the message. is_first: no value stands before it.
        stem: text before an index that is written into the name, as in `reward_env_{i}={reward}`.
        is_tagged: its name is a value that only a run knows, as in `add_scalar(key, value)`.
        earlier: texts before that, nearest first, up to the first value that may be a metric. heading: all of them.
    """

    value: ReportedValue
    before: str
    after: str
    line: int
    sink: str
    message: str
    earlier: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    label: str | None = None
    is_first: bool = True
    stem: str = ""
    is_tagged: bool = False

    @property
    def lead(self) -> str:
        """The text that leads to the value, without the unit of the value before it."""
        return self.stem + (self.before if self.is_first else without_unit(self.before))


TEXT_NAMES = word_set(
    "name names type types dir dirs directory path paths file files filename folder mode title url tag extension ext "
    "suffix prefix"
)
COUNTING = word_set("n num nb number")
CHOSEN = word_set(
    "params hparams hyper hyperparams hyperparameters config settings schedule schedules scheduler anneal annealing"
)
"""Groups of tags that hold what is chosen."""


@dataclass(frozen=True, slots=True)
class View:
    """A candidate as the rules see it.

    Attributes:
        of_value: words of the identifiers in the expression. last: the last word of the numerator.
        before: words of the text before it.
        text: that text.
        unit: kind of the unit behind it: `speed`, `time` or empty.
        digits: decimals that its format asks for; None where that is no float format.
    """

    candidate: Candidate
    origin: Origin
    of_value: frozenset[str]
    last: str
    before: list[str]
    text: str
    unit: str
    digits: int | None

    @property
    def value(self) -> ReportedValue:
        return self.candidate.value

    @property
    def words(self) -> frozenset[str]:
        """All words by which it is called."""
        return self.of_value | {*self.before}

    @property
    def is_measured(self) -> bool:
        return self.origin.kind in ("quality", "duration", "speed")

    @property
    def is_open(self) -> bool:
        """Whether its origin tells nothing."""
        return self.origin.kind in ("unknown", "computed")

    @property
    def is_shown_as_quality(self) -> bool:
        """Whether it is computed from counters or sizes, and yet called a quality: `acc = epoch / 10`.

        A counter as it is stays one, unless it is shown with decimals.
        """
        is_called = bool((QUALITY - NEUTRAL) & {*self.of_value, *self.before[-1:]})
        if not is_called or self.origin.kind not in COUNTED or is_integer_spec(self.value.spec):
            return False
        return (self.digits or 0) >= 2 or (self.origin.is_derived and self.last not in COUNTERS)

    @property
    def is_watched(self) -> bool:
        """Whether it is handed, under a name, to what keeps a series for each name."""
        is_named = any(len(word) > 1 for word in self.before)
        is_tracked = self.candidate.sink in TRACKERS and (is_named or self.candidate.is_tagged)
        return is_tracked or (self.value.style == FormatStyle.METER and is_named)


COUNTED = (*COUNTER_KINDS, "place", "size")


@dataclass(frozen=True, slots=True)
class MetricEvidence:
    """What speaks for a metric of some role."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a value is no metric."""

    cause: RejectionReason
    detail: str = ""


Rule = Callable[[View], MetricEvidence | Objection | None]


# ---------------------------------------------------------------- declared


def declared_metric(view: View) -> MetricEvidence | None:
    """What a script hands to `deviate.log` is a metric because its author says so, whatever it looks like."""
    if view.candidate.sink != "deviate" or view.value.style == FormatStyle.NAME:
        return None
    is_time = view.origin.kind in ("duration", "speed") or (TIMES & view.words and not QUALITY & view.words)
    return MetricEvidence("time" if is_time else "quality", "logged with deviate.log")


# ---------------------------------------------------------------- against


def part_of_name(view: View) -> Objection | None:
    """What stands in a tag tells what is reported and is not reported itself."""
    return Objection(RejectionReason.TAG) if view.value.style == FormatStyle.NAME else None


def in_warning(view: View) -> Objection | None:
    """`Warning: cut off at {n} steps`: what is told now and then."""
    first = split_identifier(view.candidate.message.partition("{}")[0])[:1]
    return Objection(RejectionReason.IN_WARNING) if first in (["warning"], ["warn"]) else None


def learning_rate(view: View) -> Objection | None:
    """Learning rates are set, whoever computes them."""
    is_named = RATES & view.of_value or (RATES & {*view.before[-2:]} and not view.is_measured)
    is_tagged = view.is_watched and RATES & view.words and view.is_open and not QUALITY & view.words
    return Objection(RejectionReason.LEARNING_RATE) if is_named or is_tagged or view.origin.kind == "rate" else None


def time_left(view: View) -> Objection | None:
    is_named = ESTIMATES & view.words and view.origin.kind != "quality" and not QUALITY & view.of_value
    return Objection(RejectionReason.TIME_LEFT) if is_named else None


def use_of_memory(view: View) -> Objection | None:
    is_named = MEMORY & view.of_value or (MEMORY & {*view.before[-3:]} and not QUALITY & view.of_value)
    return Objection(RejectionReason.MEMORY, "use of memory") if is_named else None


def fixed_origin(view: View) -> Objection | None:
    """Counters, sizes, settings, clocks and texts."""
    cause = FIXED.get(view.origin.kind)
    return None if cause is None or view.is_shown_as_quality else Objection(cause, view.origin.sentence)


def text_name(view: View) -> Objection | None:
    """`model_name`, `results_dir`: names and places, whatever they are names of."""
    last = split_identifier(last_name(_innermost(view.value.source)))[-1:]
    is_open = view.origin.kind == "unknown" and view.digits is None and not is_integer_spec(view.value.spec)
    return Objection(RejectionReason.TEXT_NAME) if is_open and TEXT_NAMES & set(last) else None


def whole_number(view: View) -> Objection | None:
    is_whole = is_integer_spec(view.value.spec) and view.origin.kind not in ("duration", "speed")
    return Objection(RejectionReason.WHOLE_NUMBER) if is_whole and not QUALITY & view.words else None


def counter_name(view: View) -> Objection | None:
    """`tokens / 1e9` is a counter that is shown in billions."""
    is_counter = view.last in COUNTERS and view.digits is None and not (QUALITY - WHOLES) & view.words
    is_amount = view.last in AMOUNTS and not view.unit and not (QUALITY | TIMES | {"per"}) & view.words
    if not view.is_open or not (is_counter or is_amount):
        return None
    return Objection(RejectionReason.NAMED_COUNTER, dotted_name(view.value.source) or view.last)


def tracked_setting(view: View) -> Objection | None:
    """What is handed to a tracker under the name of a counter or of something that is chosen."""
    if not view.is_watched or view.is_measured or (QUALITY - WHOLES) & view.words:
        return None
    last = set(view.before[-1:])
    group = split_identifier(view.text.rpartition("/")[0].rpartition("/")[2])[-1:]
    if CHOSEN & {*group, *view.of_value} or TUNED & last:
        return Objection(RejectionReason.CALLED_SETTING, view.text)
    is_amount = AMOUNTS & last and not (TIMES | {"per"}) & view.words
    is_number = COUNTING & set(view.before[:1]) and len(view.before) > 1
    return Objection(RejectionReason.CALLED_COUNTER, view.text) if COUNTERS & last or is_amount or is_number else None


# ---------------------------------------------------------------- for


def origin_of_measurement(view: View) -> MetricEvidence | None:
    if not view.is_measured:
        return None
    return MetricEvidence("quality" if view.origin.kind == "quality" else "time", view.origin.sentence)


def quality_word(view: View) -> MetricEvidence | None:
    return _by_name(view, QUALITY - NEUTRAL, "quality")


def time_word(view: View) -> MetricEvidence | None:
    return None if QUALITY & {*view.before} else _by_name(view, TIMES, "time")


def quality_label(view: View) -> MetricEvidence | None:
    is_of_other = view.digits is None and bool(QUALIFIERS & {*view.before[-1:]})  # `accuracy for {name}`
    is_called = QUALITY & {*view.before} and not is_of_other
    return MetricEvidence("quality", f'called "{view.text}" in the message') if is_called else None


def time_label(view: View) -> MetricEvidence | None:
    if TIMES & {*view.before}:
        return MetricEvidence("time", f'called "{view.text}" in the message')
    return MetricEvidence("time", f"a unit of {view.unit} follows") if view.unit else None


def neutral_word(view: View) -> MetricEvidence | None:
    return _by_name(view, NEUTRAL, "quality")


def tracker_name(view: View) -> MetricEvidence | None:
    """Somebody watches it under a name of its own."""
    name = f'as "{view.text}"' if view.before else "under a name that the run knows"
    return MetricEvidence("other", f"tracked {name}") if view.is_open and view.is_watched else None


def mapping_values(view: View) -> MetricEvidence | None:
    """A mapping that is handed whole to what shows names beside values."""
    is_shown = view.candidate.sink in TRACKERS | {"tqdm", "progress"} and view.value.style == FormatStyle.MAPPING
    return MetricEvidence("other", "a mapping of named values") if view.is_open and is_shown else None


def float_format(view: View) -> MetricEvidence | None:
    if not view.digits or not view.is_open:
        return None
    return (
        MetricEvidence("quality", view.origin.sentence)
        if view.origin.sentence
        else MetricEvidence("other", "shown with decimals")
    )


RULES: tuple[Rule, ...] = (
    declared_metric,
    part_of_name,
    in_warning,
    learning_rate,
    time_left,
    use_of_memory,
    fixed_origin,
    text_name,
    whole_number,
    counter_name,
    tracked_setting,
    origin_of_measurement,
    quality_word,
    time_word,
    quality_label,
    time_label,
    neutral_word,
    tracker_name,
    mapping_values,
    float_format,
)
"""The most telling first: it decides, and those that agree with it are told beside it."""


def _innermost(node: cst.BaseExpression) -> cst.BaseExpression:
    """The callee of a call, the base of an item."""
    while isinstance(node, cst.Call | cst.Subscript):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node


def _by_name(view: View, telling: frozenset[str], role: Role) -> MetricEvidence | None:
    inside = sorted(telling & view.of_value)
    return MetricEvidence(role, f"named with {', '.join(inside)}") if inside else None


@dataclass(frozen=True, slots=True)
class Decision:
    """The role of a metric, or role None with the objection."""

    role: Role | None
    direction: Direction | None = None
    evidence: tuple[str, ...] = ()
    objection: Objection | None = None


class Judge:
    """Judges candidates."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins

    def origin(self, value: ReportedValue) -> Origin:
        origin = self.origins.of(value.source, value.function)
        if value.path and origin.kind in ("object", "constant", "text"):
            return UNKNOWN
        return origin

    def decide(self, candidate: Candidate) -> Decision:
        """Whether a candidate is a metric, with reasons."""
        view = self._view(candidate)
        results = [result for rule in RULES if (result := rule(view)) is not None]
        if not results:
            return Decision(None, objection=Objection(RejectionReason.UNMARKED))
        decisive = results[0]
        if isinstance(decisive, Objection):
            return Decision(None, objection=decisive)
        agreeing = [one.text for one in results if isinstance(one, MetricEvidence) and one.role == decisive.role]
        texts = (*agreeing, _format_text(candidate))
        return Decision(decisive.role, _direction(decisive, view), tuple(filter(None, dict.fromkeys(texts))))

    def _view(self, candidate: Candidate) -> View:
        value = candidate.value
        text = clause(candidate.lead)
        numerator = all_words([*identifiers(_without_index(_numerator(value.source))), value.path])
        return View(
            candidate=candidate,
            origin=self.origin(value),
            of_value=frozenset(all_words([*identifiers(value.source), value.path])),
            last=numerator[-1] if numerator else "",
            before=split_identifier(text),
            text=text.strip(" :=(%/"),
            unit=unit_after(candidate.after)[0],
            digits=decimals(value.spec),
        )


def _without_index(node: cst.BaseExpression) -> cst.BaseExpression:
    """`losses` for `losses[epoch]`, which is no epoch; constant keys stay."""
    return node.value if isinstance(node, cst.Subscript) and constant_key(node) is None else node


def _numerator(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide | cst.FloorDivide):
        node = node.left
    return node


def _direction(decisive: MetricEvidence, view: View) -> Direction | None:
    if decisive.role == "time":
        return "max" if "speed" in (view.origin.kind, view.unit) or SPEEDS & view.words else "min"
    if decisive.role == "quality":
        called = tag_words(view.text) if view.is_watched else view.before  # `losses/entropy` is no loss
        spelled = split_identifier(view.value.spelled)
        return direction_of(called) or direction_of(spelled) or direction_of(split_identifier(view.origin.sentence))
    return None


def _format_text(candidate: Candidate) -> str:
    digits = decimals(candidate.value.spec)
    how = "reported" if digits is None else f"shown with {digits} decimal{'' if digits == 1 else 's'}"
    return f"{how} by {candidate.sink} ({candidate.value.style})"
