"""What each form makes of a few small experiments, kept as files: a change of the words shows as a diff of them.

`DEVIATE_GOLDEN=write pytest tests/report/test_golden.py` writes them anew; CONTRIBUTING.md says how to review that.
"""

import dataclasses
import difflib
import functools
import json
import math
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from experiments import experiment, run, selected, single, trained, with_moments
from stabilities import everything
from studies import flip, noisy_run, study, usual, variant

from deviate import __version__
from deviate.cli.gate import Gate, check
from deviate.model.findings import Findings
from deviate.model.records import Experiment, Series
from deviate.report.data.tables import table_files
from deviate.report.document import Check, Report
from deviate.report.forms.registry import CHECK_FORMS, RENDERERS, render
from deviate.report.paper.bibliography import references_source
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.files import further_tables
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.parts.build import build_report
from deviate.report.parts.check import check_document
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

FOLDER = Path(__file__).parent / "golden"
WRITES = os.environ.get("DEVIATE_GOLDEN") == "write"
HOW = "DEVIATE_GOLDEN=write pytest tests/report/test_golden.py writes it anew"
TASKS = ("cifar/acc", "svhn/acc", "mnist/acc")
TRACE = ("Traceback (most recent call last):", '  File "train.py", line 61, in <module>', "ValueError: loss is NaN")
ENDINGS = {"terminal": "txt", "latex": "tex", "markdown": "md", "junit": "xml", "github": "txt"}
"""Of files by renderer, where it is not the name of that."""
DIGITS = re.compile(r"(?<![\w.])-?\d+\.\d{10,}(?:e[-+]?\d+)?|(?<![\w.])-?\d\.?\d*e[-+]\d+")


def verdict() -> Findings:
    """Two experiments with curves, one metric in percent with a margin, one that is undecided."""
    sides = (
        trained(name, n_runs=6, n_metrics=2, n_points=5, shift=i, seed=i) for i, name in enumerate(("small", "wide"))
    )
    return judge(list(sides), AnalysisOptions(margin=0.5))


def noise() -> Findings:
    """Four variants and single flipped bits."""
    bits = [noisy_run(i, (50.0, 93.0 + 0.3 * i), f"b{i}", flips=(flip(i),)) for i in range(3)]
    return study(*usual(), variant("one-bit", bits))


def many() -> Findings:
    """Three methods on three tasks, each better than the one before."""
    return judge(
        [_on_tasks(name, rank) for rank, name in enumerate(("sgd", "adam", "adamw"))], AnalysisOptions(tasks="*/acc")
    )


def failures() -> Findings:
    """Runs that ended in several ways, a target that some reach, a metric of one side only."""
    return judge([_failing("base", 0), _failing("new", 2)], AnalysisOptions(targets={"test_acc": 88.0}))


def captured() -> Findings:
    """All that predictions and weights tell of two experiments."""
    return everything(5)


CASES: dict[str, Callable[[], Findings]] = {it.__name__: it for it in (verdict, noise, many, failures, captured)}


@functools.cache
def _findings(case: str) -> Findings:
    return CASES[case]()


@functools.cache
def _report(case: str) -> Report:
    return build_report(_findings(case))


def _gate() -> Check:
    """A candidate whose primary metric is better, and whose secondary one is within its margin."""
    found = (item.experiment for item in verdict().experiments)
    sides = [dataclasses.replace(it, folder=None, imported=("read",)) for it in found]
    return check_document(check(Path("nowhere"), sides, Gate(), AnalysisOptions()))


def _written(form: str, _: Findings, report: Report) -> str:
    return render(report, form)


def _file(form: str) -> str:
    return f"{form}.{ENDINGS[form]}" if form in ENDINGS else form


MAKERS: dict[str, Callable[[Findings, Report], str]] = {
    **{_file(form): functools.partial(_written, form) for form in RENDERERS},
    "terminal-80.txt": lambda _, report: render(report, "terminal", width=80),
    "html": lambda _, report: _without_figures(render(report, "html")),
    "figures.txt": lambda _, report: _figures(render(report, "html")),
    "macros.tex": lambda findings, report: macros_source(macros_of(findings, report)),
    "references.bib": references_source,
    "checklist.md": checklist_source,
    "further.tex": lambda _, report: "\n".join(further_tables(report).values()),
    "tables.txt": lambda findings, _: "".join(f"{it.name}\n{''.join(it.chunks())}\n" for it in table_files(findings)),
}
"""What makes the text of a file, by the end of its name."""
CHECKS = [("check", _file(form)) for form in CHECK_FORMS]
NAMES = [(case, name) for case in CASES for name in MAKERS if case == "captured" or name != "further.tex"] + CHECKS


@pytest.mark.parametrize(("case", "name"), NAMES, ids=[".".join(it) for it in NAMES])
def test_what_a_renderer_makes_is_what_was_looked_at(case: str, name: str) -> None:
    made = render(_gate(), name.partition(".")[0]) if case == "check" else MAKERS[name](_findings(case), _report(case))
    text = made.replace(__version__, "VERSION")
    text = text if name == "json" else _scrubbed(text)
    path = FOLDER / f"{case}.{name}"
    if WRITES:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path.name} is missing: {HOW}"
    kept = path.read_text(encoding="utf-8")
    if name == "json":
        differences = list(_differences(json.loads(kept), json.loads(text), ""))
    else:
        differences = list(difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "made", n=1, lineterm=""))
    assert differences[:40] == [], HOW


def test_no_file_is_left_of_what_is_made_no_more() -> None:
    assert {it.name for it in FOLDER.iterdir()} == {f"{case}.{name}" for case, name in NAMES}


def test_differences_that_do_not_show_are_none() -> None:
    assert _scrubbed("0.12345678901234") == _scrubbed("0.12345678909999")
    assert _scrubbed("0.1234567891234") != _scrubbed("0.1234577891234")
    assert list(_differences({"a": [1.0, 0.0]}, {"a": [1.0 + 1e-12, 1e-13]}, "")) == []
    assert list(_differences({"a": [1.0]}, {"a": [1.001]}, "")) == ["/a/0: 1.0 became 1.001"]
    assert list(_differences({"a": 1}, {"b": 1}, "")) == ["/a is missing", "/b is new"]
    assert list(_differences([1], [1, 2], "")) == [": 1 items became 2"]


def _scrubbed(text: str) -> str:
    """Without the digits in which versions of libraries may differ."""
    return DIGITS.sub(lambda found: f"{float(found[0]):.8g}", text)


def _without_figures(page: str) -> str:
    """The page with titles, descriptions and ids of figures; data, style and script have files of their own."""
    shown = re.sub(r"(<svg\b[^>]*>).*?</svg>", _outline, page, flags=re.DOTALL)
    shown = re.sub(r"(<(style|script)\b[^>]*>).*?(</\2>)", r"\1…\3", shown, flags=re.DOTALL)
    shown = re.sub(r"base64,[\w+/=]+", "base64,…", shown)
    return re.sub(r"sha256-[\w+/=]+", "sha256-…", shown)


def _outline(found: re.Match[str]) -> str:
    root = ET.fromstring(found[0])
    told = "".join(f"<{name}>{it.text}</{name}>" for name in ("title", "desc") for it in _named(root, name))
    ids = " ".join(it.get("id", "") for it in root.iter() if re.fullmatch(r"[\w-]*(title|desc)", it.get("id", "")))
    return f'<svg data-ids="{ids}">{told}</svg>'


def _figures(page: str) -> str:
    """Of each figure its title, description and words, and how many elements of each kind draw it."""
    told = []
    for figure in re.findall(r"<svg\b.*?</svg>", page, flags=re.DOTALL):
        root = ET.fromstring(figure)
        kinds = [it.tag.rpartition("}")[2] for it in root.iter()]
        told += [it.text or "" for name in ("title", "desc") for it in _named(root, name)]
        told += [f"  {''.join(it.itertext()).strip()}" for it in _named(root, "text")]
        told += [f"  {', '.join(f'{kinds.count(it)} {it}' for it in ('path', 'use') if it in kinds)}", ""]
    return "\n".join(told) + "\n"


def _named(root: ET.Element, name: str) -> list[ET.Element]:
    return [it for it in root.iter() if it.tag.rpartition("}")[2] == name]


def _differences(kept: object, made: object, place: str) -> Iterator[str]:
    """Where two documents differ, numbers by more than a billionth."""
    if isinstance(kept, dict) and isinstance(made, dict):
        yield from (f"{place}/{key} is missing" for key in kept if key not in made)
        yield from (f"{place}/{key} is new" for key in made if key not in kept)
        for key in kept.keys() & made.keys():
            yield from _differences(kept[key], made[key], f"{place}/{key}")
    elif isinstance(kept, list) and isinstance(made, list):
        if len(kept) != len(made):
            yield f"{place}: {len(kept)} items became {len(made)}"
        for index, (before, after) in enumerate(zip(kept, made, strict=False)):
            yield from _differences(before, after, f"{place}/{index}")
    elif isinstance(kept, float) and isinstance(made, float | int) and not isinstance(made, bool):
        if not math.isclose(kept, made, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{place}: {kept} became {made}"
    elif kept != made:
        yield f"{place}: {kept!r} became {made!r}"


def _on_tasks(name: str, rank: int) -> Experiment:
    rng = np.random.default_rng(rank)
    scores = {task: with_moments(5, 85 + 4 * i + 0.7 * rank, 0.5, rng) for i, task in enumerate(TASKS)}
    metrics = [selected(task, unit="%", is_primary=task == TASKS[0]) for task in TASKS]
    return experiment(name, [run(i, {it: single(scores[it][i]) for it in TASKS}) for i in range(5)], metrics)


def _failing(name: str, n_failed: int) -> Experiment:
    """Six runs on their way to 92; further ones crash half way, or diverge."""
    metrics = [selected(unit="%", is_primary=True), selected(f"{name}_loss", direction="min")]
    runs = []
    for replicate in range(6 + n_failed):
        fails = replicate >= 6
        steps = range(3 if fails else 6)
        curve = [92 - 40 * math.exp(-(0.5 + replicate / 20 + n_failed / 9) * step) for step in steps]
        if fails and replicate % 2:
            curve[-1] = math.nan
        series = Series(tuple(steps), tuple(curve), tuple(2.0 * step for step in steps))
        plain = run(replicate, {"test_acc": series, f"{name}_loss": single(0.5 - replicate / 50)})
        if fails:
            status, reason = ("diverged", "test_acc ended NaN") if replicate % 2 else ("crashed", "exit code 1")
            plain = dataclasses.replace(
                plain, status=status, reason=reason, stderr_tail=TRACE, exit_code=1 - replicate % 2
            )
        runs.append(plain)
    return experiment(name, runs, metrics)
