"""Shape of scores and cross-checks as text: supplements to mean, SD and their intervals."""

from collections.abc import Callable, Sequence
from typing import Any

from deviate.model import NOT_APPLICABLE, NOT_ASKED, Description, Interval, Unavailable
from deviate.report.document import Absent, Row, cell
from deviate.report.format import confidence_text, counted, difference_unit, replicates
from deviate.report.numbers import TO, Number, Pieces, ends, factor, share, with_unit
from deviate.report.parts.describe import places_of, unit_of

OUTLIERS = "farther than 3.5 MADs from the median; in 21 % of samples of 5 normal scores one is, of 30 in 9 %"
CROSS_CHECK = "over runs: a cross-check, too narrow with few"
SHAPE = "bias-corrected; 0 for normal scores"
Quantity = tuple[str, str, str, Callable[[Description, Any], Pieces]]
"""Label and method of a row, the field of a description that it shows, and how that is written."""


def shape_rows(descriptions: Sequence[Description]) -> tuple[Row, ...]:
    """Rows of one metric with a cell per experiment; rows that were not requested or do not apply are left out.

    With fewer than two runs there is no row; the table above states the reason.
    """
    if all(description.n < 2 for description in descriptions):
        return ()
    rows = [_row(quantity, descriptions) for quantity in (*_QUANTITIES, _test_set(descriptions))]
    return tuple(row for row in rows if row is not None)


def _row(quantity: Quantity, descriptions: Sequence[Description]) -> Row | None:
    """A row; the confidence level and the method of the interval are stated first."""
    label, method, field, written = quantity
    figures = [getattr(description, field) for description in descriptions]
    if all(figure in (NOT_ASKED, NOT_APPLICABLE) for figure in figures):
        return None
    intervals = [figure for figure in figures if isinstance(figure, Interval)]
    methods = dict.fromkeys(f"{confidence_text(interval.confidence)}, {interval.method}" for interval in intervals)
    cells = tuple(
        Absent(figure.reason) if isinstance(figure, Unavailable) else cell(*written(description, figure))
        for description, figure in zip(descriptions, figures, strict=True)
    )
    return Row(label, cells, method=" ".join([*methods, method]).strip())


def _scale(description: Description, value: float) -> Pieces:
    """A measure of spread, which is in points if the metric is a percentage."""
    return with_unit((Number(value, places_of(description)),), difference_unit(unit_of(description.metric)))


def _both(description: Description, quartiles: tuple[float, float]) -> Pieces:
    places = places_of(description)
    first, third = quartiles
    return (*ends(first, third, places), "; ", *_scale(description, third - first))


def _outliers(description: Description, mad: float) -> Pieces:
    if mad <= 0:
        return ("not told: most scores are equal",)
    return (replicates(description.outliers) if description.outliers else "none",)


def _factor(_: Description, value: float) -> Pieces:
    return factor(value)


def _share(_: Description, value: float) -> Pieces:
    return share(value)


def _shares(_: Description, interval: Interval) -> Pieces:
    return (*share(interval.low), TO, *share(interval.high))


def _ends(description: Description, interval: Interval) -> Pieces:
    return ends(interval.low, interval.high, places_of(description))


def _test_set(descriptions: Sequence[Description]) -> Quantity:
    """Number of examples in the test set, and that more runs do not reduce this error."""
    n_examples = dict.fromkeys(
        description.n_examples for description in descriptions if description.n_examples is not None
    )
    text = f"√(p (1 − p) / N), {' or '.join(counted(n, 'example') for n in n_examples)}: "
    method = f"{text if n_examples else ''}no number of runs reduces it"
    return "error of the test set", method, "sampling_se", _scale


_QUANTITIES: tuple[Quantity, ...] = (
    ("standard error of the mean", "SD / √n", "se", _scale),
    ("quartiles", "linear between scores, then their distance", "quartiles", _both),
    ("MAD", "scaled to the SD of normal scores", "mad", _scale),
    ("skewness", SHAPE, "skewness", _factor),
    ("excess kurtosis", SHAPE, "kurtosis", _factor),
    ("outliers", OUTLIERS, "mad", _outliers),
    ("interval of the CV", "", "cv_interval", _shares),
    ("CV of the error rate", "SD / (1 − mean)", "error_cv", _share),
    ("interval of the mean", CROSS_CHECK, "mean_bootstrap", _ends),
    ("interval of the mean", CROSS_CHECK, "mean_percentile", _ends),
    ("interval of the SD", CROSS_CHECK, "sd_bootstrap", _ends),
    ("interval of the median", CROSS_CHECK, "median_bootstrap", _ends),
)
