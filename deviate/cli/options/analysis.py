"""How scores are read and compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from deviate.cli.options.groups import option_group
from deviate.cli.options.values import number_of, pair
from deviate.errors import InputError
from deviate.model import Direction

if TYPE_CHECKING:  # verbs that take the confidence alone do without
    from deviate.workflows import AnalysisOptions

Metric = Annotated[
    str | None, typer.Option("--metric", metavar="METRIC", help="The primary metric, which decides the verdict.")
]
Aggregate = Annotated[
    str | None,
    typer.Option(
        metavar="HOW", help="How a run's values become its score: last, best, mean, median, min, max or at:K."
    ),
]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.9999, metavar="LEVEL", help="Level of the intervals.")]
Importer = Annotated[
    str | None,
    typer.Option("--format", metavar="FORM", help="How files are read: csv, json, tensorboard … Default: guessed."),
]


@option_group
@dataclass(frozen=True, slots=True)
class AnalysisFlags:
    """How scores are read and compared, as options."""

    metric: Metric = None
    aggregate: Aggregate = None
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NAME", help="Compare differently named metrics: BASELINE_NAME=CANDIDATE_NAME."),
    ] = None
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Smallest difference of the primary metric that matters, in its unit: 0.5, without a sign.",
        ),
    ] = None
    paired: Annotated[
        bool,
        typer.Option("--paired", help="Runs of both sides share their seeds, replicate by replicate: compare pairs."),
    ] = False
    spread_ratio: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="R",
            help="Say whether the interval of the SD ratio lies within 1/R … R, such as 1.5; no verdict.",
        ),
    ] = None
    direction: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=max|min", help="Whether more or less of a metric is better. May be repeated."),
    ] = None
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=VALUE", help="Time how long runs take to reach a value. May be repeated."),
    ] = None
    tasks: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Metrics that are one measure on several tasks: '*/acc', or a,b,c."),
    ] = None
    groups: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|COLUMN",
            help="Sub-groups of the test set: FILE.csv, FILE.csv:COLUMN,…, SET=FILE.csv, or a column that the script "
            "logs. May be repeated.",
        ),
    ] = None
    weak_below: Annotated[
        str | None,
        typer.Option(metavar="METRIC=VALUE", help="Show the spread of a metric also without runs worse than a value."),
    ] = None
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
