"""Causes in earlier state: uninitialised memory, files of an earlier run, changed data."""

import functools

from deviate.diverge.causes import (
    ITSELF,
    CauseMatch,
    Evidence,
    KnownCause,
    cause,
    format_places,
    hazard_places,
    here,
    is_at,
    source_match,
)
from deviate.diverge.causes.observed import has_other_names
from deviate.diverge.causes.operations import ENTRY, is_one_of
from deviate.diverge.findings import Difference, InputDifference, Place

READS = ("uninitialised", "partly uninitialised")


def _has_other_files(item: InputDifference, _: Evidence) -> bool:
    return has_other_names(item)


STATE: list[KnownCause] = []
state_cause = functools.partial(cause, STATE, "state")


@state_cause("uninitialised")
def uninitialised(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Uninitialised memory.

    `torch.empty`, `numpy.empty` and the like contain arbitrary earlier values.

    Signs: the operation read such memory; or initial weights differ first and the source creates them this way
    Cure: fill it, or use zeros; with deterministic algorithms PyTorch fills it with NaN, which shows where it is read
    Code: torch.zeros(n)  # not torch.empty(n)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.empty.html,
        https://docs.pytorch.org/docs/stable/deterministic.html
    """
    reads = difference.more.get("reads")
    if reads in READS:
        why = f"{difference.name} read {reads} memory"
        return CauseMatch("likely", why, here(difference), standing="upstream", position=ITSELF)
    places = hazard_places(evidence, "uninitialised")
    if not places or difference.phase not in ("initial", "forward", "data"):
        return None
    is_elsewhere = difference.kind == "operation" and not is_at(difference, places)
    is_first = difference.phase == "initial" and evidence.has_free_kernels and not is_elsewhere
    return CauseMatch(
        "likely" if is_first else "possible",
        f"the source uses uninitialised memory{format_places(places)}",
        places,
        is_circumstance=True,
    )


@state_cause("leftover-file", phases=("initial", "data", "order", "program", "metric"), sources=("file-state",))
def leftover_file(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A file left by an earlier run.

    The first run writes a checkpoint or a cache to a fixed path, and the second one reads it.

    Signs: a path exists in one run only, or has other properties there, before the first difference; or a run resumed
        a checkpoint; or the script writes to an absolute path, and the initial weights, a batch or the number of steps
        differ first
    Cure: write below the working folder, or to DEVIATE_RUN_DIR, which is separate for each run
    Source: side-effects.md
    """
    warnings = [warning for warning in evidence.warnings if "checkpoint" in warning]
    if warnings and difference.phase in ("initial", "program"):
        return CauseMatch("likely", warnings[0], standing="observed")
    effects = [
        effect
        for effect in evidence.side_effects
        if effect.kind == "absolute-path" and (effect.file, effect.line) not in evidence.idle_lines
    ]
    if not effects:
        return source_match(
            evidence, ("leftover-file",), "the source reads a file that an earlier run may have written"
        )
    places = tuple(Place(effect.file, effect.line) for effect in effects)
    return CauseMatch(
        "possible", f"the script writes outside its working copy: {effects[0].what}{format_places(places)}", places
    )


@state_cause("other-files", sources=("listing",), selects=_has_other_files)
def other_files(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A folder with other files.

    An earlier run, or another program, wrote files into a folder that the script lists.

    Signs: a listing has other names before the first difference
    Cure: list only the files of the data set, by a fixed list or pattern; write results to another folder
    Source: https://docs.python.org/3/library/os.html#os.listdir
    """
    return None


@state_cause("network", sources=("network",))
def network(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Another answer from the network.

    A server may give another version of a file, other results or another order at each request.

    Signs: an answer differs before the first difference
    Cure: download once, store the file with a checksum, and read it from there
    Code: sha256sum data/*
    Source: traces.md
    """
    return None


@state_cause("another-way")
def another_way(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The runs took different paths through the program.

    A condition was true in one run only: it depends on time, on the process, on a file, on a variable, or on a value
    that is not recorded.

    Signs: an operation or a record is in one run only
    Cure: check the condition that leads to this line, and its inputs
    Source: traces.md
    """
    if difference.only_in is None or not difference.kind:
        return None
    one, other = evidence.runs if difference.only_in == 1 else evidence.runs[::-1]
    has = f"{one} has {' '.join(dict.fromkeys((difference.kind, difference.name)))}"
    if not difference.instead:
        return CauseMatch("likely", f"{has}, {other} does not", here(difference))
    instead = difference.instead
    sentence = f"{other}: {instead}" if difference.is_other_gone else f"{other} has {instead} instead"
    return CauseMatch("likely", f"{has}; {sentence}", here(difference))


@state_cause("from-outside")
def from_outside(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Values computed outside the framework.

    Lists, NumPy arrays and Python numbers become tensors there; the trace does not show how they were computed.

    Signs: the first operation that differs creates or fills a tensor
    Cure: print the input, and trace it back to a file, a clock or another generator
    Source: traces.md
    """
    if difference.kind != "operation" or difference.only_in is not None or not is_one_of(difference.name, ENTRY):
        return None
    return CauseMatch(
        "possible",
        f"{difference.name} reads values computed outside PyTorch: the difference comes from the program",
        here(difference),
    )


@state_cause("data", phases=("data",), sources=("file",))
def data(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Different data.

    A file changed on disk, a download returned another version, or loading and transforming examples uses random
    numbers or the time.

    Signs: the contents of a file differ before the first difference; or a batch differs first, and no recorded
        generator did
    Cure: compare checksums of the files before each run, and the output of a loader without transforms
    Code: sha256sum data/*
    Source: traces.md
    """
    if difference.kind != "batch" or evidence.varies("augment"):
        return None
    return CauseMatch("possible", f"batch {difference.name} differs first")
