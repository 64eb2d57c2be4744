"""The diagnosis as text: interpreter and machine, frameworks, controls, reasons, and hazards."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from deviate.model.diagnosis import Answer, Control, DeviceType, Diagnosis, Framework, Machine
from deviate.report.format import group_pairs, printable

NARROWEST = 40
NARROWEST_LAST = 12
MARGIN = 13
GAP = "  "
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
    return "\n".join(part for part in parts if part)


def _header(diagnosis: Diagnosis, width: int) -> str:
    interpreter, machine = diagnosis.interpreter, diagnosis.machine
    lines = [("Interpreter", f"{interpreter.executable} · Python {interpreter.version}")]
    if machine is not None:
        lines += [("Machine", _machine(machine)), ("Devices", _devices(machine, diagnosis.frameworks))]
    return "".join(_fill(text, width, f"{label:<{MARGIN}}", " " * MARGIN) for label, text in lines)


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


def _frameworks(frameworks: Sequence[Framework], width: int) -> str:
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
        return ""
    text = "Frameworks\n" + _table([["", "version", "devices", "threads", "build"], *rows], width)
    absent = ", ".join(framework.name for framework in frameworks if framework.state == "absent")
    return text + (_hung(f"not installed: {absent}", width) if absent else "")


def _device_types(frameworks: Sequence[Framework], width: int) -> str:
    rows = []
    for framework in frameworks:
        for number, kind in enumerate(framework.device_types):
            n = "?" if kind.n_devices is None else str(kind.n_devices)
            name = framework.name if number == 0 else ""
            rows.append([name, kind.name, n, kind.tested_on or "no such device", kind.note])
    if not rows:
        return ""
    return "Device types\n" + _table([["", "type", "here", "deviate tested on", ""], *rows], width)


def _others(framework: Framework) -> list[DeviceType]:
    """Types that the build has, without the CPU and those for which the row of the framework stands."""
    first = framework.device_types[:1]
    return [kind for kind in framework.device_types if kind not in first and kind.is_built]


def _controls(frameworks: Sequence[Framework], width: int, *, is_coloured: bool) -> str:
    """Two tables: streams, and other factors."""
    shown_frameworks = [framework for framework in frameworks if framework.controls and not framework.rests_on]
    if not shown_frameworks:
        return ""
    factors = [control.factor for control in shown_frameworks[0].controls]
    text = "What deviate can control here\n"
    for group in (factors[:N_STREAMS], factors[N_STREAMS:]):
        rows = []
        for framework in shown_frameworks:
            is_tested = not framework.device_types or bool(framework.device_types[0].tested_on)
            answers = _answers(framework.controls, is_tested=is_tested)
            rows.append([framework.name, *(answers[factor] for factor in group)])
            for kind in _others(framework):
                answers = _answers(kind.controls, is_tested=bool(kind.tested_on))
                rows.append([f"{GAP}{kind.name}", *(answers[factor] for factor in group)])
        table = _table([["", *group], *rows], width)
        text += _paint(table) if is_coloured else table
    followers = [one for one in frameworks if one.rests_on and one.state == "works"]
    for leader, names in group_pairs((one.rests_on, one.name) for one in followers).items():
        text += _hung(f"{', '.join(names)}: as {leader}", width)
    text += _hung(LEGEND, width)
    return text + (_hung(ON_TYPES, width) if UNTESTED in text or any(map(_others, shown_frameworks)) else "")


def _answers(controls: Iterable[Control], *, is_tested: bool) -> dict[str, str]:
    shown = SHOWN if is_tested else {**SHOWN, "yes": UNTESTED}
    return {control.factor: shown[control.answer] for control in controls}


def _paint(table: str) -> str:
    """Colour the answers, which are words that no framework or factor is named after."""
    return re.sub(r"\b(yes|part|no)\b", lambda match: f"{COLOURS[match[1]]}{match[1]}{RESET}", table)


def _reasons(frameworks: Sequence[Framework], width: int) -> str:
    text = ""
    for framework in frameworks:
        if framework.state == "broken":
            text += _explain(f"{framework.name} · broken", framework.fault, framework.advice, width)
        for controls in _alike(framework.controls):
            first = controls[0]
            factors = ", ".join(control.factor for control in controls)
            text += _explain(f"{framework.name} · {factors}: {SHOWN[first.answer]}", first.why, first.advice, width)
        for kind in _others(framework):
            different = [control for control in kind.controls if control not in framework.controls]
            for controls in _alike(different):
                first, factors = controls[0], ", ".join(control.factor for control in controls)
                subject = f"{framework.name} on {kind.name} · {factors}: {SHOWN[first.answer]}"
                text += _explain(subject, first.why, first.advice, width)
        for limit in framework.limits:
            text += _explain(f"{framework.name} · {limit.what}", limit.why, limit.advice, width)
    return f"Not controlled, or only in part\n{text}" if text else ""


def _alike(controls: Iterable[Control]) -> list[list[Control]]:
    """Factors without control, grouped by reason."""
    groups = group_pairs(
        ((control.answer, control.why, control.advice), control)
        for control in controls
        if control.answer in {"no", "partly"}
    )
    return list(groups.values())


def _explain(subject: str, why: str, advice: str, width: int) -> str:
    text = _hung(subject, width) + _hung(why, width, GAP * 3)
    return text + (_hung(f"→ {advice}", width, GAP * 3) if advice else "")


def _list_trials(frameworks: Sequence[Framework], width: int) -> str:
    lines = [f"{framework.name} · {trial}" for framework in frameworks for trial in framework.tried]
    return "Tried here\n" + "".join(_hung(line, width) for line in lines) if lines else ""


def _hazards(diagnosis: Diagnosis, width: int) -> str:
    if not diagnosis.hazards:
        return "Hazards      none found on this machine\n"
    return "Hazards\n" + "".join(_explain(item.what, item.why, item.advice, width) for item in diagnosis.hazards)


def _table(rows: Sequence[Sequence[str]], width: int) -> str:
    """A table whose last column is wrapped to the remaining width; paragraphs if that is too narrow."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    missing = len(GAP) + sum(widths) + len(GAP) * (len(widths) - 1) - width
    gap = " " if 0 < missing < len(widths) else GAP  # narrower gaps, if with them it fits
    room = width - len(GAP) - sum(widths[:-1]) - len(gap) * (len(widths) - 1)
    if room < min(widths[-1], NARROWEST_LAST):
        return "".join(_paragraph(cells[0], row, width) for row in cells[1:])
    widths[-1] = min(widths[-1], room)
    lines = []
    for row in cells:
        for number, part in enumerate(textwrap.wrap(row[-1], widths[-1], break_on_hyphens=False) or [""]):
            line_cells = [*(row[:-1] if number == 0 else [""] * (len(row) - 1)), part]
            padded = gap.join(cell.ljust(size) for cell, size in zip(line_cells, widths, strict=True))
            lines.append(f"{GAP}{padded}".rstrip())
    return "\n".join(lines) + "\n"


def _paragraph(titles: Sequence[str], row: Sequence[str], width: int) -> str:
    parts = [f"{title} {cell}" for title, cell in zip(titles[1:], row[1:], strict=True) if cell]
    return _hung(row[0], width) + _hung(", ".join(parts), width, GAP * 3)


def _hung(text: str, width: int, indent: str = GAP) -> str:
    return _fill(text, width, indent, indent)


def _fill(text: str, width: int, first_indent: str, subsequent_indent: str) -> str:
    lines = textwrap.wrap(
        printable(text), width, initial_indent=first_indent, subsequent_indent=subsequent_indent, break_on_hyphens=False
    )
    return "".join(f"{line}\n" for line in lines)
