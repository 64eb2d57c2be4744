"""Whether many predictions are captured without a large cost in time and memory of the device."""

import re

from deviate.model.records import Experiment, Run
from deviate.stability.captures.collect import captured_of
from scripts.accelerator.bench import Bench, failures_of
from scripts.accelerator.results import Result

MOST_MORE_MIB = 64
"""Memory of the device that capturing may take beyond that of the script."""


def check_capture(bench: Bench) -> Result:
    n_examples = bench.amount(50_000, 5_000)
    experiments: dict[str, Experiment] = {}
    for name, words in (("plain", ()), ("captured", ("--capture", "predictions"))):
        project = bench.project("predictions", name)
        counted = ("--runs", str(bench.amount(2, 1)), "-j", "1", "--variants", "impl")
        arguments = ("--examples", str(n_examples))
        bench.deviate(project, "run", "-q", "--name", "check", *counted, *words, arguments=arguments)
        (experiments[name],) = bench.experiments(project)
        if failed := failures_of(experiments[name].runs, name):
            return bench.conclude([], failed)
    runs = {name: experiment.runs[-1] for name, experiment in experiments.items()}
    arrays = captured_of(experiments["captured"])
    shapes = [each.outputs.shape for each in arrays.sets if each.outputs is not None]
    size_mb = sum(path.stat().st_size for path in runs["captured"].folder.rglob("*.npz")) / 1e6
    peaks = {name: _peak(run) for name, run in runs.items()}
    figures = [
        f"captured: {', '.join(' x '.join(map(str, shape)) for shape in shapes)} (runs, examples, classes)",
        f"{size_mb:.1f} MB per run",
        f"wall time {runs['plain'].wall_time_s:.1f} s without, {runs['captured'].wall_time_s:.1f} s with",
    ]
    if not bench.is_rehearsal:
        figures.append(f"peak memory of the device {peaks['plain']:.0f} MiB without, {peaks['captured']:.0f} MiB with")
    faults = [str(each) for each in runs["captured"].not_captured]
    if (bench.amount(2, 1), n_examples, 10) not in shapes:
        faults.append(f"the predictions of {n_examples} examples in 10 classes were not captured")
    if peaks["captured"] > peaks["plain"] + MOST_MORE_MIB:
        faults.append("capturing takes much memory of the device")
    return bench.conclude(figures, faults)


def _peak(run: Run) -> float:
    text = "".join(path.read_text(encoding="utf-8") for path in run.folder.rglob("peak.txt"))
    return max(map(float, re.findall(r"^peak MiB (\S+)$", text, re.MULTILINE)), default=0.0)
