"""Which runs are made: variants, and the number of each."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

from deviate import replay, workflows
from deviate.cli.options.groups import flag, option, option_group
from deviate.cli.options.values import choice
from deviate.model import Variant
from deviate.workflows import SampleSizeRule

if TYPE_CHECKING:  # with the analysis, which checks of what is on record do without
    from deviate.project import PreparedScript

DEFAULT_RUNS = 5
DEFAULT_VARIANT = "algo+impl"
Runs = Annotated[int | None, option("N", "How many runs of each variant. Default: 5.", "--runs", "-r", min=1)]
Variants = Annotated[
    str | None,
    option(
        "NAMES",
        f"What varies: {', '.join(replay.VARIANTS)}, a combination as init+shuffle, or one of deviate.toml; "
        "several with commas. Default: algo+impl.",
    ),
]


@option_group
class VariantFlags:
    """Which streams and factors vary between runs."""

    variants: Variants = None
    warn_only: bool = flag(
        None, "Where kernels are held: list operations without a deterministic version.", "--warn-only", default=False
    )
    trackers: str = flag("offline|as-is", "Experiment trackers in the runs: offline, or as-is.", default="offline")

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
class SampleSizeFlags:
    """Flags that determine the number of runs: a target precision, or declared looks."""

    until: str | None = flag("TARGET", 'Add runs until an interval is that narrow: "test_acc ±0.5".')
    min_runs: int | None = flag("N", "With --until: runs of the first look. Default: 5.", min=2)
    max_runs: int | None = flag("N", "With --until: most runs. Default: 30.", min=2)
    looks: str | None = flag("NUMBERS", 'Numbers of runs at which you mean to compare: "5,10,20", or "4" of them.')

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
