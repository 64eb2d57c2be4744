"""What to cite for what a report used, and nothing else, as BibTeX."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from deviate import __version__
from deviate.model import (
    Attainment,
    AttainmentComparison,
    Comparison,
    Completion,
    CompletionComparison,
    CurveComparison,
    Description,
    Findings,
    Interval,
    Paired,
    Test,
    Unavailable,
)
from deviate.report.document import Report
from deviate.report.forms.templates import source
from deviate.report.further import figure_of
from deviate.report.parts.noise import is_study
from deviate.report.parts.outcomes import has_failures
from deviate.stats import Statistic, labelled_statistics

FILE = "references.bib"
"""A head, the software, and the publications behind the figures of reports, with a blank line between them.

Each entry is followed by a comment on what of it a report uses. The software is no @software: the styles of BibTeX
itself do not know it, and biblatex takes both.
"""


def references_source(findings: Findings, report: Report) -> str:
    """The file, the software first, then what the report used in the order of the packaged file."""
    head, software, *entries = source(FILE).removesuffix("\n").split("\n\n")
    keys = cited_keys(findings, report)
    cited = [entry for entry in entries if entry_key(entry) in keys]
    further = _further_entries(findings, {entry_key(entry) for entry in entries})
    return "\n\n".join([head, software.replace("VERSION", __version__), *cited, *further]) + "\n"


def _further_entries(findings: Findings, packaged: AbstractSet[str]) -> Iterator[str]:
    """What statistics that say themselves how they are shown bring along, as BibTeX."""
    for statistic in _further_used(findings):
        yield from (f"{entry}\n% {statistic.label}" for entry in statistic.cites if entry not in packaged)


def _further_used(findings: Findings) -> list[Statistic]:
    compared = [comparison for pair in findings.pairs for comparison in pair.comparisons]
    return [
        statistic
        for statistic in labelled_statistics()
        if any(_is_there(figure_of(comparison, statistic.name).value) for comparison in compared)
    ]


def entry_key(entry: str) -> str:
    """What an entry is cited by: `mann1947` of `@article{mann1947,`."""
    return entry.partition("{")[2].partition(",")[0]


def cited_keys(findings: Findings, report: Report) -> frozenset[str]:
    """Keys of publications; a method that gave a reason in place of a figure was not used."""
    return frozenset(_keys(findings, report))


def _keys(findings: Findings, report: Report) -> Iterator[str]:
    descriptions = [description for experiment in findings.experiments for description in experiment.descriptions]
    if findings.pairs or any(_is_there(description.sd_interval) for description in descriptions):
        yield "deviate2021"
    for description in descriptions:
        yield from _of_description(description)
    for described in findings.experiments:
        if described.experiment.looks:
            yield "lan1983"
            yield "pocock1977" if described.experiment.spending == "pocock" else "obrien1979"
    for pair in findings.pairs:
        for comparison in pair.comparisons:
            yield from _of_comparison(comparison)
        if "Holm" in pair.family and _is_there(*(comparison.p_adjusted for comparison in pair.comparisons)):
            yield "holm1979"
    yield from (key for statistic in _further_used(findings) for key in statistic.cites)
    outcomes = report.section("outcomes")
    if outcomes is not None and outcomes.tables:
        yield from _of_outcomes(findings, has_rates=has_failures(findings))
    yield from _of_many(findings)
    yield from _of_noise(findings)
    yield from _of_stability(findings)


def _is_there(*figures: object) -> bool:
    return any(not isinstance(figure, Unavailable) for figure in figures)


def _true_keys(uses: dict[str, bool]) -> Iterator[str]:
    return (key for key, is_used in uses.items() if is_used)


def _bootstraps(*intervals: Interval | Unavailable) -> dict[str, bool]:
    methods = [interval.method for interval in intervals if isinstance(interval, Interval)]
    return {
        "efron1987": any("BCa" in method for method in methods),
        "efron1979": any("percentile bootstrap" in method for method in methods),
    }


def _of_description(description: Description) -> Iterator[str]:
    resampled = _bootstraps(
        description.mean_bootstrap, description.mean_percentile, description.sd_bootstrap, description.median_bootstrap
    )
    yield from _true_keys({"student1908": _is_there(description.mean_interval)} | resampled)
    if isinstance(description.attainment, Attainment):
        yield "kaplan1958"
        if _is_there(description.attainment.median_steps_interval, description.attainment.median_seconds_interval):
            yield "brookmeyer1982"


def _of_comparison(comparison: Comparison) -> Iterator[str]:
    superiority = comparison.superiority_interval
    uses = {
        "student1908": _is_there(comparison.student),
        "welch1947": _is_there(comparison.welch),
        "janssen1997": _is_there(comparison.permutation),
        "chung2013": _is_there(comparison.permutation),
        "mann1947": _is_there(comparison.mann_whitney, comparison.worst_rank),
        "lachin1999": _is_there(comparison.worst_rank),
        "vargha2000": _is_there(comparison.superiority),
        "brunner2000": isinstance(superiority, Interval) and superiority.method.startswith("Brunner-Munzel"),
        "cliff1993": _is_there(comparison.cliffs_delta),
        "smirnov1939": _is_there(comparison.kolmogorov_smirnov),
        "hedges1981": _is_there(comparison.hedges_g),
        "glass1976": _is_there(comparison.glass_delta),
        "brown1974": _is_there(comparison.brown_forsythe),
        "levene1960": _is_there(comparison.levene),
        "schuirmann1987": _is_there(comparison.equivalence),
        "westfall1993": isinstance(comparison.curve, CurveComparison) and bool(comparison.curve.band),
        "mantel1966": isinstance(comparison.attainment, AttainmentComparison)
        and _is_there(comparison.attainment.log_rank, comparison.attainment.log_rank_seconds),
        "jennison1984": isinstance(comparison.difference_interval, Interval)
        and "repeated" in comparison.difference_interval.method,
    }
    yield from _true_keys(
        uses
        | _bootstraps(comparison.difference_bootstrap, comparison.sd_ratio_bootstrap, comparison.glass_delta_interval)
    )
    if isinstance(comparison.paired, Paired):
        yield from _true_keys(
            {
                "student1908": _is_there(comparison.paired.t_test),
                "fisher1935": _is_there(comparison.paired.sign_flips),
                "wilcoxon1945": _is_there(comparison.paired.wilcoxon),
            }
        )


def _of_outcomes(findings: Findings, *, has_rates: bool) -> Iterator[str]:
    completions = [
        described.completion for described in findings.experiments if isinstance(described.completion, Completion)
    ]
    tests = [pair.completion.test for pair in findings.pairs if isinstance(pair.completion, CompletionComparison)]
    yield from _true_keys(
        {
            "clopper1934": _is_there(*(completion.interval for completion in completions)),
            "boschloo1970": has_rates and _is_there(*tests),
        }
    )


def _of_many(findings: Findings) -> Iterator[str]:
    for table in findings.many:
        yield from _true_keys(
            {
                "welch1951": _is_there(table.welch_anova),
                "fisher1925": _is_there(table.anova),
                "kruskal1952": _is_there(table.kruskal_wallis),
                "dunnett1955": _is_there(table.dunnett),
                "holm1979": _is_there(*(pair.p_adjusted for pair in table.pairs)),
            }
        )
    if findings.tasks is not None:
        aggregated = findings.tasks.aggregated
        has_intervals = _is_there(*(task.iqm_interval for task in aggregated))
        yield from _true_keys({"agarwal2021": bool(aggregated), "hesterberg2015": has_intervals})
        yield from ["friedman1937", "demsar2006"] if isinstance(findings.tasks.friedman, Test) else []


def _of_stability(findings: Findings) -> Iterator[str]:
    stability = findings.stability
    measures = [measure for captured in stability.sets for measure in captured.measures]
    measures += [weights.distance for weights in stability.weights]
    names = {measure.name for measure in measures if _is_there(measure.value)}
    yield from _true_keys(
        {
            "milanifard2016": "churn" in names,
            "summers2021": bool({"ensemble-accuracy", "ensemble-cross-entropy"} & names),
            "zhuang2022": "weight-distance" in names or any(captured.groups for captured in stability.sets),
            "pham2020": bool(stability.convergence) or any(captured.classes for captured in stability.sets),
            "kornblith2019": "cka" in names,
            "guo2017": "ece" in names,
            "tukey1958": any(
                isinstance(measure.interval, Interval) and "jackknife" in measure.interval.method
                for measure in measures
            ),
        }
    )


def _of_noise(findings: Findings) -> Iterator[str]:
    if findings.noise is None or not is_study(findings):
        return
    rows = {row.variant: row for table in findings.noise.tables for row in table.rows}
    for name, row in rows.items():
        if name in {"algo+impl", "algo", "impl", "control"}:
            yield "zhuang2022"
        elif row.kind in {"streams", "implementation", "one-bit"}:
            yield "summers2021"
        if row.kind == "implementation":
            yield "pham2020"
    if _is_there(*(table.excess_interval for table in findings.noise.tables)):
        yield "ting1990"
    overhead = findings.noise.overhead
    if overhead is not None and _is_there(overhead.interval):
        yield "fieller1954"
