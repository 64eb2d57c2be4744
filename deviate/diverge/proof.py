"""Proves why two runs differ: runs with the values of the first run for fewer and fewer sources, until no fewer do.

A source of chance that the host draws is given: run 1 is repeated with what run 0 had, and is compared with run 0. What
cannot be given, as the order in which threads end, is held in two more runs, which are compared with each other.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deviate.diverge.calls import Calls
from deviate.diverge.chance import Chance, chance_of, give_chance, is_drawn
from deviate.diverge.findings import COMPUTED, Confirmation, Difference, DivergenceFindings, InputDifference, Phase
from deviate.diverge.holds import HOLDS
from deviate.diverge.levels import MOST_EQUAL
from deviate.diverge.outcomes import Quantities, compare_ends, window_beyond
from deviate.diverge.requests import DivergeRequest, Execute, Pair, ending, run_pair
from deviate.diverge.suspects import KERNELS_OF, has_other_names, observed_by
from deviate.model.analysis import Hazard
from deviate.replay.variants import ENTROPY, HASH, Levels, with_levels
from deviate.report.format import counted
from deviate.sources.catalogue import SOURCES
from deviate.sources.seeds import SEEDING

KERNELS, THREADS = "kernels", "threads"
LEVELS: dict[str, Levels] = {
    KERNELS: (("kernels", "deterministic"), ("on-missing", "warn"), ("autotune", "off"), ("precision", "full")),
    **{name: ((name, level),) for name, level in HOLDS.items() if name not in {HASH, ENTROPY}},
}
"""What cannot be given and is held, and at which levels of factors."""
OF_SOURCE = ("listing", "workers", THREADS)
"""What is held where only the source shows a place that it holds."""
BY_ROUNDING = frozenset({KERNELS, THREADS})
"""Sources of which a closer level shows the operation."""
BY_CHANCE = frozenset({KERNELS, THREADS, "workers"})
"""What may be equal in two runs by chance, so that the runs are repeated."""
LEAST_S, SLOWER = 60.0, 10.0
"""Time limit of a run: with one worker or one thread it takes longer, and work that waits for other work never ends."""
FEWEST_STEPS = 2
"""Updates beyond the first difference up to which two runs have to be equal."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What was proved.

    Attributes:
        sources: that together make the runs differ, the smallest set that was found; empty if none was.
        tests: what was run, in order.
        chance: what the runs recorded of chance, that of the first run first.
        is_chance_in_vain: whether run 1 with all that run 0 had by chance still differed from it.
        is_cut: whether the budget ended before all sources were told apart.
        is_suspected: whether it ended before the runs that tell the sources from chance.
    """

    sources: tuple[str, ...]
    tests: tuple[Confirmation, ...]
    chance: tuple[Chance, ...]
    is_chance_in_vain: bool = False
    is_cut: bool = False
    is_suspected: bool = False


@dataclass
class Prover:
    """Tests sets of sources.

    Attributes:
        calls: of the source. pair: the two runs that differ. first: their first difference in what they reported.
        phase: that of the first difference on the most detailed level so far.
        budget: the most runs that may be made.
        known: whether runs with the same of these sources are equal.
        is_parallel: whether the source shows work in any order, which may be equal in two runs by chance.
        is_cut, is_suspected: as in `Proof`.
    """

    request: DivergeRequest
    calls: Calls
    pair: Pair
    first: Difference | None
    phase: Phase
    execute: Execute
    quantities: Quantities
    say: Callable[[str], object]
    budget: int
    chance: list[Chance] = field(default_factory=list)
    tests: list[Confirmation] = field(default_factory=list)
    known: dict[frozenset[str], bool] = field(default_factory=dict)
    n_runs: int = 0
    is_parallel: bool = False
    is_cut: bool = False
    is_suspected: bool = False

    def prove(self, inputs: Sequence[InputDifference], hazards: Sequence[Hazard]) -> Proof:
        """Find the smallest set of sources that makes the runs equal.

        Args:
            inputs: those that differ. hazards: of the source.
        """
        self.chance = [chance_of(run) for run in self.pair.runs]
        is_on_gpu = bool(self.pair.runs[0].environment.get("GPU"))
        named = {SOURCES[hazard.name].held for hazard in hazards if is_on_gpu or not hazard.device}
        self.is_parallel = "workers" in named
        suspects = _suspects(inputs, hazards)
        given = self._given(suspects, named)
        likely = [name for name in suspects if name in LEVELS]
        others = [name for name in OF_SOURCE if name in named]
        if any(hazard.name == "uninitialised" for hazard in hazards):
            others.append(KERNELS)
        if self.phase in COMPUTED:
            others += [KERNELS] * bool(KERNELS_OF.keys() & self.pair.runs[0].environment.keys()) + [THREADS]
        others += [name for name in _suspects(inputs, hazards, doubted=True) if name in LEVELS]
        others = [name for name in dict.fromkeys(others) if name not in likely]
        found: list[str] = []
        seen = [source for source in given if source in suspects]
        entered = [likely, seen, given if given != seen else []]
        computed = [[name] for name in others]
        # From equal numbers, as far as was compared; numbers of the system are likelier to matter where some entered.
        is_computed = self.phase in COMPUTED and self.phase != "metric" and {*given} <= {HASH}
        sets = [*computed, *entered] if is_computed else [*entered, *computed]
        for sources in (*sets, [*likely, *given, *others]):
            if sources and (found := self._reduce(sources)):
                break
        in_vain = bool(given) and not found and frozenset(given) in self.known
        is_suspected = bool(found) and self.is_suspected
        return Proof(tuple(found), tuple(self.tests), tuple(self.chance), in_vain, self.is_cut, is_suspected)

    def prove_draws(self) -> Proof:
        """Find the generators without a seed that make the runs differ, and no other numbers of the system."""
        self.chance = [chance_of(run) for run in self.pair.runs]
        generators = [
            source
            for source in self._given((), set())
            if source in SEEDING or (":" in source and self.calls.makes_generator(*_line_of(source)))
        ]
        sources = self._reduce(generators) if generators else []
        is_sure = not self.is_suspected  # else the numbers may be equal by chance, and stay a note
        return Proof(tuple(sources) if is_sure else (), tuple(self.tests), tuple(self.chance), is_cut=self.is_cut)

    def _given(self, suspects: Sequence[str], named: set[str]) -> list[str]:
        """Sources that can be given, the likeliest first."""
        variant = self.request.variant
        places = [place for place in self._places if place not in self._beside]
        places = places if is_drawn(variant, ENTROPY) else []
        hashes = [HASH] if is_drawn(variant, HASH) else []
        is_likely = HASH in suspects or HASH in named
        every = [*hashes, *places] if is_likely else [*places, *hashes]
        return sorted(every, key=lambda source: source not in suspects)

    @property
    def _places(self) -> list[str]:
        return list(dict.fromkeys(place for chance in self.chance for place in chance.places))

    @functools.cached_property
    def _beside(self) -> frozenset[str]:
        """What draws numbers that it does not use, which are the same in every test.

        These are packages while they are imported, and generators of NumPy that are made with a seed: first they are
        made without one.
        """
        unused = {place for place in self._places if ":" not in place and place not in SEEDING}
        unused |= {place for place in self._places if ":" in place and self.calls.is_seeded(*_line_of(place))}
        return frozenset(unused)

    def _reduce(self, sources: Sequence[str]) -> list[str]:
        """The smallest part of these sources that makes the runs equal; empty if all of them do not."""
        if not self._makes_equal(sources):
            return []
        kept = list(sources)
        while len(kept) > 1:
            middle = (len(kept) + 1) // 2
            part = next((part for part in (kept[:middle], kept[middle:]) if self._makes_equal(part)), None)
            if part is None:
                kept = self._without_idle(kept)
                break
            kept = list(part)
        # Noise of computations comes and goes, and a run may be equal without anything given to it.
        if self.phase in COMPUTED and LEVELS.keys().isdisjoint(kept):
            if not self._can_run(1):
                self.is_suspected = True
            elif self._makes_equal(()):
                return []
        return kept

    def _can_run(self, n_runs: int) -> bool:
        return self.n_runs + n_runs <= self.budget

    def _without_idle(self, sources: Sequence[str]) -> list[str]:
        """Sources of which neither half is enough, without those that are not needed."""
        kept = list(sources)
        for source in reversed(sources) if len(sources) > 2 else ():  # the least likely first
            rest = [other for other in kept if other != source]
            kept = rest if self._makes_equal(rest) else kept
        return kept

    def _makes_equal(self, sources: Sequence[str]) -> bool:
        key = frozenset(sources)
        if key not in self.known:
            self.known[key] = self._try(sources)
        return self.known[key]

    def _try(self, sources: Sequence[str]) -> bool:
        held = [source for source in sources if source in LEVELS]
        n_runs = 1 if not held else 2
        if not self._can_run(n_runs):
            self.is_cut = True
            return False
        is_equal = self._judge(self._test(sources, held), sources)
        if is_equal and (self.is_parallel or not BY_CHANCE.isdisjoint(sources)):
            if self._can_run(n_runs):
                return self._judge(self._test(sources, held), sources)
            self.is_suspected = True
        return is_equal

    def _test(self, sources: Sequence[str], held: Sequence[str]) -> Pair:
        request = self.request
        watched = [name for name in SEEDING if any(name in chance.places for chance in self.chance)]
        variant = give_chance(
            request.variant,
            request.request.seed,
            [*(source for source in sources if source not in held), *self._beside],
            watched=watched,
            is_pair=bool(held),
        )
        for name in held:
            variant = with_levels(variant, LEVELS[name])
        self.n_runs += 2 if held else 1
        beside = None if held else self.pair.runs[0]
        suffix = ".proof" + (f"-{len(self.tests) + 1}" if self.tests else "")
        repeated = () if held else (("DEVIATE_REPLICATE", "1"),)  # for scripts that ask which run they are
        pair = run_pair(
            request,
            suffix,
            self.execute,
            1,
            window_beyond(self.first, self.pair, MOST_EQUAL if held else FEWEST_STEPS),
            variant=variant,
            environment=repeated,
            timeout_s=LEAST_S + SLOWER * max(run.wall_time_s for run in self.pair.runs),
            beside=beside,
        )
        self.chance += [chance_of(run) for run in pair.runs if run is not beside]
        return pair

    def _judge(self, pair: Pair, sources: Sequence[str]) -> bool:
        is_ended = any(trace.until is not None for trace in pair.traces[1]) and pair.runs[0] is self.pair.runs[0]
        ends = compare_ends(pair, self.quantities, tolerance=self.request.tolerance, is_second_ended=is_ended)
        is_equal = bool(ends.is_equal) or self._is_beyond(ends)
        text = self._text(pair, ends, is_equal=is_equal)
        label = describe(sources)
        self.say(f"         {label}: {text}")
        self.tests.append(Confirmation(label, is_equal, ends.n_steps, text))
        return is_equal

    def _is_beyond(self, ends: DivergenceFindings) -> bool:
        """Whether the runs are equal up to the first difference of the pair and a little beyond."""
        later, first = ends.first, self.first
        if later is None or first is None or ends.is_equal is None:
            return False
        is_metric = first.kind == "metric" or None in (first.step, later.step)
        places = [one.main_step if is_metric else one.step for one in (first, later)]
        return places[0] is not None and places[1] is not None and places[1] >= places[0] + FEWEST_STEPS

    def _text(self, pair: Pair, ends: DivergenceFindings, *, is_equal: bool) -> str:
        if pair.failed:
            return f"run {pair.failed[0].replicate} {ending(pair.failed[0])}"
        if ends.is_equal:
            over = counted(ends.n_steps, ends.unit) if ends.n_steps else counted(ends.n_values, "value")
            return f"equal over {over}: {ends.what}"
        difference = ends.first
        if difference is None:
            return "nothing could be compared"
        if is_equal:
            return f"equal over {counted(pair.n_steps, ends.unit)}, beyond the first difference"
        at = "" if difference.main_step is None else f" at main-loop step {difference.main_step}"
        return f"{difference.name} still differs{at}"


def _line_of(place: str) -> tuple[str, int]:
    """File and line of a place in the project."""
    file, _, line = place.rpartition(":")
    return file, int(line)


TEXTS = {
    HASH: "the same hash seed",
    KERNELS: "deterministic kernels",
    THREADS: "one thread",
    "workers": "one worker",
    "listing": "sorted listings",
    "clock": "a fixed clock",
    **{library: f"the same generator of {library}" for library in SEEDING},
}


def describe(sources: Sequence[str]) -> str:
    """What both runs of a test have.

    >>> describe(["hash", "train.py:7"])
    'with the same hash seed and the same numbers at train.py:7'
    """
    if not sources:
        return "with nothing the same"
    names = [TEXTS.get(source, f"the same numbers at {source}") for source in sources]
    shown = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    return f"with {' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}"


def _suspects(inputs: Sequence[InputDifference], hazards: Sequence[Hazard], *, doubted: bool = False) -> list[str]:
    """What holds or gives the inputs that may have made the runs differ, in the order in which they entered.

    Args:
        doubted: clocks and the like that no hazard shows to matter, such as times that are printed.
    """
    lines = {(hazard.file, hazard.line) for hazard in hazards}
    found: dict[str, None] = {}
    for item in inputs:
        held = observed_by(item.source).held
        is_doubted = not item.is_suspect and (item.place.file, item.place.line) not in lines
        if not item.is_upstream or has_other_names(item):
            continue
        if held in {HASH, ENTROPY}:
            found[HASH if held == HASH else f"{item.place.file}:{item.place.line}"] = None
        elif held and is_doubted is doubted:
            found[held] = None
    return list(found)
