"""A check: whether a candidate passes a gate, judged metric by metric, with its failures, its control, its records."""

import enum
from dataclasses import dataclass
from typing import Literal

from deviate.model.comparisons import Comparison, CompletionComparison
from deviate.model.estimates import NOT_ASKED, Estimate, Unavailable
from deviate.model.findings import Findings, Repeatability
from deviate.model.records import Status

CheckOutcome = Literal["passed", "worse", "undecided"]
ControlOutcome = Literal["intact", "broken", "absent"]
GateWord = Literal["control broken", "control missing", "worse", "incomplete", "undecided", "passed"]


class CheckGround(enum.Enum):
    """The rule that gave the outcome of a metric."""

    BEYOND = "the whole interval lies beyond the margin"
    NEAR = "it does, but p is too close to alpha for the number of arrangements"
    FAMILY = "it does, but the adjusted p is not below alpha"
    UNFAIR = "the better side owes it to its failed runs"
    WITHIN = "the one-sided bound lies within the margin"
    OPEN = "neither is shown"
    CONSTANT = "both sides, or all pairs, show one number"
    UNTESTED = "there is no bound"


EXIT_CODES: dict[GateWord, int] = {
    "control broken": 6,
    "control missing": 6,
    "worse": 4,
    "incomplete": 3,
    "undecided": 5,
    "passed": 0,
}
"""What a gate is left with, the most serious word first; undecided passes with 0 unless it was asked to fail."""


@dataclass(frozen=True, slots=True)
class MetricCheck:
    """One metric of one candidate against the margin.

    Attributes:
        margin: in units of the metric; 0 where none was given, and the question is whether it is worse at all.
        outcome: `worse` only where that is shown, `passed` only where it is shown that it is not.
        bound: one-sided, of candidate minus baseline, on the side on which worse lies; `bound_confidence` is its level.
        p_adjusted: that the candidate is worse by more than the margin, doubled as that of a two-sided interval is,
            after Holm over the `n_family` questions that were asked together.
        needed: runs of each side, or pairs, that would show in 80 % of cases that a candidate which is as good as the
            baseline is not worse by more than the margin, given the spread of these runs.
        ground: the rule, which `deviate.report.check_reasons` says in a sentence. unfair: how many runs failed, where
            that is the rule.
    """

    baseline: str
    candidate: str
    comparison: Comparison
    margin: float
    outcome: CheckOutcome
    bound: Estimate
    bound_confidence: float
    p_adjusted: Estimate
    n_family: int
    needed: int | Unavailable
    ground: CheckGround
    unfair: Unavailable = NOT_ASKED


@dataclass(frozen=True, slots=True)
class CompletionCheck:
    """Whether the candidate completes as often as the baseline; `p_adjusted` is after Holm over the candidates."""

    baseline: str
    candidate: str
    completion: CompletionComparison | Unavailable
    outcome: CheckOutcome
    p_adjusted: Estimate


@dataclass(frozen=True, slots=True)
class ControlCheck:
    """The control variant of an experiment; `repeatability` is None where there is none."""

    name: str
    outcome: ControlOutcome
    repeatability: Repeatability | None


@dataclass(frozen=True, slots=True)
class RecordsCheck:
    """Whether all planned runs of one side have ended for reasons of their own.

    Attributes:
        name: of the experiment, for `deviate resume`; empty where deviate did not run it.
        n_runs: that ended so: completed and failed ones.
        failed: number of failed runs by outcome.
        missing: replicates that are not on record, lost, cancelled, or never reported.
        reason: empty where nothing is missing and something completed.
    """

    label: str
    name: str
    n_planned: int
    n_runs: int
    n_completed: int
    failed: tuple[tuple[Status, int], ...]
    missing: tuple[int, ...]
    reason: str

    @property
    def is_complete(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class CheckFindings:
    """All that a gate knows, and the findings it was made of.

    Attributes:
        completions: whether candidates complete as often, one for each.
        records: one for each side, the baseline first.
        warnings: what a reader must know beside the warnings of the findings.
        fails_undecided: whether undecided fails. requires_control: whether an absent control variant does.
    """

    metrics: tuple[MetricCheck, ...]
    completions: tuple[CompletionCheck, ...]
    controls: tuple[ControlCheck, ...]
    records: tuple[RecordsCheck, ...]
    warnings: tuple[str, ...]
    findings: Findings
    fails_undecided: bool = False
    requires_control: bool = False

    @property
    def word(self) -> GateWord:
        """The most serious of what was found.

        What is shown to be wrong goes before what is not known: a broken control first, for no other word stands where
        runs that should be equal are not; worse next, for missing runs would not take it back.
        """
        outcomes = {metric.outcome for metric in self.metrics} | {completion.outcome for completion in self.completions}
        controls = {control.outcome for control in self.controls}
        if "broken" in controls:
            return "control broken"
        if self.requires_control and "intact" not in controls:
            return "control missing"
        if "worse" in outcomes:
            return "worse"
        if not all(record.is_complete for record in self.records):
            return "incomplete"
        return "undecided" if "undecided" in outcomes else "passed"

    @property
    def code(self) -> int:
        """Exit code."""
        return 0 if self.word == "undecided" and not self.fails_undecided else EXIT_CODES[self.word]
