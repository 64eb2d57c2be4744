"""Which runs are made: variants, and the number of each."""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from deviate import replay, workflows
from deviate.cli.options.groups import option_group
from deviate.cli.options.values import choice
from deviate.model import Variant
from deviate.workflows import SampleSizeRule

if TYPE_CHECKING:  # with the analysis, which checks of what is on record do without
    from deviate.project import PreparedScript

DEFAULT_RUNS = 5
DEFAULT_VARIANT = "algo+impl"
Runs = Annotated[
    int | None, typer.Option("--runs", "-r", min=1, metavar="N", help="How many runs of each variant. Default: 5.")
]
Variants = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"What varies: {', '.join(replay.VARIANTS)}, a combination as init+shuffle, or one of deviate.toml; "
        "several with commas. Default: algo+impl.",
    ),
]


@option_group
@dataclass(frozen=True, slots=True)
class VariantFlags:
    """Which streams and factors vary between runs."""

    variants: Variants = None
    warn_only: Annotated[
        bool,
        typer.Option("--warn-only", help="Where kernels are held: list operations without a deterministic version."),
    ] = False
    trackers: Annotated[
        str, typer.Option(metavar="offline|as-is", help="Experiment trackers in the runs: offline, or as-is.")
    ] = "offline"

    def choose(self, prepared: "PreparedScript") -> tuple[Variant, ...]:
        """The requested variants, else those of `deviate.toml`, else the default.

        Raises:
            InputError: there is none of that name.
        """
        names = self.variants.split(",") if self.variants else prepared.config.variants or (DEFAULT_VARIANT,)
        variants = replay.choose_variants(names, prepared.variants, is_warning_only=self.warn_only)
        if choice(self.trackers, "--trackers", ("offline", "as-is")) == "as-is":
            return tuple(dataclasses.replace(variant, are_trackers_offline=False) for variant in variants)
        return variants


@option_group
@dataclass(frozen=True, slots=True)
class SampleSizeFlags:
    """Rules by which runs are added."""

    until: Annotated[
        str | None, typer.Option(metavar="TARGET", help='Add runs until an interval is that narrow: "test_acc ±0.5".')
    ] = None
    min_runs: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="With --until: runs of the first look. Default: 5.")
    ] = None
    max_runs: Annotated[int | None, typer.Option(min=2, metavar="N", help="With --until: most runs. Default: 30.")] = (
        None
    )
    looks: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", help='Numbers of runs at which you mean to compare: "5,10,20", or "4" of them.'
        ),
    ] = None

    def declare(self, runs: int | None, confidence: float) -> SampleSizeRule:
        """The rule, as returned by `workflows.declare`."""
        return workflows.declare(
            until=self.until,
            looks=self.looks,
            runs=runs,
            least=self.min_runs,
            most=self.max_runs,
            confidence=confidence,
        )
