"""Speed of main loops and profiler results, read from the files of an attempt."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import asdict

from deviate.eventlog import Step, decode
from deviate.model import Run
from deviate.model.cost import KernelTime, Pace, Profile
from deviate.records.events import UNKNOWN_MAIN
from deviate.records.files import read_record
from deviate.records.layout import event_files
from deviate.records.schema import ProfileFile

STEP = '["step", '


def pace_of(attempt: Path, main_loop: int | None) -> Pace | None:
    """Speed of the main loop in the process with the most steps; None for fewer than two steps.

    Args:
        main_loop: id of the loop whose steps count; one of a managed framework counts where it took fewer than two.
    """
    for loop in (main_loop, UNKNOWN_MAIN):
        paces = [pace for path in event_files(attempt) if (pace := _pace(path, loop)) is not None]
        if paces:
            return max(paces, key=lambda pace: pace.n_steps)
    return None


def _pace(path: Path, loop: int | None) -> Pace | None:
    times = list(_beginnings(path, loop))
    if len(times) < 2:
        return None
    return Pace(len(times), (times[-1] - times[0]) / (len(times) - 1))


def _beginnings(path: Path, loop: int | None) -> Iterator[float]:
    """Times in seconds at which steps of the loop began."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for line in file:
            if line.startswith(STEP) and line.endswith("\n"):
                try:
                    step = decode(line)
                except ValueError:
                    continue
                if isinstance(step, Step) and step.loop == loop:
                    yield float(step.seconds)


def profile_of(run: Run) -> Profile | None:
    """The profile of a run, from its first profiled process; None if there is none.

    Raises:
        RecordError: the file is missing or damaged.
    """
    artifact = next((artifact for artifact in run.artifacts if artifact.kind == "profile"), None)
    if artifact is None:
        return None
    fields = asdict(read_record(artifact.path, "profile", ProfileFile))
    kernels = tuple(KernelTime(name, int(n), seconds) for name, n, seconds in fields["kernels"])
    return Profile(**fields | {"replicate": run.replicate, "kernels": kernels})
