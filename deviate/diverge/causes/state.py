"""Causes in earlier state: uninitialised memory, files of an earlier run, changed data."""

import functools

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, cause, format_places, hazard_places, here, is_at
from deviate.diverge.causes.operations import ENTRY, is_one_of
from deviate.diverge.findings import Difference, Place

READS = ("uninitialised", "partly uninitialised")


STATE: list[KnownCause] = []
state_cause = functools.partial(cause, STATE, "state")


@state_cause("uninitialised", holds=("kernels",))
def uninitialised(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Memory that nothing had written.

    `torch.empty`, `numpy.empty` and the like hold what was in memory before.

    Signs: the operation read such memory; or initial weights differ first and the source makes them so
    Cure: fill it, or take zeros; while deterministic algorithms are on PyTorch fills it with NaN, which shows where
    Code: torch.zeros(n)  # not torch.empty(n)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.empty.html,
        https://docs.pytorch.org/docs/stable/deterministic.html
    """
    reads = difference.more.get("reads")
    if reads in READS:
        return CauseMatch(
            "likely", f"{difference.name} read memory that nothing had written ({reads})", here(difference)
        )
    places = hazard_places(evidence, "uninitialised")
    if not places or difference.phase not in ("initial", "forward", "data"):
        return None
    is_elsewhere = difference.kind == "operation" and not is_at(difference, places)
    is_first = difference.phase == "initial" and evidence.has_free_kernels and not is_elsewhere
    return CauseMatch(
        "likely" if is_first else "possible",
        f"the source uses memory that it does not fill{format_places(places)}",
        places,
        is_circumstance=True,
    )


@state_cause("leftover-file", phases=("initial", "data", "order", "program", "metric"))
def leftover_file(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A file that an earlier run left.

    The first run writes a checkpoint or a cache to a fixed place, and the second one finds it.

    Signs: a run went on from a checkpoint; or the script writes to an absolute path, and the initial weights, a batch
        or the number of steps differ first
    Cure: write below the working folder, or to DEVIATE_RUN_DIR, which every run has for itself
    Source: side-effects.md
    """
    warnings = [warning for warning in evidence.warnings if "checkpoint" in warning]
    if warnings and difference.phase in ("initial", "program"):
        return CauseMatch("likely", warnings[0])
    effects = [effect for effect in evidence.side_effects if effect.kind == "absolute-path"]
    if not effects:
        return None
    places = tuple(Place(effect.file, effect.line) for effect in effects)
    return CauseMatch(
        "possible", f"the script writes outside of its work copy: {effects[0].what}{format_places(places)}", places
    )


@state_cause("another-way")
def another_way(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """One run went another way through the program.

    A condition was true in one run alone: it depends on time, on the process, on a file, on a variable, or on a number
    that differs without being recorded.

    Signs: an operation or a record is in one run alone
    Cure: look at the condition that leads to the line, and at what it depends on
    Source: traces.md
    """
    if difference.only_in is None or not difference.kind:
        return None
    one, other = evidence.runs if difference.only_in == 1 else evidence.runs[::-1]
    did = f"{one} did {' '.join(dict.fromkeys((difference.kind, difference.name)))}"
    if not difference.instead:
        return CauseMatch("likely", f"{did}, which {other} did not", here(difference))
    instead = difference.instead
    sentence = f"of {other} {instead}" if difference.is_other_gone else f"{other} did {instead}"
    return CauseMatch("likely", f"{did}, where {sentence}", here(difference))


@state_cause("from-outside")
def from_outside(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Numbers that the framework did not compute.

    Lists, NumPy arrays and numbers of Python become tensors there; what made them is not in the trace.

    Signs: the first operation that differs makes or fills a tensor
    Cure: print what goes in, and follow it back: a file, a clock, a generator of the program's own
    Source: traces.md
    """
    if difference.kind != "operation" or difference.only_in is not None or not is_one_of(difference.name, ENTRY):
        return None
    return CauseMatch(
        "possible",
        f"{difference.name} takes in what was computed elsewhere: what differs came from the program, not from PyTorch",
        here(difference),
    )


@state_cause("data", phases=("data",))
def data(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The data themselves.

    A file changed on disk, a download gave another version, or what loads and transforms examples draws numbers or
    depends on time.

    Signs: a batch differs first, and no generator that is recorded did
    Cure: compare a checksum of the files before each run, and what a loader without transforms gives
    Code: sha256sum data/*
    Source: traces.md
    """
    if difference.kind != "batch" or evidence.varies("augment"):
        return None
    return CauseMatch("possible", f"{difference.name} is the first thing that differs, and holds other numbers")
