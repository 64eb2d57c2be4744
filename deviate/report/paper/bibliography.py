"""What to cite for what a report used, and nothing else, as BibTeX."""

from collections.abc import Iterator

from deviate import __version__
from deviate.model import (
    Attainment,
    Comparison,
    Description,
    Equivalence,
    Findings,
    Interval,
    Paired,
    Test,
    Unavailable,
)
from deviate.report.format import clean
from deviate.report.noise import is_study
from deviate.report.paper.works import WORKS, Work

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


def references_source(findings: Findings) -> str:
    """The file, the software first."""
    return HEAD + "\n" + "\n".join([SOFTWARE.replace("VERSION", __version__), *map(_entry, works_used(findings))])


def works_used(findings: Findings) -> tuple[Work, ...]:
    """In the order of `WORKS`."""
    used = set(_keys(findings))
    return tuple(work for work in WORKS if work.key in used)


def _entry(work: Work) -> str:
    fields = [("author", work.author), ("title", f"{{{work.title}}}"), *work.place, ("year", str(work.year))]
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields)
    return f"@{work.kind}{{{work.key},\n{body}}}\n% {work.why}\n"


def _keys(findings: Findings) -> Iterator[str]:
    yield from ("deviate2021", "pham2020")
    for it in findings.experiments:
        for description in it.descriptions:
            yield from _of_description(description)
        if it.experiment.looks:
            yield "lan1983"
            yield "pocock1977" if it.experiment.spending == "pocock" else "obrien1979"
    for pair in findings.pairs:
        for comparison in pair.comparisons:
            yield from _of_comparison(comparison)
        if "Holm" in pair.family:
            yield "holm1979"
        if not isinstance(pair.completion, Unavailable) and isinstance(pair.completion.test, Test):
            yield from ("boschloo1970", "clopper1934")
    yield from _of_many(findings)
    yield from _of_noise(findings)


def _of_description(it: Description) -> Iterator[str]:
    if isinstance(it.mean_interval, Interval) and it.mean_interval.method.startswith("Student t"):
        yield "student1908"
    if any(isinstance(found, Interval) and "BCa" in found.method for found in (it.mean_bootstrap, it.sd_bootstrap)):
        yield "efron1987"
    if isinstance(it.attainment, Attainment):
        yield "kaplan1958"


def _of_comparison(it: Comparison) -> Iterator[str]:
    if it.is_paired and isinstance(it.paired, Paired):
        yield from ["student1908"] if isinstance(it.paired.t_test, Test) else []
        yield from ["wilcoxon1945"] if isinstance(it.paired.wilcoxon, Test) else []
    elif isinstance(it.welch, Test):
        yield "welch1947"
    found = {
        "mann1947": isinstance(it.mann_whitney, Test) and not it.is_paired,
        "hedges1981": not isinstance(it.hedges_g, Unavailable),
        "vargha2000": not isinstance(it.superiority, Unavailable),
        "brown1974": isinstance(it.brown_forsythe, Test),
        "schuirmann1987": isinstance(it.equivalence, Equivalence),
    }
    yield from (key for key, is_used in found.items() if is_used)


def _of_many(findings: Findings) -> Iterator[str]:
    for table in findings.many:
        yield from ["welch1951"] if isinstance(table.welch_anova, Test) else []
        yield from [] if isinstance(table.dunnett, Unavailable) else ["dunnett1955"]
        yield from ["holm1979"] if table.pairs else []
    if findings.tasks is not None:
        yield from ["agarwal2021"] if findings.tasks.aggregated else []
        yield from ["friedman1937", "demsar2006"] if isinstance(findings.tasks.friedman, Test) else []


def _of_noise(findings: Findings) -> Iterator[str]:
    if not is_study(findings):
        return
    for name in (clean(it.experiment.variant) for it in findings.experiments):
        if name in {"algo+impl", "algo", "impl", "control"}:
            yield "zhuang2022"
        elif name != "as-is":
            yield "summers2021"
