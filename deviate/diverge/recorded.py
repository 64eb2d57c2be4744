"""Finds where two recorded runs diverge, as far as their records allow."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from deviate.diverge.calls import Calls
from deviate.diverge.compare import compare_traces, without_idle
from deviate.diverge.engine import findings_of, notes_of
from deviate.diverge.findings import RUNGS, DivergenceFindings
from deviate.diverge.outcomes import Quantities, compare_ends
from deviate.diverge.requests import Pair
from deviate.diverge.source import texts_of
from deviate.diverge.suspects import Evidence, find_causes
from deviate.diverge.traces import Trace, read_traces
from deviate.errors import InputError
from deviate.model.plan import Variant
from deviate.model.records import Experiment, Run
from deviate.project.command import default_python
from deviate.records.experiments import read_variants
from deviate.records.plans import list_experiments
from deviate.replay.variants import STREAMS

SHORTEST_ID = 4
"""Minimum number of digits to name a run by its id."""


def is_of_records(folder: Path, words: Sequence[str]) -> bool:
    """Whether a command line names two recorded runs, as `train:0 train:1`; no program has a name like that.

    Raises:
        InputError: it names one.
    """
    references = [word for word in words if ":" in word and not Path(word).exists()]
    names = {plan.name for plan in list_experiments(folder)}
    if len(words) == 1 and references and words[0].partition(":")[0] in names:
        name = words[0].rpartition(":")[0]
        raise InputError(f"{words[0]} is one run; two are compared", f"name two: {name}:0 {name}:1")
    return len(words) == 2 and len(references) == 2


def compare_recorded(
    folder: Path, words: Sequence[str], *, tolerance: int
) -> tuple[DivergenceFindings, tuple[Run, ...]]:
    """Compare two recorded runs.

    Raises:
        InputError: one of them is not recorded, or both are the same.
        RecordError: a record is damaged.
    """
    (mine, one), (theirs, other) = (find_run(folder, word) for word in words)
    if one.folder == other.folder:
        raise InputError(f"{words[0]} and {words[1]} are the same run", f"name two: {mine.name}:0 {mine.name}:1")
    traces = comparable(read_traces(one.folder), read_traces(other.folder))
    pair = Pair((mine.name, theirs.name), (one, other), without_idle(*traces))
    ends = compare_ends(pair, Quantities.of(mine), tolerance=tolerance)
    rungs = [dataclasses.replace(ends.rungs[0], n_runs=0, wall_time_s=0.0)]
    level = min((trace.level for side in pair.traces for trace in side), default=1) if all(pair.traces) else 1
    if level > 1:
        rungs.append(compare_traces(*pair.traces, RUNGS[level - 1], tolerance_ulps=tolerance))
    findings = findings_of(mine, pair, ends, rungs)
    findings = dataclasses.replace(
        findings,
        name=" and ".join(dict.fromkeys((mine.name, theirs.name))),
        command=mine.command if (mine.command, mine.variant) == (theirs.command, theirs.variant) else (),
        variant=" and ".join(dict.fromkeys((mine.variant, theirs.variant))),
        runs=(words[0], words[1]),
        notes=tuple(_notes(mine, theirs, pair, findings, level)),
        flags=tuple(_flags(mine)),
    )
    if findings.first is not None:
        both = Variant(mine.variant, "", mine.varied, mine.held, tuple(one.controls.items()))
        is_one = (mine.variant, mine.varied, mine.held) == (theirs.variant, theirs.varied, theirs.held)
        evidence = Evidence(
            (one, other),
            findings.runs,
            both if is_one else None,
            n_ranks=findings.ranks,
            calls=Calls(texts_of(one.folder)),
        )
        findings = dataclasses.replace(findings, causes=find_causes(findings.first, evidence))
    return findings, (one, other)


def comparable(first: Sequence[Trace], second: Sequence[Trace]) -> tuple[Sequence[Trace], Sequence[Trace]]:
    """The traces of two runs; empty if one has none or they were traced differently."""
    ways = {(trace.level, trace.first, trace.until) for trace in (*first, *second)}
    return (first, second) if first and second and len(ways) == 1 else ((), ())


def find_run(folder: Path, word: str) -> tuple[Experiment, Run]:
    """The run for `NAME:RUN` or `NAME:VARIANT:RUN`, by replicate number or prefix of the run id.

    Raises:
        InputError: there is none, or several variants have that replicate.
    """
    name, _, text = word.rpartition(":")
    matches = [
        (experiment, run)
        for experiment in read_variants(folder, name)
        for run in experiment.runs
        if (text.isdecimal() and run.replicate == int(text)) or (len(text) >= SHORTEST_ID and run.id.startswith(text))
    ]
    if not matches:
        choices = ", ".join(
            f"{name}:{run.replicate}" for experiment in read_variants(folder, name) for run in experiment.runs
        )
        raise InputError(f"{name} has no run {text!r}", f"recorded runs: {choices or 'none'}")
    if len(matches) > 1:
        choices = ", ".join(f"{name}:{experiment.variant}:{text}" for experiment, _ in matches)
        raise InputError(f"{word} matches runs of {len(matches)} variants", f"name one: {choices}")
    return matches[0]


def _notes(mine: Experiment, theirs: Experiment, pair: Pair, findings: DivergenceFindings, level: int) -> Iterator[str]:
    varied = [stream for stream in dict.fromkeys((*mine.varied, *theirs.varied)) if stream in STREAMS]
    if varied and pair.runs[0].seeds != pair.runs[1].seeds:
        yield f"these runs have different seeds by design: {', '.join(varied)}"
    if mine.sources_hash != theirs.sources_hash:
        yield "the source code differs between the runs"
    elif mine.command != theirs.command:
        yield "the command differs between the runs"
    yield from notes_of(pair, findings, [f"run {run.replicate}" for run in pair.runs])
    if findings.is_equal is not True and level < len(RUNGS):
        recorded = f"level {RUNGS[level - 1]}" if all(pair.traces) else "reported values and weights"
        yield f"these runs recorded {recorded} only"


def _flags(experiment: Experiment) -> Iterator[str]:
    """Flags for `deviate diverge` that make its runs like these."""
    program = experiment.command[0] if experiment.command else ""
    is_here = "--wrap" not in experiment.flags  # the interpreter has a different name in a container
    if is_here and Path(program).name.startswith("python") and program not in {"python", default_python()}:
        yield from ("--python", program)
    yield from experiment.flags
