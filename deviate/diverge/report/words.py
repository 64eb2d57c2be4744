"""Words for a difference: its place, its kind, and its size."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from deviate.base.notebooks import place_text as text_of_place
from deviate.diverge.findings import (
    MADE,
    Cause,
    Difference,
    DivergenceFindings,
    Growth,
    InputDifference,
    Phase,
    Place,
    Ulps,
)
from deviate.report.format import clean, counted_of, name_text, rough
from deviate.report.numbers import Number
from deviate.report.parts.divergence import diverge_command

PHASES: Mapping[Phase, str] = MappingProxyType({
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
})  # fmt: skip
DURING: Mapping[str, str] = {
    "forward": " in the forward pass",
    "backward": " in the backward pass",
    **{phase: f", which changed {PHASES[phase]}" for phase in MADE},
}
"""Addition to "the program took a different path": the pass, or what was prepared before it."""
LABELS: Mapping[str, str] = MappingProxyType({
    "state": "Random",
    "batch": "Batch",
    "weights": "Weights",
    "module": "Module",
    "operation": "Operation",
    "forward": "Output",
    "loss": "Loss",
    "backward": "Gradient",
    "module-gradient": "Gradient",
    "gradient": "Gradient",
    "update": "Weights",
    "metric": "Metric",
})  # fmt: skip
"""Labels of lines of the answer by kind of record; the default is the kind itself."""
FLOATS = ("float", "bfloat", "double", "half", "complex")
MOST_ULPS = 1000
"""Largest difference that is told in ulps: beyond it, the numbers come from different data or updates."""
HUGE = 10_000_000
"""Number of ulps from which on two digits are enough."""


def step_text(difference: Difference) -> str:
    """`at update 3 (main-loop step 0)`; both counted from 0."""
    update = "" if difference.step is None else f"update {difference.step}"
    main = "" if difference.main_step is None else f"main-loop step {difference.main_step}"
    if difference.phase == "initial":
        return "before the first update"
    if is_end(difference):
        return "after the last update"
    if difference.kind == "metric":
        # Without updates reported by a framework, steps of the main loop are counted.
        update, main = main, "" if difference.step == difference.main_step else update
    if not update:
        return f"at {main}" if main and difference.kind != "metric" else "outside the main loop"
    return f"at {update}" + (f" ({main})" if main else "")


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
    main = "" if item.main_step is None else f"main-loop step {item.main_step}"
    if not has_updates and main:
        return f"at {main}"
    return f"at update {item.step}{f' ({main})' if main else ''}"


def shown_values(item: InputDifference) -> tuple[str, str]:
    """The values of an input in both runs."""
    first, second = (
        "no such call" if item.only_in == 2 - at else clean(text) or "nothing" for at, text in enumerate(item.shown)
    )
    return first, second


def weight(cause: Cause) -> str:
    """`proved` or `suspected`."""
    return "proved" if cause.certainty == "proved" else "suspected"


def label(difference: Difference) -> str:
    return LABELS.get(difference.kind, difference.kind.capitalize()) or "Process"


def what(difference: Difference) -> str:
    """What differs, as a noun: `gradient of fc.weight`."""
    nouns = {"state": "state of the generator", "batch": "batch", "weights": "initial weights", "loss": "loss"}
    if is_end(difference):
        return name_text(difference.name)
    noun = nouns.get(difference.kind, "")
    text = label_difference(difference)
    if difference.kind in {"gradient", "backward", "module-gradient"}:
        noun = "gradient"
    return text if not noun or text == noun else f"{noun} {text}"


def label_difference(difference: Difference) -> str:
    """What differs, after a label that names its kind."""
    if is_end(difference):
        return "final weights"
    name, owner = name_text(difference.name), f" in module {name_text(difference.module)}" if difference.module else ""
    texts = {
        "": f"process of rank {difference.rank}",
        "module": f"output of module {name}",
        "forward": "output of the outermost forward call",
        "module-gradient": f"at the output of module {name}",
        "gradient": f"of {name}",
        "update": f"{name} after the update",
    }
    return texts.get(difference.kind, f"{name}{owner}")


def place_text(place: Place) -> str:
    return text_of_place(name_text(place.file), place.line)


def code_text(text: str) -> str:
    """Foreign code in lines without control characters."""
    return "\n".join(map(clean, text.splitlines()))


def run_of(difference: Difference, runs: tuple[str, str]) -> str:
    """The run that has the record; empty if both have it."""
    return "" if difference.only_in is None else name_text(runs[difference.only_in - 1])


def size(distance: Ulps) -> str:
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
    most = f"{'up to ' if distance.most > 1 and distance.n_different > 1 else ''}{ulps(distance.most)}"
    return f"{most}{f' of {kind}' if kind else ''}{among} (relative {rough(distance.relative)})"


def ulps(n: int) -> str:
    return f"{f'{n:,}' if n < HUGE else rough(float(n))} {'ulp' if n == 1 else 'ulps'}"


def times(factor: float) -> str:
    """A factor, `1.18x`, with two decimals below 10 and none above."""
    return f"{times_number(factor).text}x"


def times_number(factor: float) -> Number:
    return Number(factor, 2 if factor < 10 else 0)


def again(findings: DivergenceFindings, flags: str = "") -> str:
    """The command for a repetition with additional flags; empty if two commands or variants were compared."""
    return (
        diverge_command(findings.command, findings.variant, flags, command_flags=findings.flags)
        if findings.command
        else ""
    )


def called_at(difference: Difference | None) -> Place | None:
    """The place where the program calls backward(), for an operation in a backward pass."""
    called = None if difference is None else difference.more.get("called")
    return called if isinstance(called, Place) else None


def apart(growth: Growth) -> list[int]:
    """Indices at which the two values differ."""
    pairs = enumerate(zip(growth.first, growth.second, strict=True))
    return [at for at, (a, b) in pairs if a != b and not (math.isnan(a) and math.isnan(b))]


def growth_text(growth: Growth) -> str:
    """`loss: 1 ulp (1.2e−7) at update 3, 2.1e−5 at 30, 0.034 at 120`; empty where the two are equal at every step."""
    differing = apart(growth)
    if not differing:
        return ""
    first, last = differing[0], len(growth.steps) - 1
    middle = (first + last) // 2
    parts = [f"{size_text(growth, first)} at {growth.unit} {growth.steps[first]}"]
    later = [at for at in dict.fromkeys((middle, last)) if at > first]
    if later and not any(growth.differences[at] for at in later):
        later = later[-1:]
    for at in later:
        text = rough_text(growth.differences[at]) if growth.differences[at] else "equal"
        parts.append(f"{text} at {growth.steps[at]}")
    return f"{name_text(growth.name)}: {', '.join(parts)}"


def size_text(growth: Growth, at: int) -> str:
    size, among = growth.ulps[at], rough_text(growth.differences[at])
    return f"{ulps(size)} ({among})" if size and size <= MOST_ULPS else among


def rough_text(value: float) -> str:
    return rough(value) if math.isfinite(value) else "not finite"
