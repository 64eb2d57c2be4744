"""An experiment beside published results as a document: what can be said without the scores behind them."""

from collections.abc import Iterator
from dataclasses import replace

from deviate.base.redaction import redact_words
from deviate.model.estimates import VERDICT_RUNS, Estimate, Interval, Unavailable
from deviate.model.published_results import PublishedComparison, PublishedFindings
from deviate.report.data.published import PUBLISHED_SCHEMA, document_data
from deviate.report.data.tables import shield_rows
from deviate.report.document import (
    Absent,
    Document,
    DocumentTable,
    Entry,
    Fact,
    ReportFigure,
    Section,
    TableRow,
    cell,
)
from deviate.report.format import (
    clean,
    confidence_text,
    counted,
    decimals,
    difference_unit,
    name_text,
    number,
    unit_head,
    with_unit,
)
from deviate.report.numbers import Piece, ShownNumber
from deviate.report.parts.compare import effect_text, ratio_cell
from deviate.report.parts.describe import interval_cell, mean_and_sd, signed_cell
from deviate.report.plots import EstimationPlot, PlottedDifference, PointGroup, ends_of, known

BETTER = {"max": "higher", "min": "lower"}


def published_document(findings: PublishedFindings) -> Document:
    experiment = name_text(findings.experiment)
    sources = list(dict.fromkeys(_source(comparison) for comparison in findings.comparisons))
    return Document(
        title=f"{experiment} against {', '.join(sources)}",
        subtitle=f"{experiment} ({name_text(findings.variant)}), recorded, against {', '.join(sources)}; differences "
        f"are {experiment} minus published",
        paste=tuple(_paste(findings, comparison) for comparison in findings.comparisons),
        sections=(_section(findings),),
        warnings=findings.notes,
        footnotes=tuple(_footnotes(findings)),
        facts=tuple(Fact(label, cell(clean(text))) for label, text in _facts(findings)),
        data=lambda: document_data(PUBLISHED_SCHEMA, findings, findings.notes),
        rows=lambda: shield_rows(_csv(findings)),
    )


def _source(comparison: PublishedComparison) -> str:
    return name_text(comparison.published.source) if comparison.published.source else "the published result"


def _label(comparison: PublishedComparison) -> str:
    source = comparison.published.source
    metric = name_text(comparison.published.metric)
    return f"{metric}, {name_text(source)}" if source else metric


def _change(comparison: PublishedComparison) -> str:
    """`+0.40 points [95% CI 0.03 … 0.77], g 1.4 [0.2 … 2.6]`."""
    places = _places(comparison)
    change = signed_cell(comparison.difference, places, _difference_unit(comparison)).text
    return ", ".join(filter(None, (f"{change} {_bracket(comparison, places)}", effect_text(comparison))))


def _bracket(comparison: PublishedComparison, places: int | None) -> str:
    interval = comparison.interval
    if isinstance(interval, Unavailable):
        return f"[no interval: {interval.reason}]"
    return f"[{confidence_text(interval.confidence)} CI {interval_cell(interval, places).text}, {interval.method}]"


def _direction(experiment: str, comparison: PublishedComparison) -> str:
    """Which side is higher, whether that is better, and where 0 lies; without a verdict."""
    difference, interval = comparison.difference, comparison.interval
    if isinstance(difference, Unavailable):
        return "nothing to compare"
    if difference == 0:
        side = "the means are equal"
    else:
        side = f"{experiment} is {'higher' if difference > 0 else 'lower'}"
        side += f" ({BETTER[comparison.direction]} is better)" if comparison.direction else ""
    if isinstance(interval, Unavailable):
        return side
    return f"{side}, and the interval {'holds' if interval.low <= 0 <= interval.high else 'excludes'} 0"


def _margin(comparison: PublishedComparison) -> str:
    margin = comparison.margin or 0.0
    size = with_unit(number(margin, None), _difference_unit(comparison))
    interval = comparison.margin_interval
    if isinstance(interval, Unavailable):
        return f"±{size}: no interval to compare it with"
    place = "lies within it" if -margin < interval.low and interval.high < margin else "reaches beyond it"
    ends = interval_cell(interval, _places(comparison)).text
    return f"±{size}: the {confidence_text(interval.confidence)} interval {ends} {place}, without a verdict"


def _recorded_mean(comparison: PublishedComparison) -> Entry:
    of = () if comparison.n == comparison.n_runs else (" of ", ShownNumber(comparison.n_runs, 0), " runs")
    return _mean(comparison, comparison.mean, comparison.sd, ShownNumber(comparison.n, 0), *of)


def _published_mean(comparison: PublishedComparison) -> Entry:
    published = comparison.published
    return _mean(comparison, published.mean, published.sd, ShownNumber(published.n, 0))


def _mean(comparison: PublishedComparison, mean: Estimate, sd: Estimate, *n: Piece) -> Entry:
    """`94.60 ± 0.25 %, n = 10`."""
    entry = mean_and_sd(mean, sd, _places(comparison), clean(comparison.unit))
    return entry if isinstance(entry, Absent) else replace(entry, pieces=(*entry.pieces, ", n = ", *n))


def _places(comparison: PublishedComparison) -> int | None:
    """Decimals from the smaller standard error; those of the published mean if there is none."""
    sides = ((comparison.sd, comparison.n), (comparison.published.sd, comparison.published.n))
    errors = [sd / n**0.5 for sd, n in sides if not isinstance(sd, Unavailable) and sd > 0]
    return decimals(min(errors)) if errors else decimals(10 * comparison.published.last_digit)


def _difference_unit(comparison: PublishedComparison) -> str:
    return difference_unit(clean(comparison.unit))


def _section(findings: PublishedFindings) -> Section:
    comparisons = findings.comparisons
    level, experiment = confidence_text(findings.confidence), name_text(findings.experiment)
    means = ("published, mean ± SD", f"{experiment}, mean ± SD")
    columns = ("Published", *means, "difference", f"{level} CI", "Hedges' g", "SD ratio", "verdict")
    rows = tuple(_row(experiment, comparison) for comparison in comparisons)
    table = DocumentTable(f"Published results and {experiment}", columns, rows)
    plots = (_plot(findings, index) for index in range(len(comparisons)))
    figures = [ReportFigure(plot, plot.caption, plot.title) for plot in plots if plot is not None]
    return Section("published", "Published results", (*figures, table))


def _row(name: str, comparison: PublishedComparison) -> TableRow:
    places = _places(comparison)
    cells = (
        _published_mean(comparison),
        _recorded_mean(comparison),
        signed_cell(comparison.difference, places, _difference_unit(comparison)),
        _short(comparison.interval, interval_cell(comparison.interval, places)),
        _short(comparison.hedges_g, ratio_cell(comparison.hedges_g, comparison.hedges_g_interval)),
        _short(comparison.sd_ratio, ratio_cell(comparison.sd_ratio, comparison.sd_ratio_interval)),
        cell(comparison.verdict.word),
    )
    quantities = (("CI", comparison.interval), ("Hedges' g", comparison.hedges_g), ("SD ratio", comparison.sd_ratio))
    absences = [f"no {name}: {value.reason}" for name, value in quantities if isinstance(value, Unavailable)]
    margin = f"margin {_margin(comparison)}" if comparison.margin is not None else ""
    side = _direction(name, comparison)
    return TableRow(
        _label(comparison),
        cells,
        note="; ".join(filter(None, (side, clean(comparison.published.assumption), margin, *absences))),
    )


def _short(value: object, entry: Entry) -> Entry:
    return Absent("none") if isinstance(value, Unavailable) else entry


def _plot(findings: PublishedFindings, index: int) -> EstimationPlot | None:
    """Our runs as points beside the published mean, of which no points are known; None without a score."""
    comparison = findings.comparisons[index]
    if not comparison.n:
        return None
    published, experiment, source = comparison.published, name_text(findings.experiment), _source(comparison)
    metric, unit = name_text(published.metric), clean(comparison.unit)
    level = f", {confidence_text(findings.confidence)} CI" if isinstance(comparison.interval, Interval) else ""
    alone = (published.mean,) if published.n == 1 else ()
    theirs = PointGroup(0, source, f"n = {published.n}", alone, published.mean, known(published.sd), None, None)
    mean, sd = known(comparison.mean), known(comparison.sd)
    ours = PointGroup(1, experiment, f"n = {comparison.n}", comparison.scores, mean, sd, None, None)
    drawn = PlottedDifference(experiment, known(comparison.difference), *ends_of(comparison.interval))
    return EstimationPlot(
        key=f"published-{index}",
        title=f"{metric}: {experiment} and {source}",
        description=f"Score of every run of {experiment} in {metric}: {_recorded_mean(comparison).text}. {source}: "
        f"{_published_mean(comparison).text}. Difference {_change(comparison)}.",
        caption=f"Each point is the score of one run of {experiment}. Of {source}, only the mean and one SD to either "
        "side are drawn. The last column is the difference with its interval; its zero is the published mean. No axis "
        "is forced to start at zero.",
        axis=unit_head(metric, unit),
        difference_axis=f"{unit_head('difference', difference_unit(unit))}{level}",
        groups=(theirs, ours),
        differences=(drawn,),
    )


def _paste(findings: PublishedFindings, comparison: PublishedComparison) -> str:
    """The sentence to paste: both sides, the difference, and how it was obtained."""
    places = _places(comparison)
    name = f"{name_text(comparison.published.metric)} of {name_text(findings.experiment)}"
    change = signed_cell(comparison.difference, places, _difference_unit(comparison)).text
    verdict = f"{comparison.verdict.word}: {comparison.verdict.refusal.reason}"
    published = f"{_source(comparison)} {_published_mean(comparison).text}"
    sides = f"{name} {_recorded_mean(comparison).text}; {published} (mean ± SD, ddof 1)"
    how = " The interval is computed from number, mean and SD." if isinstance(comparison.interval, Interval) else ""
    return f"{sides}; difference {change} {_bracket(comparison, places)}; {verdict}.{how}"


def _footnotes(findings: PublishedFindings) -> Iterator[str]:
    yield f"A verdict needs scores of {VERDICT_RUNS} or more runs on each side: deviate compare theirs.csv NAME."
    yield (
        "Intervals of the difference are Welch's, from number, mean and SD. There is no p and no verdict: one of the "
        "two tests needs every score, and the published result may come from other data, hardware and software."
    )
    yield "SDs have divisor n − 1; a published SE or interval is converted. SD ratio: F interval, normal scores only."
    yield "Their failed runs and the step of their scores are not known; scores of the best step are higher."
    digits = [
        f"{number(comparison.published.last_digit / 2, None)} in {_label(comparison)}"
        for comparison in findings.comparisons
    ]
    yield f"The published mean is rounded, which can shift the difference by up to {', '.join(dict.fromkeys(digits))}."
    if len(findings.comparisons) > 1:
        yield f"Intervals are not adjusted for the {counted(len(findings.comparisons), 'comparison')}."


def _facts(findings: PublishedFindings) -> Iterator[tuple[str, str]]:
    yield "command of the runs", " ".join(redact_words(findings.command))
    for comparison in findings.comparisons:
        yield "published result, as given", comparison.published.text


def _csv(findings: PublishedFindings) -> Iterator[tuple[str | float, ...]]:
    """CSV with a row per quantity of either side and of the difference, and a row per run."""
    yield "metric", "source", "side", "quantity", "value"
    for comparison in findings.comparisons:
        published = comparison.published
        head = (published.metric, published.source)
        low, high = ends_of(comparison.interval)
        rows: tuple[tuple[str, str, float | None], ...] = (
            *(("published", name, known(getattr(published, name))) for name in ("n", "mean", "sd")),
            *((findings.experiment, name, known(getattr(comparison, name))) for name in ("n", "mean", "sd")),
            *((findings.experiment, "score of a run", score) for score in comparison.scores),
            ("difference", "estimate", known(comparison.difference)),
            ("difference", "interval low", low),
            ("difference", "interval high", high),
            ("difference", "hedges g", known(comparison.hedges_g)),
        )
        yield from ((*head, side, quantity, value) for side, quantity, value in rows if value is not None)
