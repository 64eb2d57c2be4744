"""Shape of scores and cross-checks as text: what stands behind mean, SD and their intervals."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from deviate.model import NOT_APPLICABLE, NOT_ASKED, Description, Interval, Unavailable
from deviate.report.document import Absent, Row, cell
from deviate.report.format import (
    confidence_text,
    counted,
    difference_unit,
    replicates,
)
from deviate.report.numbers import TO, Number, Pieces, ends, factor, share, with_unit
from deviate.report.parts.describe import places_of, unit_of

Descriptions = Sequence[Description]
Figure = TypeVar("Figure")
OUTLIERS = "farther than 3.5 MADs from the median; in 21 % of samples of 5 normal scores one is, of 30 in 9 %"
CROSS_CHECK = "over runs: a cross-check, too narrow with few"


def shape_rows(descriptions: Descriptions) -> tuple[Row, ...]:
    """Rows of one metric with a cell per experiment; what nobody asked for, or does not apply, has no row.

    Below two runs there is none: the reason stands in the table above.
    """
    if all(description.n < 2 for description in descriptions):
        return ()
    shape = "bias-corrected; 0 for normal scores"
    rows = (
        _row("standard error of the mean", "SD / √n", descriptions, lambda description: description.se, _scale),
        _row(
            "quartiles",
            "linear between scores, then their distance",
            descriptions,
            lambda description: description.quartiles,
            _both,
        ),
        _row("MAD", "scaled to the SD of normal scores", descriptions, lambda description: description.mad, _scale),
        _row("skewness", shape, descriptions, lambda description: description.skewness, lambda _, value: factor(value)),
        _row(
            "excess kurtosis",
            shape,
            descriptions,
            lambda description: description.kurtosis,
            lambda _, value: factor(value),
        ),
        _row("outliers", OUTLIERS, descriptions, lambda description: description.mad, _outliers),
        _interval_row("CV", "", descriptions, lambda description: description.cv_interval, _shares),
        _row("CV of the error rate", "SD / (1 − mean)", descriptions, lambda description: description.error_cv, _share),
        _interval_row("mean", CROSS_CHECK, descriptions, lambda description: description.mean_bootstrap, _ends),
        _interval_row("mean", CROSS_CHECK, descriptions, lambda description: description.mean_percentile, _ends),
        _interval_row("SD", CROSS_CHECK, descriptions, lambda description: description.sd_bootstrap, _ends),
        _interval_row("median", CROSS_CHECK, descriptions, lambda description: description.median_bootstrap, _ends),
        _row(
            "error of the test set",
            _binomial(descriptions),
            descriptions,
            lambda description: description.sampling_se,
            _scale,
        ),
    )
    return tuple(row for row in rows if row is not None)


def _row(
    label: str,
    method: str,
    descriptions: Descriptions,
    figure: Callable[[Description], Figure | Unavailable],
    written: Callable[[Description, Figure], Pieces],
) -> Row | None:
    figures = [figure(description) for description in descriptions]
    if all(value in (NOT_ASKED, NOT_APPLICABLE) for value in figures):
        return None
    cells = tuple(
        Absent(one.reason) if isinstance(one, Unavailable) else cell(*written(description, one))
        for description, one in zip(descriptions, figures, strict=True)
    )
    return Row(label, cells, method=method)


def _interval_row(
    label: str,
    remark: str,
    descriptions: Descriptions,
    figure: Callable[[Description], Interval | Unavailable],
    written: Callable[[Description, Interval], Pieces],
) -> Row | None:
    intervals = [interval for interval in map(figure, descriptions) if isinstance(interval, Interval)]
    methods = dict.fromkeys(f"{confidence_text(interval.confidence)}, {interval.method}" for interval in intervals)
    return _row(f"interval of the {label}", " ".join([*methods, remark]).strip(), descriptions, figure, written)


def _scale(description: Description, value: float) -> Pieces:
    """A spread, which of percentages is in points."""
    return with_unit((Number(value, places_of(description)),), difference_unit(unit_of(description.metric)))


def _both(description: Description, quartiles: tuple[float, float]) -> Pieces:
    places = places_of(description)
    first, third = quartiles
    return (*ends(first, third, places), "; ", *_scale(description, third - first))


def _outliers(description: Description, mad: float) -> Pieces:
    if mad <= 0:
        return ("not told: most scores are equal",)
    return (replicates(description.outliers) if description.outliers else "none",)


def _share(_: Description, value: float) -> Pieces:
    return share(value)


def _shares(_: Description, interval: Interval) -> Pieces:
    return (*share(interval.low), TO, *share(interval.high))


def _ends(description: Description, interval: Interval) -> Pieces:
    return ends(interval.low, interval.high, places_of(description))


def _binomial(descriptions: Descriptions) -> str:
    """Of how many examples, and that more runs are no help."""
    n_examples = dict.fromkeys(
        description.n_examples for description in descriptions if description.n_examples is not None
    )
    text = f"√(p (1 − p) / N), {' or '.join(counted(n, 'example') for n in n_examples)}: "
    return f"{text if n_examples else ''}no number of runs reduces it"
