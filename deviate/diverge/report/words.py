"""Words for a difference: its place, its kind, and its size."""

import math
from collections.abc import Mapping

from deviate.diverge.findings import MADE, CodeLine, Difference, DivergenceFindings, Growth, InputDifference, Phase
from deviate.diverge.findings import Ulps as UlpDistance
from deviate.model.places import place_text as text_of_place
from deviate.report.format import clean, counted_of, name_text, rough

PHASES: Mapping[Phase, str] = {
    "initial": "the initial weights",
    "random": "the state of a random generator",
    "order": "the order of the examples",
    "data": "the contents of a batch",
    "forward": "the forward pass",
    "loss": "the loss",
    "backward": "the backward pass",
    "update": "the weights",
    "metric": "a reported value",
    "program": "the control flow of the program",
}  # fmt: skip
DURING: Mapping[str, str] = {
    "forward": " in the forward pass",
    "backward": " in the backward pass",
    **{phase: f", which changed {PHASES[phase]}" for phase in MADE},
}
"""Addition to "the program took a different path": the pass, or what was prepared before it."""
KINDS: Mapping[str, tuple[str, str, str]] = {
    "": ("Process", "process of rank {rank}", ""),
    "state": ("Random", "{name}", "state of the generator "),
    "batch": ("Batch", "{name}", "batch "),
    "weights": ("Weights", "{name}", "initial weights "),
    "module": ("Module", "output of module {name}", ""),
    "operation": ("Operation", "{name}{owner}", ""),
    "forward": ("Output", "output of the outermost forward call", ""),
    "loss": ("Loss", "{name}", "loss "),
    "backward": ("Gradient", "{name}{owner}", "gradient "),
    "module-gradient": ("Gradient", "at the output of module {name}", "gradient "),
    "gradient": ("Gradient", "of {name}", "gradient "),
    "update": ("Weights", "{name} after the update", ""),
    "metric": ("Metric", "{name}", ""),
}  # fmt: skip
"""Kind of a record to the label of its line, what differs, and a noun that stands before it without the label."""
FLOATS = ("float", "bfloat", "double", "half", "complex")
MOST_ULPS = 1000
"""Largest difference that is told in ulps: beyond it, the numbers come from different data or updates."""


def step_text(difference: Difference) -> str:
    """`at update 3 (main-loop step 0)`; both counted from 0."""
    if difference.phase == "initial":
        return "before the first update"
    if is_end(difference):
        return "after the last update"
    if difference.kind != "metric":
        return _at(difference.step, difference.main_step)
    # Without updates reported by a framework, steps of the main loop are counted.
    is_update = difference.main_step is not None and difference.step != difference.main_step
    return _at(difference.step if is_update else None, difference.main_step, is_main_first=True)


def _at(step: int | None, main_step: int | None, *, is_main_first: bool = False) -> str:
    texts = [] if step is None else [f"update {step}"]
    texts += [] if main_step is None else [f"main-loop step {main_step}"]
    text = " (".join(reversed(texts) if is_main_first else texts) + ")" * (len(texts) - 1)
    return f"at {text}" if texts else "outside the main loop"


def is_end(difference: Difference) -> bool:
    """Whether the difference is in the final weights."""
    return difference.phase == "update" and difference.step is None


def where(difference: Difference) -> str:
    """`at update 3 (main-loop step 0), in the backward pass`."""
    if difference.phase == "program":
        during = DURING.get(str(difference.more.get("during", "")), "")
        return f"{step_text(difference)}: the program took a different path{during}"
    return f"{step_text(difference)}, in {PHASES[difference.phase]}"


def input_time(item: InputDifference, first: Difference | None) -> str:
    """`before the first update`, `at update 3 (main-loop step 1)`: when an input entered."""
    has_updates = first is None or first.kind != "metric"
    if item.main_step is None and item.step == 0:
        return "before the first update" if has_updates else "before the main loop"
    return _at(item.step if has_updates or item.main_step is None else None, item.main_step)


def shown_values(item: InputDifference) -> tuple[str, str]:
    """The values of an input in both runs."""
    first, second = (
        "no such call" if item.only_in == 2 - at else clean(text) or "nothing" for at, text in enumerate(item.shown)
    )
    return first, second


def label(difference: Difference) -> str:
    return _words(difference)[0]


def _words(difference: Difference) -> tuple[str, str, str]:
    return KINDS.get(difference.kind, (difference.kind.capitalize(), "{name}", ""))


def what(difference: Difference) -> str:
    """What differs, as a noun: `gradient of fc.weight`."""
    if is_end(difference):
        return name_text(difference.name)
    noun, text = _words(difference)[2], label_difference(difference)
    return text if noun.strip() == text else f"{noun}{text}"


def label_difference(difference: Difference) -> str:
    """What differs, after a label that names its kind."""
    if is_end(difference):
        return "final weights"
    owner = f" in module {name_text(difference.module)}" if difference.module else ""
    return _words(difference)[1].format(name=name_text(difference.name), owner=owner, rank=difference.rank)


def place_text(place: CodeLine) -> str:
    return text_of_place(name_text(place.file), place.line)


def code_text(text: str) -> str:
    """Foreign code in lines without control characters."""
    return "\n".join(map(clean, text.splitlines()))


def size(distance: UlpDistance) -> str:
    """`1 ulp of float32 in 12 of 2,048 elements (relative 1.2e−7)`."""
    kind = clean(distance.form).partition("[")[0]
    among = (
        f" in {distance.n_different:,} of {counted_of(distance.n_elements, 'element')}"
        if distance.n_elements > 1
        else ""
    )
    if distance.most is None and not kind.startswith(FLOATS) and kind:
        return f"{kind}: at most {distance.largest:,.0f}{among}"
    if distance.most is None:
        return f"finite in one run only{among}"
    if distance.most == 0:
        return f"only signs of zero or bits of NaN{among}"
    if distance.most > MOST_ULPS:
        return f"relative {rough(distance.relative)}{among}"
    most = f"{'up to ' if distance.most > 1 and distance.n_different > 1 else ''}{counted_of(distance.most, 'ulp')}"
    return f"{most}{f' of {kind}' if kind else ''}{among} (relative {rough(distance.relative)})"


def over(findings: DivergenceFindings) -> str:
    """Extent of the comparison: `120 updates`; of values where there are no steps."""
    return counted_of(findings.n_steps, findings.unit) if findings.n_steps else counted_of(findings.n_values, "value")


def called_at(difference: Difference | None) -> CodeLine | None:
    """The place where the program calls backward(), for an operation in a backward pass."""
    called = None if difference is None else difference.more.get("called")
    return called if isinstance(called, CodeLine) else None


def apart(growth: Growth) -> list[int]:
    """Indices at which the two values differ."""
    pairs = enumerate(zip(growth.first, growth.second, strict=True))
    return [at for at, (a, b) in pairs if a != b and not (math.isnan(a) and math.isnan(b))]
