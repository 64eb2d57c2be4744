"""Results as a notebook holds them: a verdict, a sentence to paste, tables, and a picture of themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deviate import report, stability
from deviate.api import frames
from deviate.api.figure import Figure
from deviate.api.parts import stability_of
from deviate.api.predictions import predictions_frame
from deviate.api.summary import summary_html
from deviate.errors import InputError
from deviate.model import Captured, Findings, NoiseFindings
from deviate.report import COLUMN_IN, Picture, clean, pictures
from deviate.report.paper import Style, paper_files
from deviate.workflows import refuse_paper_folder, write_paper


@dataclass(frozen=True, repr=False)
class Results:
    """What was found. It shows itself: as the text of the terminal, in a notebook as a table with a figure.

    Attributes:
        findings: every figure, unrounded, with the reason where there is none.
    """

    findings: Findings

    @property
    def verdict(self) -> str:
        """The verdict on the primary metric: better, worse, higher, lower, equivalent, undecided, identical, withheld.

        Of several candidates each with its name; empty where there is none, and `repr` says why.
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
        """What to paste into a paper: figures, n, test, correction, type of interval; a line per candidate."""
        return "\n".join(self._report.paste)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know, each with what to do."""
        return self._report.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """How tables and files were read: what was guessed of them."""
        told = (clean(note) for it in self.findings.experiments for note in it.experiment.imported)
        return tuple(dict.fromkeys(told))

    @property
    def comparisons(self) -> Mapping[str, "Results"]:
        """Candidate to its comparison with the baseline alone, which shows itself and has figures like the whole.

        P-values stay adjusted for all that was compared.
        """
        baseline, *candidates = self.findings.experiments
        found = enumerate(
            zip(self._report.candidates, candidates, self.findings.pairs, strict=bool(self.findings.pairs)), 1
        )
        return MappingProxyType(
            {
                label: Results(
                    replace(
                        self._part(),
                        experiments=(baseline, candidate),
                        pairs=(pair,),
                        planning=tuple(it for it in self.findings.planning if it.candidate == pair.candidate),
                        stability=stability_of(self.findings.stability, (0, place)),
                    )
                )
                for place, (label, candidate, pair) in found
            }
        )

    @property
    def experiments(self) -> Mapping[str, "Results"]:
        """Name to the spread of that experiment, which shows itself and has figures; in a study, variant to spread."""
        labels = [it.label for it in self._report.experiments]
        return MappingProxyType(
            {
                label: Results(
                    replace(
                        self._part(),
                        experiments=(it,),
                        pairs=(),
                        planning=(),
                        noise=self._noise_of(place),
                        stability=stability_of(self.findings.stability, (place,)),
                    )
                )
                for place, (label, it) in enumerate(zip(labels, self.findings.experiments, strict=True))
            }
        )

    def figures(self) -> tuple[str, ...]:
        """Names of all figures: `estimation-…` and `curves-…` per metric, and what else the findings hold."""
        return tuple(it.name for it in self._pictures)

    def figure(self, name: str | None = None) -> Figure:
        """A figure that shows itself and can be saved; without a name the estimation plot of the primary metric.

        Raises:
            InputError: there is no figure of that name, or none at all.
        """
        chosen = self._first_name() if name is None else name
        found = next((it for it in self._pictures if it.name == chosen), None)
        if found is None:
            there = ", ".join(self.figures()) or "none, for there are no scores"
            raise InputError(
                f"there is no figure {chosen!r}" if chosen else "there is no figure", f"there are: {there}"
            )
        return Figure(found)

    def to_frame(self) -> Any:
        """A pandas DataFrame: a row per metric and candidate, or per metric and experiment where nothing is compared.

        Figures are unrounded. Where there is none it is missing, never NaN, and the column `reasons` says why;
        `remarks` tells how others were computed.
        """
        return frames.findings_frame(self.findings)

    def scores(self) -> Any:
        """A pandas DataFrame: a row per experiment, metric and run, with its score or the reason why there is none."""
        return frames.scores_frame(self.findings)

    def predictions(self, name: str | None = None, *, step: int | None = None) -> Any:
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
        return predictions_frame([it.experiment for it in self.findings.experiments], name, step)

    def captured(self) -> tuple[Captured, ...]:
        """Captured outputs and weights as NumPy arrays, one value per experiment; empty where nothing was captured."""
        return tuple(stability.captured_of(it.experiment) for it in self.findings.experiments)

    def to_latex(self) -> str:
        """The table of a paper, with a caption that says what stands in it; it needs the package booktabs."""
        return report.render(self._report, "latex")

    def to_paper(self, folder: str | Path, *, siunitx: bool = False, column_width_in: float = COLUMN_IN) -> None:
        """Write what a paper takes into a folder, as `--paper` does: `example.tex` there shows how it is used.

        Raises:
            InputError: no folder of that name can be made or written into.
        """
        refuse_paper_folder(Path(folder))
        write_paper(paper_files(self.findings, self._report, Style(siunitx, column_width_in)), Path(folder))

    def to_markdown(self) -> str:
        """Verdict, sentence and table for a pull request."""
        return report.render(self._report, "markdown")

    def to_html(self) -> str:
        """The whole report as one page."""
        return report.render(self._report, "html")

    def __repr__(self) -> str:
        read = [f"Read     {note}" for note in self.notes]
        return "\n".join([*read, report.render(self._report, "terminal").rstrip("\n")])

    def _repr_html_(self) -> str:
        name = self._first_name()
        return summary_html(self._report, self.notes, self.figure(name)._repr_html_() if name else "")

    def _first_name(self) -> str:
        """Of the estimation plot of the primary metric, or of the first metric; empty where there is none."""
        metrics = self._report.metrics
        plots = [(it.is_primary, it.estimation.plot) for it in metrics if isinstance(it.estimation, report.Figure)]
        keys = [plot.key for is_primary, plot in plots if is_primary] or [plot.key for _, plot in plots]
        return next((it.name for it in self._pictures if keys and it.key == keys[0]), "")

    def _noise_of(self, place: int) -> NoiseFindings | None:
        """Whether the runs of one variant are equal; the sources of spread take the others."""
        noise = self.findings.noise
        if noise is None:
            return None
        proofs = noise.repeatability[place : place + 1]
        return replace(noise, tables=(), statements=(), overhead=None, repeatability=proofs)

    def _part(self) -> Findings:
        """The findings without what is about all experiments at once."""
        return replace(self.findings, noise=None, many=(), tasks=None, breakdowns=())

    @cached_property
    def _pictures(self) -> tuple[Picture, ...]:
        return pictures(self._report)

    @cached_property
    def _report(self) -> report.Report:
        return report.build_report(self.findings)
