"""Results as a notebook holds them: a verdict, a sentence to paste, tables, and a picture of themselves."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from deviate.api import frames
from deviate.api.figure import Figure
from deviate.api.frames import predictions_frame
from deviate.errors import InputError
from deviate.model.comparisons import Comparison
from deviate.model.findings import Findings, NoiseFindings
from deviate.model.records import Captured, Experiment
from deviate.model.stability import (
    Convergence,
    SetStability,
    StabilityDifference,
    StabilityFindings,
    WeakModels,
    WeightStability,
)
from deviate.pipeline import describe_variants
from deviate.registry import wing
from deviate.report.document import NOTHING, Absent, DocumentTable, Entry, Report
from deviate.report.figures.pictures import Picture, pictures
from deviate.report.files import refuse_paper_folder, write_paper
from deviate.report.format import clean
from deviate.report.forms.registry import render
from deviate.report.medium import COLUMN_IN
from deviate.report.paper.files import PaperStyle, paper_files
from deviate.report.parts.build import build_report
from deviate.report.parts.compare import difference_cell, metric_name, places_of_difference, verdict_word
from deviate.report.verdicts import verdict_reason
from deviate.stats.options import AnalysisOptions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Results:
    """Results of a comparison or description; shown as terminal text, or in a notebook as a table with a figure.

    Attributes:
        findings: every value, unrounded, with the reason where there is none.
    """

    findings: Findings

    @property
    def verdict(self) -> str:
        """The verdict on the primary metric: better, worse, higher, lower, equivalent, undecided, identical, withheld.

        With several candidates, each with its name; empty where there is none, and `repr` says why.
        """
        verdicts = self.verdicts
        if len(verdicts) == 1:
            return next(iter(verdicts.values()))
        return "; ".join(f"{name}: {word}" for name, word in verdicts.items())

    @property
    def verdicts(self) -> dict[str, str]:
        """Candidate to the verdict on the primary metric."""
        return {pair.candidate: pair.headline.verdict.word for pair in self.findings.pairs if pair.headline is not None}

    @property
    def sentence(self) -> str:
        """Sentence to paste into a paper: values, n, test, correction, type of interval; a line per candidate."""
        return "\n".join(self._report.paste)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader, each with what to do."""
        return self._report.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how tables and files were read, and what was guessed."""
        notes = (clean(note) for item in self.findings.experiments for note in item.experiment.imported)
        return tuple(dict.fromkeys(notes))

    @property
    def comparisons(self) -> Mapping[str, "Results"]:
        """Comparison of each candidate with the baseline alone, with its own figures.

        P-values stay adjusted for all comparisons.
        """
        baseline, *candidates = self.findings.experiments
        pairs = enumerate(
            zip(self._report.candidates, candidates, self.findings.pairs, strict=bool(self.findings.pairs)), 1
        )
        return MappingProxyType(
            {
                label: Results(
                    replace(
                        self._part(),
                        experiments=(baseline, candidate),
                        pairs=(pair,),
                        planning=tuple(
                            planning for planning in self.findings.planning if planning.candidate == pair.candidate
                        ),
                        stability=stability_of(self.findings.stability, (0, place)),
                    )
                )
                for place, (label, candidate, pair) in pairs
            }
        )

    @property
    def experiments(self) -> Mapping[str, "Results"]:
        """Spread of each experiment by name, with its own figures; in a study, of each variant."""
        labels = [experiment.label for experiment in self._report.experiments]
        return MappingProxyType(
            {
                label: Results(
                    replace(
                        self._part(),
                        experiments=(item,),
                        pairs=(),
                        planning=(),
                        noise=self._noise_of(place),
                        stability=stability_of(self.findings.stability, (place,)),
                    )
                )
                for place, (label, item) in enumerate(zip(labels, self.findings.experiments, strict=True))
            }
        )

    def figures(self) -> tuple[str, ...]:
        """Names of all figures: `estimation-…` and `curves-…` per metric, and others that the findings allow."""
        return tuple(picture.name for picture in self._pictures)

    def figure(self, name: str | None = None) -> Figure:
        """A figure to show or save; without a name the estimation plot of the primary metric.

        Raises:
            InputError: there is no figure of that name, or none at all.
        """
        chosen = self._first_name() if name is None else name
        match = next((picture for picture in self._pictures if picture.name == chosen), None)
        if match is None:
            names = ", ".join(self.figures()) or "none, because there are no scores"
            raise InputError(
                f"there is no figure {chosen!r}" if chosen else "there is no figure", f"there are: {names}"
            )
        return Figure(match)

    def to_frame(self) -> "pd.DataFrame":
        """A pandas DataFrame: a row per metric and candidate, or per metric and experiment where nothing is compared.

        Values are unrounded. A value that does not exist is missing, never NaN, and the column `reasons` says why;
        `remarks` says how others were computed.
        """
        return frames.findings_frame(self.findings)

    def scores(self) -> "pd.DataFrame":
        """A pandas DataFrame: a row per experiment, metric and run, with its score or the reason why there is none."""
        return frames.scores_frame(self.findings)

    def predictions(self, name: str | None = None, *, step: int | None = None) -> "pd.DataFrame":
        """A pandas DataFrame of captured predictions: a row per experiment, run and example, examples aligned.

        Columns: `replicate`, `position` (place of the example in the order of the first run, from 0), `truth` and
        `predicted` (classes from 0) where they are known, `output_0` … (one per class) or `value`, and what the script
        logged with the examples.

        Args:
            name: of the evaluation set, as `test`; None where there is only one.
            step: of the main loop, from 0; None for the last evaluation of each run.

        Raises:
            InputError: nothing was captured, or there is no such set or step.
        """
        return predictions_frame([item.experiment for item in self.findings.experiments], name, step)

    def captured(self) -> tuple[Captured, ...]:
        """Captured outputs and weights as NumPy arrays, one value per experiment; empty where nothing was captured."""
        return tuple(
            wing("stability.captures.collect").captured_of(item.experiment) for item in self.findings.experiments
        )

    def to_latex(self) -> str:
        """The table of a paper, with a caption that explains it; it needs the package booktabs."""
        return render(self._report, "latex")

    def to_paper(self, folder: str | Path, *, siunitx: bool = False, column_width_in: float = COLUMN_IN) -> None:
        """Write the files for a paper into a folder, as `--paper` does; `example.tex` there shows their use.

        Raises:
            InputError: no folder of that name can be made or written into.
        """
        refuse_paper_folder(Path(folder))
        write_paper(paper_files(self.findings, self._report, PaperStyle(siunitx, column_width_in)), Path(folder))

    def to_markdown(self) -> str:
        """Verdict, sentence and table for a pull request."""
        return render(self._report, "markdown")

    def to_html(self, *, full: bool = False) -> str:
        """The report as one page; the full one has every quantity and figure of each metric."""
        return render(self._report, "html", is_full=full)

    def __repr__(self) -> str:
        read = [f"Read     {note}" for note in self.notes]
        return "\n".join([*read, render(self._report, "terminal").rstrip("\n")])

    def _repr_html_(self) -> str:
        name = self._first_name()
        return summary_html(self._report, self.notes, self.figure(name)._repr_html_() if name else "")

    def _repr_latex_(self) -> str:
        """For notebooks that are turned into PDF; what shows HTML prefers that."""
        return self.to_latex()

    def _first_name(self) -> str:
        """Of the estimation plot of the primary metric, or of the first metric; empty where there is none."""
        return self._pictures[0].name if self._report.main_figure else ""

    def _noise_of(self, place: int) -> NoiseFindings | None:
        """Whether the runs of one variant are equal; the sources of spread take the others."""
        noise = self.findings.noise
        if noise is None:
            return None
        proofs = noise.repeatability[place : place + 1]
        return replace(noise, study=None, tables=(), overhead=None, repeatability=proofs)

    def _part(self) -> Findings:
        """The findings without what is about all experiments at once."""
        return replace(self.findings, noise=None, many=(), tasks=None)

    @cached_property
    def _pictures(self) -> tuple[Picture, ...]:
        return pictures(self._report)

    @cached_property
    def _report(self) -> Report:
        return build_report(self.findings)


# A few lines of HTML, which a notebook shows below a cell.


def summary_html(document: Report, notes: Sequence[str] = (), figure: str = "") -> str:
    """Verdict, figure, table and footnotes; what the user's names hold is text.

    Args:
        notes: how the scores were read. figure: markup of ours.
    """
    table = document.results()
    parts = [
        f"<p><strong>Verdict: {escape(verdict.word)}</strong> {escape(verdict.statement)}</p>"
        for verdict in document.verdicts
    ]
    if document.result is not None:
        result = document.result
        details = escape(" · ".join(result.details))
        parts.append(f"<p><strong>{escape(result.label)} {escape(result.value)}</strong> {details}</p>")
    parts += [f"<p>{escape(document.no_verdict)}</p>"] if document.no_verdict and document.candidates else []
    parts += [figure] if figure else []
    parts += ["<table>", *_rows(table), "</table>", f"<p><small>{escape(table.caption)}</small></p>"]
    if table.footnotes:
        parts += ["<ol>", *(f"<li><small>{escape(text)}</small></li>" for text in table.footnotes), "</ol>"]
    parts += [f"<p><small>{escape(note)}</small></p>" for note in notes]
    parts += [f"<p><small>Warning: {escape(text)}</small></p>" for text in document.warnings]
    return "\n".join(["<div>", *parts, "</div>"])


def _rows(table: DocumentTable) -> Iterator[str]:
    yield f"<tr>{''.join(f'<th>{escape(header)}</th>' for header in table.columns)}</tr>"
    for row in table.rows:
        yield f"<tr><td>{escape(row.label)}</td>{''.join(map(_cell, row.cells))}</tr>"


def _cell(entry: Entry) -> str:
    text = NOTHING if isinstance(entry, Absent) else escape(entry.text)
    text = f"<b>{text}</b>" if not isinstance(entry, Absent) and entry.is_best else text
    marks = f"<sup>{','.join(map(str, entry.marks))}</sup>" if entry.marks else ""
    return f"<td>{text}{marks}</td>"


# Some experiments of findings on stability, as findings of their own.

Part = TypeVar("Part", SetStability, WeightStability, Convergence, WeakModels, StabilityDifference)


def stability_of(findings: StabilityFindings, places: Sequence[int]) -> StabilityFindings:
    """What is told of the experiments at these places, counted anew in this order.

    Differences stay where the baseline, which they are from, is the first of them.
    """
    anew = {place: number for number, place in enumerate(places)}
    has_baseline = bool(places) and places[0] == 0

    def select(parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(replace(part, experiment=anew[part.experiment]) for part in parts if part.experiment in anew)

    return StabilityFindings(
        sets=select(findings.sets),
        weights=select(findings.weights),
        convergence=select(findings.convergence),
        weak=select(findings.weak),
        reasons=tuple(findings.reasons[place] for place in places if place < len(findings.reasons)),
        differences=select(findings.differences) if has_baseline else (),
    )


# Experiments and comparisons themselves, as `deviate.read` and `results.findings` hand them out, show themselves too.
# They are plain values, of which the rooms below know nothing of HTML; IPython is told how to show them.


def show_in_notebook() -> None:
    """Tell the running IPython, if there is one; without it nothing is imported."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    formatter = getattr(shell, "display_formatter", None)
    if formatter is not None:
        forms = formatter.formatters
        forms["text/html"].for_type(Experiment, experiment_html)
        forms["text/html"].for_type(Comparison, comparison_html)
        forms["text/plain"].for_type(Experiment, print_experiment)
        forms["text/plain"].for_type(Comparison, print_comparison)


def print_experiment(experiment: Experiment, printer: Any, _: bool) -> None:  # noqa: FBT001  (as IPython calls it)
    """The spread of an experiment as text: its fields would fill pages."""
    printer.text(repr(_described(experiment)))


def print_comparison(comparison: Comparison, printer: Any, _: bool) -> None:  # noqa: FBT001  (as IPython calls it)
    """The verdict on one metric as text."""
    printer.text(f"Verdict: {verdict_word(comparison)}   {_change(comparison)}")


def experiment_html(experiment: Experiment) -> str:
    """Its spread, as `deviate.describe` shows it; no look at a growing experiment is counted for that."""
    return _described(experiment)._repr_html_()


def _described(experiment: Experiment) -> Results:
    return Results(describe_variants((experiment,), AnalysisOptions()))


def comparison_html(comparison: Comparison) -> str:
    """The verdict on one metric; its scores are with the experiments, and so are its figures."""
    sentence = escape(_change(comparison))
    return f"<p><strong>Verdict: {escape(verdict_word(comparison))}</strong> {sentence}</p>"


def _change(comparison: Comparison) -> str:
    change = difference_cell(comparison, places_of_difference(comparison)).text
    return f"{metric_name(comparison)}: difference {change}; {verdict_reason(comparison)}"
