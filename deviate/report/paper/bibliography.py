"""BibTeX entries for the methods that a report used, and for no others."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from deviate import __version__
from deviate.model.comparisons import Comparison
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.findings import Findings
from deviate.model.phrases import Method
from deviate.registry import wing
from deviate.report.data.published import figure_of
from deviate.report.document import Report
from deviate.report.forms.html import source
from deviate.report.parts.noise import is_study
from deviate.report.parts.outcomes import has_failures
from deviate.stats.registry import Statistic, labelled_statistics

FILE = "references.bib"
"""A head, the software, and the publications behind the figures of reports, with a blank line between them.

Each entry is followed by a comment on what of it a report uses. The software is no @software: the styles of BibTeX
itself do not know it, and biblatex takes both.
"""


OF_DESCRIPTION = {
    "student1908": "mean_interval",
    "kaplan1958": "attainment",
    "brookmeyer1982": "attainment.median_steps_interval attainment.median_seconds_interval",
}
"""Figures by the publication behind them: a key is cited where one of its figures is there."""
OF_COMPARISON = {
    "student1908": "student paired.t_test",
    "welch1947": "welch",
    "janssen1997": "permutation",
    "chung2013": "permutation",
    "fisher1935": "paired.sign_flips",
    "wilcoxon1945": "paired.wilcoxon",
    "mann1947": "mann_whitney worst_rank",
    "lachin1999": "worst_rank",
    "vargha2000": "superiority",
    "cliff1993": "cliffs_delta",
    "smirnov1939": "kolmogorov_smirnov",
    "hedges1981": "hedges_g",
    "glass1976": "glass_delta",
    "brown1974": "brown_forsythe",
    "levene1960": "levene",
    "schuirmann1987": "equivalence",
    "mantel1966": "attainment.log_rank attainment.log_rank_seconds",
}
OF_EXPERIMENT, OF_PAIR = {"clopper1934": "completion.interval"}, {"boschloo1970": "completion.test"}
OF_MANY = {"welch1951": "welch_anova", "fisher1925": "anova", "kruskal1952": "kruskal_wallis", "dunnett1955": "dunnett"}
OF_DESCRIPTION_RESAMPLED = "mean_bootstrap mean_percentile sd_bootstrap median_bootstrap"
OF_COMPARISON_RESAMPLED = "difference_bootstrap sd_ratio_bootstrap glass_delta_interval"
METHODS: dict[str, str] = {Method.BCA: "efron1987", Method.PERCENTILE: "efron1979"}


def references_source(findings: Findings, report: Report) -> str:
    """Contents of the file: the software first, then methods in the order of the packaged file."""
    head, software, *entries = source(FILE).removesuffix("\n").split("\n\n")
    keys = cited_keys(findings, report)
    cited = [entry for entry in entries if entry_key(entry) in keys]
    further = _registered_entries(findings, {entry_key(entry) for entry in entries})
    return "\n\n".join([head, software.replace("VERSION", __version__), *cited, *further]) + "\n"


def _registered_entries(findings: Findings, packaged: AbstractSet[str]) -> Iterator[str]:
    """BibTeX entries of registered statistics that define how they are shown."""
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
    """The key of a BibTeX entry: `mann1947` for `@article{mann1947,`."""
    return entry.partition("{")[2].partition(",")[0]


def cited_keys(findings: Findings, report: Report) -> frozenset[str]:
    """Keys of the cited publications. A method whose result is unavailable does not count as used."""
    return frozenset(_keys(findings, report))


def _keys(findings: Findings, report: Report) -> Iterator[str]:
    descriptions = [description for experiment in findings.experiments for description in experiment.descriptions]
    if findings.pairs or any(_is_there(description.sd_interval) for description in descriptions):
        yield "deviate2021"
    for description in descriptions:
        yield from _of_figures(description, OF_DESCRIPTION)
        yield from _cite_methods(_figures(description, OF_DESCRIPTION_RESAMPLED))
    for described in findings.experiments:
        if described.experiment.looks:
            yield "lan1983"
            yield "pocock1977" if described.experiment.spending == "pocock" else "obrien1979"
    compared = [comparison for pair in findings.pairs for comparison in pair.comparisons]
    # The p of a primary metric that was compared once alone is left as it is.
    is_corrected = len(compared) > 1 or not all(comparison.metric.is_primary for comparison in compared)
    for pair in findings.pairs:
        for comparison in pair.comparisons:
            yield from _cite_comparison(comparison)
        if is_corrected and _is_there(*(comparison.p_adjusted for comparison in pair.comparisons)):
            yield "holm1979"
    yield from (key for statistic in _further_used(findings) for key in statistic.cites)
    outcomes = report.section("outcomes")
    if outcomes is not None and outcomes.tables:
        yield from (key for item in findings.experiments for key in _of_figures(item, OF_EXPERIMENT))
        pairs = findings.pairs if has_failures(findings) else ()
        yield from (key for pair in pairs for key in _of_figures(pair, OF_PAIR))
    yield from _of_many(findings)
    yield from _cite_noise(findings)
    yield from wing("stability.report.paper").citations(findings)


def _is_there(*figures: object) -> bool:
    return any(not isinstance(figure, Unavailable) for figure in figures)


def _figures(value: object, paths: str) -> Iterator[object]:
    """Values at the ends of attribute paths; a path stops where a value is unavailable."""
    for path in paths.split():
        figure = value
        for name in path.split("."):
            figure = figure if isinstance(figure, Unavailable) else getattr(figure, name)
        yield figure


def _of_figures(value: object, table: Mapping[str, str]) -> Iterator[str]:
    return (key for key, paths in table.items() if _is_there(*_figures(value, paths)))


def _cite_methods(figures: Iterable[object]) -> Iterator[str]:
    """Citation keys for the resampling methods of intervals."""
    methods = [figure.method for figure in figures if isinstance(figure, Interval)]
    return (METHODS[method] for method in methods if method in METHODS)


def _cite_comparison(comparison: Comparison) -> Iterator[str]:
    yield from _of_figures(comparison, OF_COMPARISON)
    yield from _cite_methods(_figures(comparison, OF_COMPARISON_RESAMPLED))
    curve, interval = comparison.curve, comparison.difference_interval
    # Where one side is above the other in all pairs, the interval is another one.
    if _is_there(comparison.superiority_interval) and comparison.superiority not in {0, 1}:
        yield "brunner2000"
    if not isinstance(curve, Unavailable) and curve.band:
        yield "westfall1993"
    if isinstance(interval, Interval) and getattr(interval.method, "kind", None) is Method.REPEATED:
        yield "jennison1984"


def _of_many(findings: Findings) -> Iterator[str]:
    for table in findings.many:
        yield from _of_figures(table, OF_MANY)
        yield from ["holm1979"] if _is_there(*(pair.p_adjusted for pair in table.pairs)) else []
    if findings.tasks is not None:
        for task in findings.tasks.aggregated:
            yield "agarwal2021"
            yield from _of_figures(task, {"hesterberg2015": "iqm_interval"})
        yield from ["friedman1937", "demsar2006"] if isinstance(findings.tasks.friedman, Test) else []


def _cite_noise(findings: Findings) -> Iterator[str]:
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
    yield from (key for table in findings.noise.tables for key in _of_figures(table, {"ting1990": "excess_interval"}))
    if findings.noise.overhead is not None:
        yield from _of_figures(findings.noise.overhead, {"fieller1954": "interval"})
