"""The diagnosis as a document: interpreter and machine, frameworks, controls, reasons, and hazards."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from deviate.model.diagnosis import Answer, Control, Diagnosis, Framework, Machine
from deviate.report.document import Block, Cell, Document, Facts, Items, Remark, Section, Tone, fact, listing, paragraph
from deviate.report.format import group_pairs

SHOWN: dict[Answer, str] = {"yes": "yes", "partly": "part", "no": "no", "nothing": "·"}
TONES: dict[Answer, Tone | None] = {"yes": "good", "partly": "warning", "no": "bad", "nothing": None}
LEGEND = "part: in part, see below · no: see below · a dot: there is nothing to control"
N_STREAMS = 6
"""The first factors are streams; they and the others make a table each."""


def diagnosis_document(diagnosis: Diagnosis, data: Callable[[], object] = dict) -> Document:
    """The diagnosis, with `data` for programs."""
    frameworks = diagnosis.frameworks
    parts = (
        ("frameworks", "Frameworks", _frameworks(frameworks)),
        ("controls", "What deviate can control here", _controls(frameworks)),
        ("reasons", "Not controlled, or only in part", _reasons(frameworks)),
        ("trials", "Tried here", _trials(frameworks)),
        ("hazards", "Hazards", (_explain(item.what, item.why, item.advice) for item in diagnosis.hazards)),
    )
    sections = [Section(key, heading, tuple(blocks)) for key, heading, blocks in parts]
    none = () if diagnosis.hazards else (paragraph(Facts((fact("Hazards", "none found on this machine"),))),)
    found = tuple(section for section in sections if section.blocks)
    return Document(sections=(_header(diagnosis), *found, *none), data=data)


def _header(diagnosis: Diagnosis) -> Section:
    interpreter, machine = diagnosis.interpreter, diagnosis.machine
    facts = [fact("Interpreter", f"{interpreter.executable} · Python {interpreter.version}")]
    if machine is not None:
        facts += [fact("Machine", _machine(machine)), fact("Devices", _devices(machine, diagnosis.frameworks))]
    return paragraph(Facts(tuple(facts)))


def _machine(machine: Machine) -> str:
    allowed = machine.n_cpus if machine.n_cpus_allowed is None else machine.n_cpus_allowed
    cpus = f"{allowed} of {machine.n_cpus} CPUs" if allowed != machine.n_cpus else f"{machine.n_cpus} CPUs"
    quota = f", {machine.quota:g} CPUs' worth of time" if machine.quota else ""
    parts = [machine.system, machine.processor, f"{cpus}{quota}", " ".join(machine.instructions), machine.container]
    return " · ".join(part for part in parts if part)


def _devices(machine: Machine, frameworks: Sequence[Framework]) -> str:
    if machine.accelerators:
        return ", ".join(machine.accelerators)
    seen = {device for framework in frameworks for device in framework.devices[1:]}
    return ", ".join(sorted(seen)) or "the CPU alone: no driver of a GPU or TPU was found"


def _frameworks(frameworks: Sequence[Framework]) -> Iterator[Block]:
    rows = [
        (
            framework.name,
            framework.version or "unknown",
            "broken" if framework.state == "broken" else ", ".join(framework.devices),
            framework.threads,
            framework.build,
        )
        for framework in frameworks
        if framework.state != "absent"
    ]
    absent = [framework.name for framework in frameworks if framework.state == "absent"]
    if rows:
        yield listing(("", "version", "devices", "threads", "build"), rows)
        yield from [Items((f"not installed: {', '.join(absent)}",))] if absent else []


def _controls(frameworks: Sequence[Framework]) -> Iterator[Block]:
    """Two tables: streams, and other factors."""
    shown_frameworks = [framework for framework in frameworks if framework.controls and not framework.rests_on]
    if not shown_frameworks:
        return
    answers = [(framework.name, _answers(framework.controls)) for framework in shown_frameworks]
    factors = [control.factor for control in shown_frameworks[0].controls]
    for group in (factors[:N_STREAMS], factors[N_STREAMS:]):
        yield listing(("", *group), [(name, *(shown[factor] for factor in group)) for name, shown in answers])
    followers = [one for one in frameworks if one.rests_on and one.state == "works"]
    by_leader = group_pairs((one.rests_on, one.name) for one in followers)
    yield Items((*(f"{', '.join(names)}: as {leader}" for leader, names in by_leader.items()), LEGEND))


def _answers(controls: Iterable[Control]) -> dict[str, Cell]:
    return {control.factor: Cell((SHOWN[control.answer],), tone=TONES[control.answer]) for control in controls}


def _reasons(frameworks: Sequence[Framework]) -> Iterator[Block]:
    for framework in frameworks:
        if framework.state == "broken":
            yield _explain(f"{framework.name} · broken", framework.fault, framework.advice)
        yield from _explain_controls(framework.name, framework.controls)
        for limit in framework.limits:
            yield _explain(f"{framework.name} · {limit.what}", limit.why, limit.advice)


def _explain_controls(subject: str, controls: Iterable[Control]) -> Iterator[Block]:
    """Factors without control, grouped by reason."""
    groups = group_pairs(
        ((control.answer, control.why, control.advice), control.factor)
        for control in controls
        if control.answer in {"no", "partly"}
    )
    for (answer, why, advice), factors in groups.items():
        yield _explain(f"{subject} · {', '.join(factors)}: {SHOWN[answer]}", why, advice)


def _explain(subject: str, why: str, advice: str) -> Remark:
    return Remark(subject, "", (why, *([f"→ {advice}"] if advice else [])))


def _trials(frameworks: Sequence[Framework]) -> Iterator[Block]:
    if lines := [f"{framework.name} · {trial}" for framework in frameworks for trial in framework.tried]:
        yield Items(tuple(lines))
