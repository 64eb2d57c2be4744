"""Whether draws in a captured CUDA graph follow the streams, or are reported as beyond control."""

from scripts.accelerator.bench import Bench, failures_of, named_values, printed
from scripts.accelerator.results import Result

VARIANTS = ("control", "dropout", "algo")


def check_graphs(bench: Bench) -> Result:
    project = bench.project("graphs")
    words = ("-q", "--name", "check", "--runs", "2", "-j", "1", "--variants", ",".join(VARIANTS))
    bench.deviate(project, "run", *words)
    runs = bench.runs(project)
    faults = [fault for variant in VARIANTS for fault in failures_of(runs[variant], variant)]
    if faults:
        return bench.conclude([], faults)
    hashes = {variant: [named_values(printed(run), "hash") for run in runs[variant]] for variant in VARIANTS}
    control = hashes["control"][0]
    figures = [f"{control['different']} different masks in 100 replays"]
    if control["different"] != "100":
        faults.append("replays of a graph repeat masks")
    if hashes["control"][1] != control:
        faults.append("the runs of control differ")
    phrases = {phrase for variant in VARIANTS for run in runs[variant] for phrase in run.uncontrolled}
    for variant in ("dropout", "algo"):
        n_masks = len({control["masks"], *(of_run["masks"] for of_run in hashes[variant])})
        figures.append(f"{variant}: {n_masks} different series of masks in 2 runs and control")
        if n_masks < 3 and not phrases:
            faults.append(f"masks do not vary in {variant}, and nothing is reported as beyond control")
    figures += [f"reported: {phrase}" for phrase in sorted(phrases)]
    return bench.conclude(figures, faults)
