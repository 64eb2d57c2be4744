"""Captured outputs and weights of an experiment as arrays: aligned evaluation sets, and weights by layer."""

from collections.abc import Mapping, Sequence

from deviate.errors import RecordError
from deviate.model import Artifact, Captured, CapturedSet, Experiment, NotCaptured, Run
from deviate.stability.captures.sets import Frame, build, runs_text
from deviate.stability.captures.stored import Stored, combine_shards
from deviate.stability.captures.weights import weights_at

ALL_BYTES = 1 << 32
"""What the last evaluations of all sets may take in memory; of those beyond it the predicted classes alone are read."""
STEP_BYTES = 1 << 30
"""What the sets of all steps may take in memory; of more steps some are left out, evenly."""


Moments = dict[int | None, dict[int, list[Artifact]]]
"""Of one set: files by moment (a step of the main loop, None for the last evaluation) and replicate."""


def captured_of(experiment: Experiment) -> Captured:
    """Outputs and weights that the completed runs of an experiment captured, as arrays; empty if there are none.

    Damaged or missing files, and sets that cannot be aligned, are reported as reasons; they do not raise.
    """
    runs = [run for run in experiment.runs if run.status == "completed"]
    reasons: list[str] = []
    sets: list[CapturedSet] = []
    by_step: list[CapturedSet] = []
    for name, moments in _sets_of(runs, reasons).items():
        final = _drop_earlier_files(name, moments[None], runs)
        if not final:
            reasons.append(f"Set {name} is left out: its last evaluation found no room, and what is kept is earlier.")
            continue
        last = _open_files(final, reasons)
        if not last:
            continue
        remaining_bytes = ALL_BYTES - sum(one.outputs.nbytes for one in sets if one.outputs is not None)
        try:
            frame = build(name, None, last, n_runs=len(runs), reference=None, max_bytes=remaining_bytes)
        except RecordError as error:
            reasons.append(f"Set {name} is left out: {error.message}.")
            continue
        sets.append(frame.captured_set)
        by_step += _steps(name, moments, frame, reasons)
    weights, weight_steps = weights_at(runs, reasons)
    reasons += _list_refusals(experiment.runs)
    return Captured(tuple(sets), tuple(by_step), weights, weight_steps, tuple(dict.fromkeys(reasons)))


def _drop_earlier_files(
    name: str, files: Mapping[int, list[Artifact]], runs: Sequence[Run]
) -> dict[int, list[Artifact]]:
    """Files of the last evaluation, except of runs that ran out of space: their files are from an earlier one."""
    full = {
        run.replicate
        for run in runs
        if any((failure.kind, failure.name) == ("predictions", name) for failure in run.not_captured)
    }
    return {replicate: shards for replicate, shards in files.items() if replicate not in full}


def _list_refusals(runs: Sequence[Run]) -> list[str]:
    """Sentences on what the guest could not capture, with the affected runs."""
    replicates_by_failure: dict[NotCaptured, list[int]] = {}
    for run in runs:
        for failure in run.not_captured:
            replicates_by_failure.setdefault(failure, []).append(run.replicate)
    return [
        f"Not captured in {runs_text(replicates)}: {failure}." for failure, replicates in replicates_by_failure.items()
    ]


def _sets_of(runs: Sequence[Run], reasons: list[str]) -> dict[str, Moments]:
    """Evaluation sets by name, with the files that exist, in the order of the first run that has them."""
    sets: dict[str, Moments] = {}
    with_missing_files: set[int] = set()
    for run in runs:
        for name, moments in _moments(run).items():
            for step, shards in moments.items():
                if all(shard.path.is_file() for shard in shards):
                    sets.setdefault(name, {}).setdefault(step, {})[run.replicate] = shards
                else:
                    with_missing_files.add(run.replicate)
    if with_missing_files:
        reasons.append(
            f"Files with captured outputs of {runs_text(sorted(with_missing_files))} are not there any more."
        )
    return {name: moments for name, moments in sets.items() if None in moments}


def _open_files(files: Mapping[int, list[Artifact]], reasons: list[str]) -> dict[int, Stored]:
    """The readable files of one point in time."""
    opened = {}
    for replicate, shards in files.items():
        try:
            opened[replicate] = combine_shards(shards)
        except RecordError as error:
            reasons.append(f"Run {replicate}: {error.message}.")
    return opened


def _moments(run: Run) -> dict[str, dict[int | None, list[Artifact]]]:
    """Files of a run by set and step; the last files of its first rank are also listed under None."""
    files: dict[str, dict[int | None, list[Artifact]]] = {}
    last: dict[str, int | None] = {}
    first: dict[str, int] = {}
    for artifact in run.artifacts:
        if artifact.kind == "predictions":
            files.setdefault(artifact.name, {}).setdefault(artifact.step, []).append(artifact)
            if (artifact.rank or 0) <= first.setdefault(artifact.name, artifact.rank or 0):
                first[artifact.name], last[artifact.name] = artifact.rank or 0, artifact.step
    return {
        name: {
            **{step: _shards(artifacts) for step, artifacts in by_step.items() if step is not None},
            None: _shards(by_step[last[name]]),
        }
        for name, by_step in files.items()
    }


def _shards(files: Sequence[Artifact]) -> list[Artifact]:
    """The last file of a set, together with the files of other ranks from the same point in time."""
    last = files[-1]
    if last.rank is None:
        return [last]
    by_rank = {
        artifact.rank: artifact
        for artifact in files
        if artifact.rank is not None and artifact.path.parent == last.path.parent
    }
    return [by_rank[rank] for rank in sorted(by_rank)]


def _steps(name: str, moments: Moments, frame: Frame, reasons: list[str]) -> list[CapturedSet]:
    """The set at each step that all runs captured, with examples in the order of the last evaluation."""
    replicates = frame.captured_set.replicates
    all_steps = [step for step in moments if step is not None]
    steps = sorted(step for step in all_steps if all(replicate in moments[step] for replicate in replicates))
    n_most_steps = max(sum(replicate in moments[step] for step in all_steps) for replicate in replicates)
    if len(steps) < len(all_steps) and n_most_steps > 1:  # with one each, runs of other lengths have but their last one
        reasons.append(
            f"Set {name}: {len(all_steps) - len(steps)} of {len(all_steps)} steps are not in all runs, and left out."
        )
    if len(steps) == 1 and all(moments[steps[0]][replicate] == moments[None][replicate] for replicate in replicates):
        return []  # nothing but the last evaluation itself
    most = max(2, STEP_BYTES // max(1, frame.n_bytes))
    if len(steps) > most:
        chosen = sorted({round(index * (len(steps) - 1) / (most - 1)) for index in range(most)})
        reasons.append(f"Set {name}: of {len(steps)} steps {len(chosen)} are read, evenly spaced, to save memory.")
        steps = [steps[index] for index in chosen]
    sets = []
    for step in steps:
        files = _open_files({replicate: moments[step][replicate] for replicate in replicates}, reasons)
        if len(files) < len(replicates):
            continue
        try:
            sets.append(build(name, step, files, n_runs=len(replicates), reference=frame).captured_set)
        except RecordError as error:
            reasons.append(f"Set {name} at step {step} is left out: {error.message}.")
    return sets
