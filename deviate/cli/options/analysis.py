"""How scores are read and compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from deviate.cli.options.groups import flag, option, option_group
from deviate.cli.options.values import number_of, pair
from deviate.errors import InputError
from deviate.model import Direction

if TYPE_CHECKING:  # verbs that take the confidence alone do without
    from deviate.workflows import AnalysisOptions

Metric = Annotated[str | None, option("METRIC", "The primary metric, which decides the verdict.", "--metric")]
Aggregate = Annotated[
    str | None, option("HOW", "How a run's values become its score: last, best, mean, median, min, max or at:K.")
]
Confidence = Annotated[float, option("LEVEL", "Level of the intervals.", min=0.5, max=0.9999)]
Importer = Annotated[
    str | None, option("FORM", "How files are read: csv, json, tensorboard … Default: guessed.", "--format")
]


@option_group
class AnalysisFlags:
    """How scores are read and compared, as options."""

    metric: Metric = None
    aggregate: Aggregate = None
    match: list[str] | None = flag("NAME=NAME", "Compare differently named metrics: BASELINE_NAME=CANDIDATE_NAME.")
    margin: float | None = flag(
        "X", "Smallest difference of the primary metric that matters, in its unit: 0.5, without a sign."
    )
    paired: bool = flag(
        None, "Runs of both sides share their seeds, replicate by replicate: compare pairs.", "--paired", default=False
    )
    spread_ratio: float | None = flag(
        "R", "Say whether the interval of the SD ratio lies within 1/R … R, such as 1.5; no verdict.", min=1
    )
    direction: list[str] | None = flag("METRIC=max|min", "Whether more or less of a metric is better. May be repeated.")
    target: list[str] | None = flag("METRIC=VALUE", "Time how long runs take to reach a value. May be repeated.")
    tasks: str | None = flag("PATTERN", "Metrics that are one measure on several tasks: '*/acc', or a,b,c.")
    groups: list[str] | None = flag(
        "FILE|COLUMN",
        "Sub-groups of the test set: FILE.csv, FILE.csv:COLUMN,…, SET=FILE.csv, or a column that the script logs. May "
        "be repeated.",
    )
    weak_below: str | None = flag("METRIC=VALUE", "Show the spread of a metric also without runs worse than a value.")
    confidence: Confidence = 0.95

    def options(self) -> "AnalysisOptions":
        """Parse the options. Raises InputError for an invalid one."""
        from deviate.workflows import AnalysisOptions

        return AnalysisOptions(
            confidence=self.confidence,
            metric=self.metric,
            aggregate=self.aggregate,
            margin=self.margin,
            matches=dict(pair(text, "--match", "BASELINE_NAME=CANDIDATE_NAME") for text in self.match or ()),
            is_paired=self.paired,
            directions=_directions(self.direction),
            targets=_targets(self.target),
            tasks=self.tasks,
            spread_ratio=self.spread_ratio,
            groups=tuple(self.groups or ()),
            weak_below=_weak_below(self.weak_below),
        )


def _targets(texts: Sequence[str] | None) -> dict[str, float]:
    targets = {}
    for text in texts or ():
        name, value = pair(text, "--target", "METRIC=VALUE")
        targets[name] = number_of(text, value, "--target", "val_acc=0.9")
    return targets


def _directions(texts: Sequence[str] | None) -> dict[str, Direction]:
    directions: dict[str, Direction] = {}
    for text in texts or ():
        name, word = pair(text, "--direction", "METRIC=max")
        if word not in {"max", "min"}:
            raise InputError(f"--direction {text}: {word!r} is neither max nor min", f"write {name}=max or {name}=min")
        directions[name] = "max" if word == "max" else "min"
    return directions


def _weak_below(text: str | None) -> tuple[str, float] | None:
    """A metric, and the value beyond which a run is weak."""
    if text is None:
        return None
    name, value = pair(text, "--weak-below", "METRIC=VALUE")
    return name, number_of(text, value, "--weak-below", f"{name}=0.9")
