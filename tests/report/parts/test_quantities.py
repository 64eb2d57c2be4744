"""The table of a comparison, the lines of the verdict and the sentence to paste."""

from dataclasses import replace

import numpy as np
from experiments import scored, with_moments
from samples import sample

from deviate.model.findings import Findings
from deviate.report.document import Absent, CandidateVerdict, DocumentTable, Fold, TableRow
from deviate.report.parts.build import build_report
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.judge import judge
from deviate.stats.multiple.pairs import compare_all
from deviate.stats.options import AnalysisOptions

GROUPS = ["", "Difference", "Pairing", "Equivalence", "Ranks", "Effect size", "Spread"]


def found(
    *samples: list[float], margin: float | None = None, is_paired: bool = False, spread_ratio: float | None = None
) -> Findings:
    names = ("base", "new", "other")
    findings = judge(
        [scored(name, scores) for name, scores in zip(names, samples, strict=False)], AnalysisOptions(margin=margin)
    )
    pairs = compare_all(
        findings.experiments,
        AnalysisOptions(is_paired=is_paired, spread_ratio=spread_ratio),
        is_chosen_after=False,
        resamples=Resamples(np.random.default_rng(0)),
    )
    return replace(findings, pairs=pairs)


def table(findings: Findings) -> dict[str, TableRow]:
    return {row.label: row for row in rows_of(findings)}


def rows_of(findings: Findings) -> tuple[TableRow, ...]:
    quantities = build_report(findings).metrics[0].quantities.of(Fold)[0].blocks[0]
    assert isinstance(quantities, DocumentTable)
    return quantities.rows


def verdict(findings: Findings) -> CandidateVerdict:
    return build_report(findings).verdicts[0]


def cell(findings: Findings, label: str) -> str:
    return table(findings)[label].cells[0].text


def two(n: int = 10, shift: float = 0.3, sd: float = 0.2) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(1)
    return with_moments(n, 93, 0.2, rng), with_moments(n, 93 + shift, sd, rng)


def test_rows_of_a_group_stand_together_in_the_order_of_a_report() -> None:
    rows = rows_of(found(*two(), margin=0.1, is_paired=True))
    groups = [row.group for row in rows]
    assert list(dict.fromkeys(groups)) == GROUPS
    assert groups == sorted(groups, key=GROUPS.index)
    assert [row.label for row in rows[:3]] == ["Verdict", "n, baseline and candidate", "Difference of means"]


def test_a_margin_shows_the_p_of_equivalence_and_whether_the_candidate_is_not_worse() -> None:
    findings = found(sample(93, 0.2, 10), sample(93, 0.2, 10), margin=0.3)
    assert verdict(findings).word == "equivalent within 0.3 points"
    assert verdict(findings).tests[-3:-1] == (
        "TOST p = 0.002 (margin ±0.3 points)",
        "not worse than by 0.3 points (one-sided 95%)",
    )
    assert cell(findings, "Two one-sided tests") == "TOST p = 0.002 (margin ±0.3 points); one-sided 0.002 and 0.002"
    assert cell(findings, "Not worse") == "not worse than by 0.3 points (one-sided 95%)"
    worse = found(sample(93, 0.2, 10), sample(92, 0.2, 10), margin=0.3)
    assert cell(worse, "Not worse") == "not shown"
    assert not any("not worse" in it for it in verdict(worse).tests)


def test_pairs_are_shown_with_their_correlation_and_the_test_that_decides() -> None:
    baseline, candidate = two()
    findings = found(baseline, candidate[:9], is_paired=True)
    assert cell(findings, "Pairs") == "9; without a partner: replicate 9"
    assert cell(findings, "Paired t-test").startswith("t(8) = ")
    assert cell(findings, "Wilcoxon signed-rank").startswith("V = ")
    assert table(findings)["Difference of means"].method == "candidate − baseline, mean over the pairs"
    shown = verdict(findings)
    assert shown.tests[0].startswith("paired t(8) = ")
    assert shown.tests[3] == f"correlation of 9 pairs {cell(findings, 'Correlation of the pairs')}"
    assert shown.detectable.startswith("These 9 pairs can detect a difference of ")
    assert shown.statement.endswith(", 9 pairs")
    assert "with new (9 runs) and 93.000 ± 0.200 % with base (10 runs); mean ± SD," in shown.paste
    assert ", 9 pairs; larger p of paired t-test, t(8) = " in shown.paste
    assert "and sign-flip test;" in shown.paste


def test_the_verdict_on_spread_is_told_with_the_ratio_that_was_given() -> None:
    equal = sample(93, 0.2, 60), sample(93, 0.2, 60)
    within = verdict(found(*equal, spread_ratio=1.7)).spread
    assert ": undecided (the 95% interval of the SD ratio contains 1; the 90% interval lies within 1/1.7" in within
    assert within.endswith("(normal scores only))")
    assert verdict(found(*equal)).spread.endswith(": undecided")


def test_a_candidate_without_the_metric_says_so_in_every_row() -> None:
    findings = found(*two(), two()[1])
    first, second = findings.pairs
    findings = replace(findings, pairs=(first, replace(second, comparisons=(), headline=None)))
    rows = table(findings)
    assert {row.cells[1].text for row in rows.values()} == {"not reported by other"}
    assert all(isinstance(row.cells[1], Absent) for row in rows.values())


def test_decimals_of_a_paired_difference_come_from_the_pairs_which_know_it_better_than_the_sides() -> None:
    baseline = with_moments(10, 90.0, 1.0, np.random.default_rng(0))
    steps = with_moments(10, 0.01, 0.002, np.random.default_rng(1))
    candidate = [before + step for before, step in zip(baseline, steps, strict=True)]
    (shown,) = build_report(found(list(baseline), candidate, is_paired=True)).verdicts
    assert " test_acc +0.01000" in shown.statement
    assert ", 95% CI 0.00852 to 0.01143, " in shown.statement


def test_how_a_quantity_was_computed_is_told_of_the_candidate_that_has_it() -> None:
    draws = np.random.default_rng(0)
    findings = found(draws.normal(size=10).tolist(), draws.normal(size=3).tolist(), draws.normal(size=10).tolist())
    row = table(findings)["P(candidate > baseline)"]
    assert isinstance(row.cells[0], Absent)
    assert not isinstance(row.cells[1], Absent)
    assert row.method == "ties count half; 95% CI, Brunner-Munzel, logit scale"
