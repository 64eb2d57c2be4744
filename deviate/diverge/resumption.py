"""Starts of later pairs of runs from checkpoints of the first pair, as long as those pairs show the difference."""

from deviate.diverge.checkpoints import MOST_KEPT, KeptCheckpoints, Start, can_resume, compare_checkpoints
from deviate.diverge.findings import CheckpointRange, Difference
from deviate.diverge.levels import Window
from deviate.diverge.requests import DivergeRequest, Pair, ending
from deviate.report.format import counted

GB = 1_000_000_000


class Resumption:
    """The checkpoints of the first pair, and what later pairs begin with.

    Attributes:
        bracket: which checkpoints are equal, and the first different one.
        notes: limits of the answer, a sentence each.
    """

    def __init__(self, first: Pair, request: DivergeRequest) -> None:
        self.request = request
        self.bracket = compare_checkpoints(*first.traces)
        experiment = first.snapshots[0].folder.parent
        self.kept = KeptCheckpoints(first.runs[0].folder, [first.runs[1].folder], experiment)
        self.notes = list(_limits(first, self.kept.steps))
        self.is_possible = bool(self.kept.steps) and (
            bool(request.resume_words) or can_resume(first.snapshots[0].folder / "tree")
        )
        self.starts: dict[int, Start] = {}

    def start_for(self, window: Window) -> Start | None:
        """The last equal checkpoint before a window; None to begin at update 0."""
        steps = set(self.kept.steps)
        chosen = [one for one in self.bracket.equal if 0 < one.step <= window.first and one.step in steps]
        if not self.is_possible or not chosen:
            return None
        checkpoint = chosen[-1]
        if checkpoint.step not in self.starts:
            target = self.request.sides[0].prepared.target
            self.starts[checkpoint.step] = self.kept.start_from(
                checkpoint, cwd=target.cwd, template=self.request.resume_words
            )
        return self.starts[checkpoint.step]

    def refuse(self, pair: Pair, start: Start, difference: Difference | None, *, is_inside: bool) -> str:
        """Why a pair that began at a checkpoint does not count, so that later ones begin at update 0; else empty."""
        has_read = all(any(trace.resumed for trace in side) for side in pair.traces)
        if pair.failed and not is_inside:
            why = f"a run from checkpoint {start.file} {ending(pair.failed[0])}"
        elif not has_read:
            why = f"the script did not read checkpoint {start.file} (--resume-with names the argument)"
        elif difference is None:
            why = f"runs from checkpoint {start.file} are equal"
        elif difference.kind == "weights" and difference.step == start.step:
            why = f"runs from checkpoint {start.file} begin with different weights"
        else:
            return ""
        self.is_possible = False
        self.notes.append(f"{why}: levels begin at update 0")
        return why

    def range_around(self, step: int | None) -> CheckpointRange | None:
        """The checkpoints between which the weights came to differ; None without checkpoints.

        Args:
            step: the update of the first difference; None if unknown.
        """
        equal, different = self.bracket.last_equal(step), self.bracket.different
        return CheckpointRange(equal, different) if equal is not None or different is not None else None

    def remove(self) -> None:
        """Remove the kept files."""
        self.kept.remove()


def _limits(first: Pair, kept: tuple[int, ...]) -> list[str]:
    """A note where checkpoints could not be kept."""
    files = [checkpoint for trace in first.traces[0] for checkpoint in trace.checkpoints]
    n_written, n_kept = len({checkpoint.step for checkpoint in files}), len(kept)
    if n_kept >= n_written:
        return []
    outside = [checkpoint.file for checkpoint in files if checkpoint.file.startswith("/")]
    why = f"{outside[0]} lies outside the project" if outside else f"the limit is {MOST_KEPT // GB} GB"
    return [f"{n_kept:,} of {counted(n_written, 'checkpoint')} were kept for further levels: {why}"]
