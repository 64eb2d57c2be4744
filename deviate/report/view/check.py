"""The view of a check: every word and rounded number that a terminal, a pull request or a test report shows of it."""

from dataclasses import dataclass
from typing import Literal

from deviate.model.check import CheckFindings
from deviate.report.view.page import View

CaseKind = Literal["metric", "completion", "control", "records"]
CaseOutcome = Literal["passed", "failed", "undecided", "error", "absent"]
"""`error`: it could not be judged, for runs are missing; `absent`: there is nothing to judge, which is no failure."""


@dataclass(frozen=True, slots=True)
class CheckCase:
    """One question of a gate and its answer.

    Attributes:
        subject: the candidate, or the experiment that it is about.
        name: what is asked, as the name of a test case: "accuracy not worse by more than 0.002".
        word: the answer. headline: the answer with its figures, in a line.
        figures: label and text of each, for a table: difference, interval, bound, margin, n.
        reason: why that answer. advice: what to do; empty where nothing is to be done.
        fails: whether it makes the gate fail.
        file, line: where the metric is reported; empty and 0 where that is not known.
    """

    kind: CaseKind
    subject: str
    name: str
    outcome: CaseOutcome
    word: str
    headline: str
    reason: str
    fails: bool
    figures: tuple[tuple[str, str], ...] = ()
    advice: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check.

    Attributes:
        word: the most serious answer; result: it with the exit code, in a sentence.
        report: what `deviate compare` would say of the same runs.
    """

    title: str
    word: str
    code: int
    result: str
    cases: tuple[CheckCase, ...]
    warnings: tuple[str, ...]
    report: View
    findings: CheckFindings
