"""The diagnosis as text: interpreter and machine, frameworks, controls, reasons, and hazards."""

import re
from collections.abc import Iterable, Iterator, Sequence

from deviate.model.diagnosis import Answer, Control, DeviceType, Diagnosis, Framework, Machine
from deviate.report.format import group_pairs
from deviate.report.lines import GAP, hang, label_lines, wrap_table

NARROWEST = 40
MARGIN = 13
SHOWN: dict[Answer, str] = {"yes": "yes", "partly": "part", "no": "no", "nothing": "·"}
COLOURS = {"yes": "\x1b[32m", "part": "\x1b[33m", "no": "\x1b[31m"}
RESET = "\x1b[0m"
LEGEND = "part: in part, see below · no: see below · a dot: there is nothing to control"
UNTESTED = "yes?"
ON_TYPES = f"indented: on this device type · {UNTESTED}: by the code, not tested on this device type"
N_STREAMS = 6
"""The first factors are streams; they and the others make a table each."""


def render_diagnosis(diagnosis: Diagnosis, width: int, *, is_coloured: bool = False) -> str:
    """Text of at most `width` columns (from 40), ending in a newline."""
    width = max(width, NARROWEST)
    parts = [
        _header(diagnosis, width),
        _frameworks(diagnosis.frameworks, width),
        _device_types(diagnosis.frameworks, width),
        _controls(diagnosis.frameworks, width, is_coloured=is_coloured),
        _reasons(diagnosis.frameworks, width),
        _list_trials(diagnosis.frameworks, width),
        _hazards(diagnosis, width),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _header(diagnosis: Diagnosis, width: int) -> list[str]:
    interpreter, machine = diagnosis.interpreter, diagnosis.machine
    lines = [("Interpreter", f"{interpreter.executable} · Python {interpreter.version}")]
    if machine is not None:
        lines += [("Machine", _machine(machine)), ("Devices", _devices(machine, diagnosis.frameworks))]
    return label_lines(lines, width, MARGIN)


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


def _frameworks(frameworks: Sequence[Framework], width: int) -> list[str]:
    rows = [
        [
            framework.name,
            framework.version or "unknown",
            "broken" if framework.state == "broken" else ", ".join(framework.devices),
            framework.threads,
            framework.build,
        ]
        for framework in frameworks
        if framework.state != "absent"
    ]
    if not rows:
        return []
    absent = ", ".join(framework.name for framework in frameworks if framework.state == "absent")
    table = wrap_table([("", "version", "devices", "threads", "build"), *rows], width)
    return ["Frameworks", *table, *(_hung(f"not installed: {absent}", width) if absent else [])]


def _device_types(frameworks: Sequence[Framework], width: int) -> list[str]:
    rows = []
    for framework in frameworks:
        for number, kind in enumerate(framework.device_types):
            n = "?" if kind.n_devices is None else str(kind.n_devices)
            name = framework.name if number == 0 else ""
            rows.append([name, kind.name, n, kind.tested_on or "no such device", kind.note])
    return ["Device types", *wrap_table([("", "type", "here", "deviate tested on", ""), *rows], width)] if rows else []


def _others(framework: Framework) -> list[DeviceType]:
    """Types that the build has, without the CPU and those for which the row of the framework stands."""
    first = framework.device_types[:1]
    return [kind for kind in framework.device_types if kind not in first and kind.is_built]


def _controls(frameworks: Sequence[Framework], width: int, *, is_coloured: bool) -> list[str]:
    """Two tables: streams, and other factors."""
    shown_frameworks = [framework for framework in frameworks if framework.controls and not framework.rests_on]
    if not shown_frameworks:
        return []
    factors = [control.factor for control in shown_frameworks[0].controls]
    lines = ["What deviate can control here"]
    for group in (factors[:N_STREAMS], factors[N_STREAMS:]):
        rows = []
        for framework in shown_frameworks:
            is_tested = not framework.device_types or bool(framework.device_types[0].tested_on)
            answers = _answers(framework.controls, is_tested=is_tested)
            rows.append([framework.name, *(answers[factor] for factor in group)])
            for kind in _others(framework):
                answers = _answers(kind.controls, is_tested=bool(kind.tested_on))
                rows.append([f"{GAP}{kind.name}", *(answers[factor] for factor in group)])
        table = wrap_table([["", *group], *rows], width)
        lines += map(_paint, table) if is_coloured else table
    followers = [one for one in frameworks if one.rests_on and one.state == "works"]
    for leader, names in group_pairs((one.rests_on, one.name) for one in followers).items():
        lines += _hung(f"{', '.join(names)}: as {leader}", width)
    has_types = any(UNTESTED in line for line in lines) or any(map(_others, shown_frameworks))
    return [*lines, *_hung(LEGEND, width), *(_hung(ON_TYPES, width) if has_types else [])]


def _answers(controls: Iterable[Control], *, is_tested: bool) -> dict[str, str]:
    shown = SHOWN if is_tested else {**SHOWN, "yes": UNTESTED}
    return {control.factor: shown[control.answer] for control in controls}


def _paint(table: str) -> str:
    """Colour the answers, which are words that no framework or factor is named after."""
    return re.sub(r"\b(yes|part|no)\b", lambda match: f"{COLOURS[match[1]]}{match[1]}{RESET}", table)


def _reasons(frameworks: Sequence[Framework], width: int) -> list[str]:
    lines: list[str] = []
    for framework in frameworks:
        if framework.state == "broken":
            lines += _explain(f"{framework.name} · broken", framework.fault, framework.advice, width)
        lines += _explain_controls(framework.name, framework.controls, width)
        for kind in _others(framework):
            different = [control for control in kind.controls if control not in framework.controls]
            lines += _explain_controls(f"{framework.name} on {kind.name}", different, width)
        for limit in framework.limits:
            lines += _explain(f"{framework.name} · {limit.what}", limit.why, limit.advice, width)
    return ["Not controlled, or only in part", *lines] if lines else []


def _explain_controls(subject: str, controls: Iterable[Control], width: int) -> Iterator[str]:
    """Factors without control, grouped by reason."""
    groups = group_pairs(
        ((control.answer, control.why, control.advice), control.factor)
        for control in controls
        if control.answer in {"no", "partly"}
    )
    for (answer, why, advice), factors in groups.items():
        yield from _explain(f"{subject} · {', '.join(factors)}: {SHOWN[answer]}", why, advice, width)


def _explain(subject: str, why: str, advice: str, width: int) -> list[str]:
    below = [why, *([f"→ {advice}"] if advice else [])]
    return _hung(subject, width) + [line for text in below for line in hang(text, width, GAP * 3, GAP * 3)]


def _list_trials(frameworks: Sequence[Framework], width: int) -> list[str]:
    lines = [f"{framework.name} · {trial}" for framework in frameworks for trial in framework.tried]
    return ["Tried here", *(line for text in lines for line in _hung(text, width))] if lines else []


def _hazards(diagnosis: Diagnosis, width: int) -> list[str]:
    if not diagnosis.hazards:
        return ["Hazards      none found on this machine"]
    explained = (_explain(item.what, item.why, item.advice, width) for item in diagnosis.hazards)
    return ["Hazards", *(line for lines in explained for line in lines)]


def _hung(text: str, width: int) -> list[str]:
    return hang(text, width, GAP, GAP)
