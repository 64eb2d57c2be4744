"""Evidence about two runs besides their first difference."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deviate.diverge.findings import Difference
from deviate.model import ControlEvent, Hazard, Run, SeedEvent, SideEffect, Variant
from deviate.records import ALWAYS_TOLD, VARIABLE

LIBRARIES = frozenset({"random", "numpy", "torch", "tensorflow", "keras", "jax", "sklearn"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about two runs besides their first difference.

    Attributes:
        variant: of both runs; None where they are of two variants, or nobody knows.
        frameworks: that the runs have imported, of LIBRARIES.
        hazards, side_effects: of the static analysis, over all that the script reaches.
        operations: used without a deterministic version, a phrase each with its place, of either run.
        uncontrolled: what was drawn or chosen beyond all control, likewise.
        warnings: of either run.
        seed_events, control_events: of the first run and of the second.
        facts: of the environment, of the first run and of the second: name to value, as in `Run.environment`.
        devices: on which they computed, the first run's and the second's: "cpu", "cuda", "mps", "xpu", "tpu"; empty
            where nobody knows.
        n_ranks: processes that trained together.
        n_steps: complete updates of the first run and of the second; None where nobody knows.
        seeds: that deviate gave to the first run and to the second, stream to seed; empty where it gave none.
        above: first differences that rungs above the lowest one showed.
        runs: what the two are called.
    """

    variant: Variant | None = None
    frameworks: frozenset[str] = frozenset()
    hazards: tuple[Hazard, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    operations: tuple[str, ...] = ()
    uncontrolled: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed_events: tuple[tuple[SeedEvent, ...], tuple[SeedEvent, ...]] = ((), ())
    control_events: tuple[tuple[ControlEvent, ...], tuple[ControlEvent, ...]] = ((), ())
    facts: tuple[Mapping[str, str], Mapping[str, str]] = field(default_factory=lambda: ({}, {}))
    devices: tuple[str, str] = ("", "")
    n_ranks: int = 1
    n_steps: tuple[int, int] | None = None
    seeds: tuple[Mapping[str, int], Mapping[str, int]] = field(default_factory=lambda: ({}, {}))
    above: tuple[Difference, ...] = ()
    runs: tuple[str, str] = ("the first run", "the second run")

    @property
    def is_touched(self) -> bool:
        """Whether deviate sets the seeds."""
        return any(self.seeds) or (self.variant is not None and bool(self.variant.varied or self.variant.held))

    def is_held(self, factor: str) -> bool:
        """Whether deviate holds this stream or factor."""
        return self.variant is not None and factor in self.variant.held

    def varies(self, factor: str) -> bool:
        return self.variant is not None and factor in self.variant.varied

    @property
    def reseeded(self) -> tuple[str, ...]:
        """Streams that no variant varies, but for which the runs got different seeds, or only one got a seed."""
        first, second = self.seeds
        names = dict.fromkeys((*first, *second))
        return tuple(name for name in names if first.get(name) != second.get(name) and not self.varies(name))

    def fact(self, name: str) -> tuple[str, str]:
        """The value of a fact in both runs; empty if one did not report it."""
        first, second = self.facts
        return first.get(name, ""), second.get(name, "")

    def differing(self, *names: str) -> tuple[str, ...]:
        """Facts with these names that differ between the runs; for variables, absence counts as a value."""
        first, second = self.facts
        are_whole = ALWAYS_TOLD in first and ALWAYS_TOLD in second
        return tuple(
            name
            for name in names
            if first.get(name) != second.get(name)
            and ((name in first and name in second) or (are_whole and name.startswith(VARIABLE)))
        )

    @property
    def device(self) -> str:
        """Device of both runs: "cpu", "cuda", …; empty if it is unknown or differs."""
        if any(self.devices):
            return self.devices[0] if self.devices[0] == self.devices[1] else ""
        facts = [fact for fact in self.facts if fact]
        return "cpu" if facts and not any("GPU" in fact for fact in facts) else ""

    @property
    def has_free_kernels(self) -> bool:
        """Whether kernels may be nondeterministic, as far as known: neither run requested otherwise."""
        setting = self.fact("torch deterministic algorithms")
        return setting != ("on", "on") if any(setting) else not self.is_held("kernels")


def gather_evidence(first: Run, second: Run, variant: Variant | None) -> Evidence:
    """Evidence about two recorded runs of one variant. Missing information has its default value."""
    return Evidence(
        variant=variant,
        frameworks=frozenset({*first.draws, *second.draws, *first.environment, *second.environment} & LIBRARIES),
        operations=tuple(dict.fromkeys((*first.operations, *second.operations))),
        uncontrolled=tuple(dict.fromkeys((*first.uncontrolled, *second.uncontrolled))),
        warnings=tuple(dict.fromkeys((*first.warnings, *second.warnings))),
        seed_events=(first.seed_events, second.seed_events),
        control_events=(first.control_events, second.control_events),
        facts=(first.environment, second.environment),
        seeds=(first.seeds, second.seeds),
    )
