"""What to cite for what a report used, and nothing else, as BibTeX."""

from collections.abc import Iterator

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
from deviate.report.paper.works import WORKS, Work
from deviate.report.parts.noise import is_study
from deviate.report.parts.outcomes import has_failures

HEAD = """% What to cite for the figures of this report; what it did not use is left out.
% Each entry is followed by what of it was used.
"""
SOFTWARE = """@misc{deviate,
  author = {{The deviate authors}},
  title = {deviate: what the differences between training runs mean},
  howpublished = {Computer software, version VERSION},
}
% the runs, their records and every figure
"""
"""No @software: the styles of BibTeX itself do not know it, and biblatex takes both."""


def references_source(findings: Findings, report: Report) -> str:
    """The file, the software first."""
    return (
        HEAD + "\n" + "\n".join([SOFTWARE.replace("VERSION", __version__), *map(_entry, works_used(findings, report))])
    )


def works_used(findings: Findings, report: Report) -> tuple[Work, ...]:
    """In the order of `WORKS`; a method that gave a reason in place of a figure was not used."""
    used = set(_keys(findings, report))
    return tuple(work for work in WORKS if work.key in used)


def _entry(work: Work) -> str:
    fields = [("author", work.author), ("title", f"{{{work.title}}}"), *work.place, ("year", str(work.year))]
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields)
    return f"@{work.kind}{{{work.key},\n{body}}}\n% {work.why}\n"


def _keys(findings: Findings, report: Report) -> Iterator[str]:
    described = [description for it in findings.experiments for description in it.descriptions]
    if findings.pairs or any(_is_there(it.sd_interval) for it in described):
        yield "deviate2021"
    for description in described:
        yield from _of_description(description)
    for it in findings.experiments:
        if it.experiment.looks:
            yield "lan1983"
            yield "pocock1977" if it.experiment.spending == "pocock" else "obrien1979"
    for pair in findings.pairs:
        for comparison in pair.comparisons:
            yield from _of_comparison(comparison)
        if "Holm" in pair.family and _is_there(*(it.p_adjusted for it in pair.comparisons)):
            yield "holm1979"
    outcomes = report.section("outcomes")
    if outcomes is not None and outcomes.tables:
        yield from _of_outcomes(findings, has_rates=has_failures(findings))
    yield from _of_many(findings)
    yield from _of_noise(findings)
    yield from _of_stability(findings)


def _is_there(*figures: object) -> bool:
    return any(not isinstance(it, Unavailable) for it in figures)


def _used(found: dict[str, bool]) -> Iterator[str]:
    yield from (key for key, is_used in found.items() if is_used)


def _bootstraps(*intervals: Interval | Unavailable) -> dict[str, bool]:
    methods = [it.method for it in intervals if isinstance(it, Interval)]
    return {
        "efron1987": any("BCa" in it for it in methods),
        "efron1979": any("percentile bootstrap" in it for it in methods),
    }


def _of_description(it: Description) -> Iterator[str]:
    resampled = _bootstraps(it.mean_bootstrap, it.mean_percentile, it.sd_bootstrap, it.median_bootstrap)
    yield from _used({"student1908": _is_there(it.mean_interval)} | resampled)
    if isinstance(it.attainment, Attainment):
        yield "kaplan1958"
        if _is_there(it.attainment.median_steps_interval, it.attainment.median_seconds_interval):
            yield "brookmeyer1982"


def _of_comparison(it: Comparison) -> Iterator[str]:
    superiority = it.superiority_interval
    found = {
        "student1908": _is_there(it.student),
        "welch1947": _is_there(it.welch),
        "janssen1997": _is_there(it.permutation),
        "chung2013": _is_there(it.permutation),
        "mann1947": _is_there(it.mann_whitney, it.worst_rank),
        "lachin1999": _is_there(it.worst_rank),
        "vargha2000": _is_there(it.superiority),
        "brunner2000": isinstance(superiority, Interval) and superiority.method.startswith("Brunner-Munzel"),
        "cliff1993": _is_there(it.cliffs_delta),
        "smirnov1939": _is_there(it.kolmogorov_smirnov),
        "hedges1981": _is_there(it.hedges_g),
        "glass1976": _is_there(it.glass_delta),
        "brown1974": _is_there(it.brown_forsythe),
        "levene1960": _is_there(it.levene),
        "schuirmann1987": _is_there(it.equivalence),
        "westfall1993": isinstance(it.curve, CurveComparison) and bool(it.curve.band),
        "mantel1966": isinstance(it.attainment, AttainmentComparison)
        and _is_there(it.attainment.log_rank, it.attainment.log_rank_seconds),
        "jennison1984": isinstance(it.difference_interval, Interval) and "repeated" in it.difference_interval.method,
    }
    yield from _used(found | _bootstraps(it.difference_bootstrap, it.sd_ratio_bootstrap, it.glass_delta_interval))
    if isinstance(it.paired, Paired):
        yield from _used(
            {
                "student1908": _is_there(it.paired.t_test),
                "fisher1935": _is_there(it.paired.sign_flips),
                "wilcoxon1945": _is_there(it.paired.wilcoxon),
            }
        )


def _of_outcomes(findings: Findings, *, has_rates: bool) -> Iterator[str]:
    completions = [it.completion for it in findings.experiments if isinstance(it.completion, Completion)]
    tests = [it.completion.test for it in findings.pairs if isinstance(it.completion, CompletionComparison)]
    yield from _used(
        {
            "clopper1934": _is_there(*(it.interval for it in completions)),
            "boschloo1970": has_rates and _is_there(*tests),
        }
    )


def _of_many(findings: Findings) -> Iterator[str]:
    for table in findings.many:
        yield from _used(
            {
                "welch1951": _is_there(table.welch_anova),
                "fisher1925": _is_there(table.anova),
                "kruskal1952": _is_there(table.kruskal_wallis),
                "dunnett1955": _is_there(table.dunnett),
                "holm1979": _is_there(*(it.p_adjusted for it in table.pairs)),
            }
        )
    if findings.tasks is not None:
        aggregated = findings.tasks.aggregated
        has_intervals = _is_there(*(it.iqm_interval for it in aggregated))
        yield from _used({"agarwal2021": bool(aggregated), "hesterberg2015": has_intervals})
        yield from ["friedman1937", "demsar2006"] if isinstance(findings.tasks.friedman, Test) else []


def _of_stability(findings: Findings) -> Iterator[str]:
    it = findings.stability
    measures = [one for found in it.sets for one in found.measures] + [found.distance for found in it.weights]
    there = {one.name for one in measures if _is_there(one.value)}
    yield from _used(
        {
            "milanifard2016": "churn" in there,
            "summers2021": bool({"ensemble-accuracy", "ensemble-cross-entropy"} & there),
            "zhuang2022": "weight-distance" in there or any(found.groups for found in it.sets),
            "pham2020": bool(it.convergence) or any(found.classes for found in it.sets),
            "kornblith2019": "cka" in there,
            "guo2017": "ece" in there,
            "tukey1958": any(
                isinstance(one.interval, Interval) and "jackknife" in one.interval.method for one in measures
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
    if _is_there(*(it.excess_interval for it in findings.noise.tables)):
        yield "ting1990"
    overhead = findings.noise.overhead
    if overhead is not None and _is_there(overhead.interval):
        yield "fieller1954"
