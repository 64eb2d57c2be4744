"""What an experiment survives: kills at random moments and truncated files, over several seeds, and what they cost.

    python benchmarks/survival.py [--seeds 101 102 103] [--kills 25] [--truncations 8]

For each seed an experiment is started, and executors of it (`deviate run`, `deviate resume`), its runs, workers beside
them (`deviate worker`) and whole process groups are killed with SIGKILL, so many of each kind, by a schedule that
follows from the seed; event files are truncated while runs write them and after. In the end its table (the status
of each replicate and every value of every metric) is held against that of an undisturbed experiment with the same
seeds. Runs hold a lock outside of their work copies, with all that they start: two attempts of one run that are alive
at once would meet there.
"""

import argparse
import platform
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from survival import KINDS, Arena, Figures, Ordeal


def endured(folder: Path, seed: int, kills: int, truncations: int) -> tuple[Figures, int, list[str]]:
    """The figures of one ordeal, its number of runs, and what is wrong in the end."""
    arena, calm = Arena(folder / "fire"), Arena(folder / "calm")
    ordeal = Ordeal(arena, seed, dict.fromkeys(KINDS, kills), n_runs=12, truncations=truncations)
    figures = ordeal.endure()
    calm.run(ordeal.n_runs)
    table, expected = arena.table(), calm.table()
    wrong = [
        f"{key}: {table.get(key)} instead of {value}" for key, value in expected.items() if table.get(key) != value
    ]
    wrong += [f"{key} is too many" for key in table.keys() - expected.keys()]
    wrong += [*arena.marked("overlap"), *(f"process {pid} still runs" for pid in arena.processes()), *arena.left_over()]
    return figures, ordeal.n_runs, wrong


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--kills", type=int, default=25, help="of each kind")
    parser.add_argument("--truncations", type=int, default=8, help="during runs, and as many after them")
    options = parser.parse_args()
    print(f"{platform.system()} {platform.release()}, CPython {platform.python_version()}", flush=True)
    all_kills: Counter[str] = Counter()
    n_wrong = 0
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as name:
            figures, n_runs, wrong = endured(Path(name), seed, options.kills, options.truncations)
        all_kills += figures.kills
        n_wrong += len(wrong)
        print(
            f"seed {seed}: kills {_told(figures.kills)}; truncated {_told(figures.truncated)}; "
            f"{figures.n_started} executors started, {figures.n_refused} refused; {n_runs} runs, "
            f"{figures.n_begun} times begun in {figures.n_attempts} attempts ({_told(figures.endings)}); "
            f"{figures.seconds:.0f} s; wrong: {len(wrong)}",
            flush=True,
        )
        for line in wrong:
            print(f"  {line}")
    print(f"{all_kills.total()} kills: {n_wrong} things wrong in the end")
    sys.exit(n_wrong > 0)


def _told(counter: Counter[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counter.items()))


if __name__ == "__main__":
    main()
