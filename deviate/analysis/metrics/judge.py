"""Judgement: whether a reported value is a metric, by the rules for and against it, the most telling first."""

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.identifier_words import (
    all_words,
    clause,
    tag_words,
    unit_after,
    without_unit,
)
from deviate.analysis.resolve.message_items import ReportedValue, Style, decimals, is_integer_spec
from deviate.analysis.resolve.origins import COUNTING as COUNTER_KINDS
from deviate.analysis.resolve.origins import UNKNOWN, Origin, Origins
from deviate.analysis.resolve.tree import dotted_name, last_name, telling_identifiers
from deviate.model import Direction, RejectionReason, Role
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

# Sinks that keep a series of numbers for each name: what is handed to them is handed over to be watched.
TRACKERS = word_set(
    "accelerate aim azureml chainer clearml comet dvclive graph-summary hypertune keras lightning logger metric-writer "
    "mlflow neptune nni optuna ray sacred swanlab tabular tensorboard tracker trackio transformers visdom wandb"
)
FIXED = {
    "counter": RejectionReason.COUNTER,
    "loop counter": RejectionReason.LOOP_COUNTER,
    "conditional counter": RejectionReason.COUNTER,
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
MEASURED = ("quality", "duration", "speed")
TIMES = SHORT_TIMES | SPEEDS
TEXT_NAMES = word_set(
    "name names type types dir dirs directory path paths file files filename folder mode title url tag extension ext "
    "suffix prefix"
)
COUNTING = word_set("n num nb number")
CHOSEN = word_set(
    "params hparams hyper hyperparams hyperparameters config settings schedule schedules scheduler anneal annealing"
)
"""Groups of tags that hold what is chosen."""
REPAIRS = ("ensure_", "fix_", "assert_")


@dataclass(frozen=True, slots=True)
class View:
    """A candidate as the rules see it.

    Attributes:
        expression_words: identifiers in the expression, split into words. numerator_words: the same for the numerator
            of a quotient.
        words_before: words of the text before it.
        text: that text.
        unit: kind of the unit behind it: `speed`, `time` or empty.
        digits: decimals that its format asks for; None where that is no float format.
        is_tagged: its name is a value that only a run knows.
        is_in_warning: whether the message begins by saying that it warns.
    """

    value: ReportedValue
    origin: Origin
    expression_words: list[str]
    numerator_words: list[str]
    words_before: list[str]
    text: str
    unit: str
    sink: str
    digits: int | None
    is_tagged: bool = False
    is_in_warning: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether it is computed from counters alone and yet told to be a measurement.

        Schedules and small scripts do so: `acc = epoch / 10`. A counter as it is stays a counter.
        """
        if not self.origin.is_derived:
            return False
        if COUNTERS & set(self.numerator_words[-1:]) or is_integer_spec(self.value.spec):
            return False
        telling = QUALITY - NEUTRAL
        return bool(telling & set(self.expression_words)) or (
            self.digits is not None and bool(telling & set(self.words_before[-1:]))
        )

    @property
    def is_shown_as_quality(self) -> bool:
        """Whether it is called a quality and shown with decimals: then it is no counter, though it is kept with one."""
        telling = QUALITY - NEUTRAL
        is_called = bool(telling & set(self.expression_words)) or bool(telling & set(self.words_before[-1:]))
        return self.origin.kind in (*COUNTER_KINDS, "size") and (self.digits or 0) >= 2 and is_called

    @property
    def is_watched(self) -> bool:
        """Whether it is handed, under a name, to what keeps a series for each name."""
        is_named = any(len(word) > 1 for word in self.words_before)
        return (self.sink in TRACKERS and (is_named or self.is_tagged)) or (
            self.value.style == Style.METER and is_named
        )

    @property
    def is_open(self) -> bool:
        """Whether neither its origin nor its words tell that it is a measurement."""
        called = {*self.expression_words, *self.words_before}
        return self.origin.kind not in MEASURED and not (QUALITY | TIMES) & called

    @property
    def is_called_quality(self) -> bool:
        """Whether its words say more than that it is one of some results, unlike those of `metrics["epoch"]`."""
        return bool((QUALITY - WHOLES) & {*self.expression_words, *self.words_before})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a metric of some role."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a value is no metric."""

    cause: RejectionReason
    detail: str = ""


Rule = Callable[[View], Evidence | Objection | None]


# ---------------------------------------------------------------- declared


def declared_metric(view: View) -> Evidence | None:
    """What a script hands to `deviate.log` is a metric because its author says so, whatever it looks like."""
    if view.sink != "deviate" or view.value.style == Style.NAME:
        return None
    called = {*view.expression_words, *view.words_before}
    is_time = view.origin.kind in ("duration", "speed") or (TIMES & called and not QUALITY & called)
    return Evidence("time" if is_time else "quality", "logged with deviate.log")


# ---------------------------------------------------------------- against


def part_of_name(view: View) -> Objection | None:
    """What stands in a tag tells what is reported and is not reported itself."""
    return Objection(RejectionReason.TAG) if view.value.style == Style.NAME else None


def in_warning(view: View) -> Objection | None:
    """`Warning: cut off at {n} steps`: what is told now and then."""
    return Objection(RejectionReason.IN_WARNING) if view.is_in_warning else None


def learning_rate(view: View) -> Objection | None:
    """Learning rates are set, whoever computes them."""
    is_named = RATES & set(view.expression_words) or (
        RATES & set(view.words_before[-2:]) and view.origin.kind not in MEASURED
    )
    is_tagged = view.is_watched and RATES & set(view.words_before) and view.is_open
    return Objection(RejectionReason.LEARNING_RATE) if is_named or is_tagged or view.origin.kind == "rate" else None


def time_left(view: View) -> Objection | None:
    if view.origin.kind == "estimate":
        return Objection(RejectionReason.TIME_LEFT)
    is_named = (
        ESTIMATES & {*view.expression_words, *view.words_before}
        and view.origin.kind != "quality"
        and not QUALITY & set(view.expression_words)
    )
    return Objection(RejectionReason.TIME_LEFT) if is_named else None


def use_of_memory(view: View) -> Objection | None:
    is_named = MEMORY & set(view.expression_words) or (
        MEMORY & set(view.words_before[-3:]) and not QUALITY & set(view.expression_words)
    )
    return Objection(RejectionReason.MEMORY, "use of memory") if is_named else None


def fixed_origin(view: View) -> Objection | None:
    """Counters, sizes, settings, clocks and texts."""
    cause = FIXED.get(view.origin.kind)
    if cause is None or view.is_counted or view.is_shown_as_quality:
        return None
    return Objection(cause, view.origin.sentence)


def text_name(view: View) -> Objection | None:
    """`model_name`, `results_dir`: names and places, whatever they are names of."""
    last = split_identifier(last_name(_innermost(view.value.source)))[-1:]
    is_open = view.origin.kind == "unknown" and view.digits is None and not is_integer_spec(view.value.spec)
    return Objection(RejectionReason.TEXT_NAME) if is_open and TEXT_NAMES & set(last) else None


def whole_number(view: View) -> Objection | None:
    is_whole = is_integer_spec(view.value.spec) and view.origin.kind not in ("duration", "speed")
    is_named = QUALITY & {*view.expression_words, *view.words_before}
    return Objection(RejectionReason.WHOLE_NUMBER) if is_whole and not is_named else None


def counter_name(view: View) -> Objection | None:
    is_open = view.origin.kind in ("unknown", "computed")
    is_named = bool(view.numerator_words) and view.numerator_words[-1] in COUNTERS
    if not (is_open and is_named) or view.digits is not None or view.is_called_quality:
        return None
    return Objection(RejectionReason.NAMED_COUNTER, dotted_name(view.value.source) or view.numerator_words[-1])


def amount(view: View) -> Objection | None:
    """`tokens / 1e9` is a counter that is shown in billions."""
    around = {*view.expression_words, *view.words_before}
    is_named = bool(view.numerator_words) and view.numerator_words[-1] in AMOUNTS
    if not is_named or view.origin.kind not in ("unknown", "computed") or (QUALITY | TIMES | {"per"}) & around:
        return None
    return None if view.unit else Objection(RejectionReason.NAMED_COUNTER, view.numerator_words[-1])


def tracked_setting(view: View) -> Objection | None:
    """What is handed to a tracker under the name of a counter or of something that is chosen."""
    last = view.words_before[-1:]
    if not view.is_watched or view.origin.kind in MEASURED or view.is_called_quality:
        return None
    group = split_identifier(view.text.rpartition("/")[0].rpartition("/")[2])[-1:]
    if CHOSEN & {*group, *view.expression_words}:
        return Objection(RejectionReason.CALLED_SETTING, view.text)
    if AMOUNTS & set(last) and view.is_open and "per" not in view.words_before:
        return Objection(RejectionReason.CALLED_COUNTER, view.text)
    if COUNTERS & set(last) or (COUNTING & set(view.words_before[:1]) and len(view.words_before) > 1):
        return Objection(RejectionReason.CALLED_COUNTER, view.text)
    return Objection(RejectionReason.CALLED_SETTING, view.text) if TUNED & set(last) else None


# ---------------------------------------------------------------- for


def time_origin(view: View) -> Evidence | None:
    return Evidence("time", view.origin.sentence) if view.origin.kind in ("duration", "speed") else None


def quality_origin(view: View) -> Evidence | None:
    return Evidence("quality", view.origin.sentence) if view.origin.kind == "quality" else None


def quality_word(view: View) -> Evidence | None:
    return _by_name(view, "quality") if (QUALITY - NEUTRAL) & set(view.expression_words) else None


def time_word(view: View) -> Evidence | None:
    return (
        _by_name(view, "time") if TIMES & set(view.expression_words) and not QUALITY & set(view.words_before) else None
    )


def quality_label(view: View) -> Evidence | None:
    is_called = QUALITY & set(view.words_before)
    return Evidence("quality", f'called "{view.text}" in the message') if is_called else None


def neutral_word(view: View) -> Evidence | None:
    return _by_name(view, "quality") if NEUTRAL & set(view.expression_words) else None


def time_label(view: View) -> Evidence | None:
    if not (TIMES & set(view.words_before) or view.unit):
        return None
    if TIMES & set(view.words_before):
        return Evidence("time", f'called "{view.text}" in the message')
    return Evidence("time", "a unit of time follows" if view.unit == "time" else "a unit of speed follows")


def tracker_name(view: View) -> Evidence | None:
    """Somebody watches it under a name of its own."""
    is_open = view.origin.kind in ("unknown", "computed")
    name = f'as "{view.text}"' if view.words_before else "under a name that the run knows"
    return Evidence("other", f"tracked {name}") if is_open and view.is_watched else None


def mapping_values(view: View) -> Evidence | None:
    """A mapping that is handed whole to what shows names beside values."""
    is_open = view.origin.kind in ("unknown", "computed") and view.value.style == Style.MAPPING
    is_shown = view.sink in TRACKERS | {"tqdm", "progress"}
    return Evidence("other", "a mapping of named values") if is_open and is_shown else None


def float_format(view: View) -> Evidence | None:
    if not view.digits:
        return None
    if view.origin.kind == "computed":
        return Evidence("quality", view.origin.sentence)
    return Evidence("other", "shown with decimals") if view.origin.kind == "unknown" else None


EVIDENCE: tuple[Rule, ...] = (
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
    amount,
    tracked_setting,
    time_origin,
    quality_origin,
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


def _by_name(view: View, role: Role) -> Evidence:
    telling = QUALITY if role == "quality" else TIMES
    return Evidence(
        role, f"named with {', '.join(dict.fromkeys(word for word in view.expression_words if word in telling))}"
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reported value with the text around it.

    Attributes:
        before, after: text up to the neighbouring values of the message. is_first: no value stands before it.
        stem: text before an index that is written into the name, as in `reward_env_{i}={reward}`.
        is_tagged: its name is a value that only a run knows, as in `add_scalar(key, value)`.
        earlier: texts before that, nearest first, up to the first value that may be a metric.
    """

    value: ReportedValue
    before: str
    after: str
    line: int
    sink: str
    message: str
    earlier: tuple[str, ...] = ()
    label: str | None = None
    is_first: bool = True
    stem: str = ""
    is_tagged: bool = False

    @property
    def lead(self) -> str:
        """The text that leads to the value, without the unit of the value before it."""
        return self.stem + (self.before if self.is_first else without_unit(self.before))


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
        rule_results = [result for rule in EVIDENCE if (result := rule(view)) is not None]
        if not rule_results:
            return Decision(None, objection=Objection(RejectionReason.UNMARKED))
        decisive = rule_results[0]
        if isinstance(decisive, Objection):
            return Decision(None, objection=decisive)
        agreeing = [
            result.text for result in rule_results if isinstance(result, Evidence) and result.role == decisive.role
        ]
        texts = (*agreeing, _format_text(candidate))
        return Decision(decisive.role, _direction(decisive, view), tuple(filter(None, dict.fromkeys(texts))))

    def _view(self, candidate: Candidate) -> View:
        value = candidate.value
        text = clause(candidate.lead)
        return View(
            value=value,
            origin=self.origin(value),
            expression_words=_words_of(value.source, value.path),
            numerator_words=_words_of(_numerator(value.source), value.path, is_without_places=True),
            words_before=split_identifier(text),
            text=text.strip(" :=(%/"),
            unit=unit_after(candidate.after)[0],
            sink=candidate.sink,
            digits=decimals(value.spec),
            is_tagged=candidate.is_tagged,
            is_in_warning=split_identifier(candidate.message.partition("{}")[0])[:1] in (["warning"], ["warn"]),
        )


def _words_of(node: cst.BaseExpression, path: str, *, is_without_places: bool = False) -> list[str]:
    """The words of an expression, without functions that put something right: `ensure_correct_name(path)`."""
    names = telling_identifiers(node, is_without_places=is_without_places)
    return all_words([*(name for name in names if not name.startswith(REPAIRS)), path])


def _numerator(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide | cst.FloorDivide):
        node = node.left
    return node


def _direction(decisive: Evidence, view: View) -> Direction | None:
    if decisive.role == "time":
        is_speed = (
            view.origin.kind == "speed" or view.unit == "speed" or SPEEDS & {*view.expression_words, *view.words_before}
        )
        return "max" if is_speed else "min"
    if decisive.role == "quality":
        called = tag_words(view.text) if view.is_watched else view.words_before  # `losses/entropy` is no loss
        return (
            direction_of(called)
            or direction_of(view.expression_words)
            or direction_of(split_identifier(view.origin.sentence))
        )
    return None


def _format_text(candidate: Candidate) -> str:
    digits = decimals(candidate.value.spec)
    how = "reported" if digits is None else f"shown with {digits} decimal{'' if digits == 1 else 's'}"
    return f"{how} by {candidate.sink} ({candidate.value.style})"
