"""Whether runs with controlled kernels are bitwise identical, and how far those with free kernels differ."""

from deviate.model.records import Run
from scripts.accelerator.bench import Bench, digests_of, failures_of, named_values, printed
from scripts.accelerator.results import Result

FRAMEWORKS = ("torch", "jax", "tensorflow")


def check_control(bench: Bench) -> Result:
    """Ten runs of `control`: equal losses at each step, and equal hashes of the final weights."""
    figures, faults, evidence = [], [], []
    for framework in bench.frameworks(*FRAMEWORKS):
        program = f"additions_{framework}"
        runs = _repeat(bench, program, "control", bench.amount(10, 2))
        faults += failures_of(runs, program)
        n_ends = len({named_values(printed(run), "hash").get("final") for run in runs})
        n_recorded, n_series = len(digests_of(runs)), len({tuple(_losses(run)) for run in runs})
        recorded = "none" if digests_of(runs) == {"none"} else str(n_recorded)
        figures.append(
            f"{framework}: {len(runs)} runs, different final weights: {n_ends}, different hashes of weights on record: "
            f"{recorded}, different series of {len(_losses(runs[0]))} losses: {n_series}"
        )
        if max(n_ends, n_recorded, n_series) > 1:
            faults.append(f"{program}: the runs of control differ")
            evidence += [printed(run)[-1000:] for run in runs[:2]]
    return bench.conclude(figures, faults, "\n".join(evidence))


def check_spread(bench: Bench) -> Result:
    """Runs of `impl`: equal initial weights and batches, final weights that differ where additions vary in order."""
    figures, faults = [], []
    n_runs = bench.amount(5, 2)
    programs: list[tuple[str, tuple[str, ...]]] = [(f"additions_{name}", ()) for name in bench.frameworks(*FRAMEWORKS)]
    if "torch" in bench.frameworks("torch"):
        programs.append(("additions_torch", ("--layers", "convolutions")))
    for program, arguments in programs:
        name = " ".join([program, *arguments[1:]])
        runs = _repeat(bench, program, "impl", n_runs, *arguments)
        faults += failures_of(runs, name)
        hashes = [named_values(printed(run), "hash") for run in runs]
        starts = {(of_run.get("init"), of_run.get("batch")) for of_run in hashes}
        if len(starts) > 1:
            faults.append(f"{name}: initial weights or batches differ in impl")
        n_ends = len({of_run.get("final") for of_run in hashes})
        last = [losses[-1] for run in runs if (losses := _losses(run))]
        spread = max(last) - min(last) if last else float("nan")
        figures.append(
            f"{name}: {n_ends} different final weights in {len(runs)} runs, range of the last loss {spread:.3g}"
        )
        # Autotuning may choose the same kernels each time, and other compilers may avoid atomic additions.
        if not bench.is_rehearsal and name == "additions_torch" and n_ends == 1:
            faults.append(f"{name}: the runs of impl are bitwise identical")
    return bench.conclude(figures, faults)


def _repeat(bench: Bench, program: str, variant: str, n_runs: int, *arguments: str) -> tuple[Run, ...]:
    project = bench.project(program, "-".join([program, variant, *arguments[1:]]))
    words = ("-q", "--name", "check", "--runs", str(n_runs), "-j", "1", "--variants", variant)
    amounts = ("--rows", "4096", "--steps", "5") if bench.is_rehearsal else ()
    bench.deviate(project, "run", *words, arguments=(*amounts, *arguments))
    return bench.runs(project)[variant]


def _losses(run: Run) -> list[float]:
    return [float(line.rpartition(" ")[2]) for line in printed(run).splitlines() if line.startswith("step ")]
