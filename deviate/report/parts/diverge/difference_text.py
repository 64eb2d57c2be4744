"""The words for a difference: where it stands, what differs, and how large it is."""

from collections.abc import Mapping
from types import MappingProxyType

from deviate.model.divergence import Difference, DivergenceFindings, Phase, Place, Ulps
from deviate.report.format import clean, counted, name_text, rough
from deviate.report.numbers import Number
from deviate.report.parts.commands import diverge_command

PHASES: Mapping[Phase, str] = MappingProxyType({
    "initial": "the initial weights",
    "random": "the state of a random generator",
    "order": "the order of the examples",
    "data": "the content of a batch",
    "forward": "the forward pass",
    "loss": "the loss",
    "backward": "the backward pass",
    "update": "the weights",
    "metric": "a reported value",
    "program": "what the program does",
})  # fmt: skip
MADE: tuple[Phase, ...] = ("initial", "random", "order", "data")
DURING: Mapping[str, str] = {
    "forward": " in the forward pass",
    "backward": " in the backward pass",
    **{it: f", and with it {PHASES[it]}" for it in MADE},
}
"""What a program did that took another way: what it ran, or what it made."""
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
"""What a line of the answer is called, by the kind of the record; others are called by the kind itself."""
FLOATS = ("float", "bfloat", "double", "half", "complex")
HUGE = 10_000_000
"""Ulps from which on two digits say all."""


def step_text(it: Difference) -> str:
    """`at update 3 (main-loop step 0)`; both count from 0."""
    update = "" if it.step is None else f"update {it.step}"
    main = "" if it.main_step is None else f"main-loop step {it.main_step}"
    if it.phase == "initial":
        return "before the first update"
    if is_end(it):
        return "after the last update"
    if it.kind == "metric":
        # Where no framework tells of updates, the steps of the main loop are counted as such.
        update, main = main, "" if it.step == it.main_step else update
    if not update:
        return f"at {main}" if main and it.kind != "metric" else "outside of the main loop"
    return f"at {update}" + (f" ({main})" if main else "")


def is_end(it: Difference) -> bool:
    """Whether it is told of the weights with which the runs ended."""
    return it.phase == "update" and it.step is None


def where(it: Difference) -> str:
    """`at update 3 (main-loop step 0), in the backward pass`."""
    if it.phase == "program":
        return f"{step_text(it)}: the program took another way{DURING.get(str(it.more.get('during', '')), '')}"
    return f"{step_text(it)}, in {PHASES[it.phase]}"


def label(it: Difference) -> str:
    return LABELS.get(it.kind, it.kind.capitalize()) or "Process"


def what(it: Difference) -> str:
    """The thing that differs, as a noun: `gradient of fc.weight`."""
    nouns = {"state": "state of the generator", "batch": "batch", "weights": "initial weights", "loss": "loss"}
    if is_end(it):
        return name_text(it.name)
    noun = nouns.get(it.kind, "")
    told = named(it)
    if it.kind in {"gradient", "backward", "module-gradient"}:
        noun = "gradient"
    return told if not noun or told == noun else f"{noun} {told}"


def named(it: Difference) -> str:
    """The same behind its label, which says what it is."""
    if is_end(it):
        return "those with which the runs ended"
    name, owner = name_text(it.name), f" in module {name_text(it.module)}" if it.module else ""
    told = {
        "": f"process of rank {it.rank}",
        "module": f"output of module {name}",
        "forward": "output of the outermost forward call",
        "module-gradient": f"at the output of module {name}",
        "gradient": f"of {name}",
        "update": f"{name} after the update",
    }
    return told.get(it.kind, f"{name}{owner}")


def place_text(place: Place) -> str:
    return f"{name_text(place.file)}:{place.line}"


def code_text(text: str) -> str:
    """Lines of foreign code, each as one that nothing obeys."""
    return "\n".join(map(clean, text.splitlines()))


def run_of(it: Difference, runs: tuple[str, str]) -> str:
    """The one run that has the record; empty where both have it."""
    return "" if it.only_in is None else name_text(runs[it.only_in - 1])


def size(it: Ulps) -> str:
    """`1 ulp of float32 in 12 of 2,048 elements (relative 1.2e−7)`."""
    kind = clean(it.form).partition("[")[0]
    among = f" in {it.n_different:,} of {counted_of(it.n_elements, 'element')}" if it.n_elements > 1 else ""
    if it.most is None and not kind.startswith(FLOATS) and kind:
        return f"{kind}: by {it.largest:,.0f} at most{among}"
    if it.most is None:
        return f"finite in one run alone{among}"
    if it.most == 0:
        return f"signs of zero or bits of NaN alone{among}"
    most = f"{'up to ' if it.most > 1 and it.n_different > 1 else ''}{ulps(it.most)}"
    return f"{most}{f' of {kind}' if kind else ''}{among} (relative {rough(it.relative)})"


def ulps(n: int) -> str:
    return f"{f'{n:,}' if n < HUGE else rough(float(n))} {'ulp' if n == 1 else 'ulps'}"


def times(factor: float) -> str:
    """`1.18x`; of large factors two digits say all."""
    return f"{times_number(factor).text}x"


def times_number(factor: float) -> Number:
    return Number(factor, 2 if factor < 10 else 0)


def counted_of(n: int, noun: str) -> str:
    """With commas in large numbers."""
    return counted(n, noun) if n < 1000 else f"{n:,} {noun}s"


def again(found: DivergenceFindings, flags: str = "") -> str:
    """The command that does it again with these flags besides; empty where two commands or variants were compared."""
    return diverge_command(found.command, found.variant, flags, given=found.flags) if found.command else ""
