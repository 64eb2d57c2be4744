"""Running means as text."""

import math
from collections.abc import Sequence

from deviate.model import Unavailable
from deviate.report import clean, confidence_text, counted, decimals, name, number, with_unit
from deviate.workflows import Mean


def mean_text(mean: Mean) -> str:
    """`test_acc 93.41 ± 0.22 % (half-width of the 95% CI, n = 3)`: the precision so far, and no p."""
    places = None if isinstance(mean.sd, Unavailable) else decimals(mean.sd / math.sqrt(mean.n))
    value = number(mean.mean, places)
    called, unit = name(mean.metric), name(mean.unit)
    if isinstance(mean.half_width, Unavailable):
        reason = mean.half_width.reason if mean.n > 1 else counted(mean.n, "run")
        return f"{called} {with_unit(value, unit)} ({reason})"
    width = number(mean.half_width, places)
    level = confidence_text(mean.confidence)
    return f"{called} {with_unit(f'{value} ± {width}', unit)} (half-width of the {level} CI, n = {mean.n})"


def place_text(mean: Mean, means: Sequence[Mean]) -> str:
    """Experiment and variant of a mean, unless there is only one."""
    experiment = clean(mean.experiment) if len({mean.experiment for mean in means}) > 1 else ""
    variant = clean(mean.variant) if len({mean.variant for mean in means}) > 1 else ""
    return ":".join(filter(None, (experiment, variant)))
