"""Results as a notebook holds them: a verdict, a sentence to paste, tables, and a picture of themselves."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deviate import report
from deviate.model import Findings
from deviate.notebook import frames
from deviate.notebook.summary import summary_html
from deviate.report.format import clean


@dataclass(frozen=True, repr=False)
class Results:
    """What was found. It shows itself: as the text of the terminal, in a notebook as a table.

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
        return "\n".join(self._view.paste)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know, each with what to do."""
        return self._view.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """How tables and files were read: what was guessed of them."""
        told = (clean(note) for it in self.findings.experiments for note in it.experiment.imported)
        return tuple(dict.fromkeys(told))

    def to_frame(self) -> Any:
        """A pandas DataFrame: a row per metric and candidate, or per metric and experiment where nothing is compared.

        Figures are unrounded. Where there is none it is missing, never NaN, and the column `reasons` says why;
        `remarks` tells how others were computed.
        """
        return frames.findings_frame(self.findings)

    def scores(self) -> Any:
        """A pandas DataFrame: a row per experiment, metric and run, with its score or the reason why there is none."""
        return frames.scores_frame(self.findings)

    def to_latex(self) -> str:
        """The table of a paper, with a caption that says what stands in it; it needs the package booktabs."""
        return report.render(self._view, "latex")

    def to_markdown(self) -> str:
        """Verdict, sentence and table for a pull request."""
        return report.render(self._view, "markdown")

    def to_html(self) -> str:
        """The whole report as one page."""
        return report.render(self._view, "html")

    def __repr__(self) -> str:
        read = [f"Read     {note}" for note in self.notes]
        return "\n".join([*read, report.render(self._view, "terminal").rstrip("\n")])

    def _repr_html_(self) -> str:
        return summary_html(self._view, self.notes)

    @cached_property
    def _view(self) -> report.View:
        return report.build_view(self.findings)
