"""Whether `deviate diverge` names noise that is there, and none that is not.

    python benchmarks/diverge_noise.py [--check] [--times 10] [--only noise,quiet,ranks]

- *noise*: rows of a table are looked up by index, and two threads add up their gradient in the order in which they
  arrive. The search has to end at `aten.index_put.default` and the line that looks up the rows, and the proof at
  equal runs.
- *quiet*: a script on one thread with memory that nothing has written yet, views, and operations in place, down to its
  operations. It has to be equal on every level.
- *ranks*: two processes under torchrun, of which only the second one has that noise. Rank 1 has to be named, and the
  line; a third of the trials.

With `--check` the exit code is 1 where fewer than nine in ten of the noisy trials, or not all others, are right.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from diverge_answers import diverge

FOLDER = Path(__file__).parent
IMPL = ("--variant", "impl")
LAUNCHER = ("torchrun", "--nproc-per-node", "2")
OPERATION = "aten.index_put.default"
LOOKUPS = ("rows = table[index]", "rows = self.table[index]")


class Trial(NamedTuple):
    """A script, what is right to say of it, and how many of a hundred trials have to be right.

    Attributes:
        times: number of trials, relative to those that were asked for.
    """

    script: Path
    is_right: Callable[[dict[str, Any]], bool]
    least: float
    flags: tuple[str, ...]
    launcher: tuple[str, ...] = ()
    n_threads: int = 1
    times: float = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--only", default=",".join(TRIALS))
    options = parser.parse_args()
    is_enough = True
    for name in options.only.split(","):
        trial = TRIALS[name]
        n_times, n_right = max(1, round(options.times * trial.times)), 0
        for number in range(1, n_times + 1):
            files = (trial.script,)
            answer = diverge(files, flags=trial.flags, launcher=trial.launcher, n_threads=trial.n_threads)
            if answer.code:
                sys.exit(f"{name}: exit code {answer.code}:\n{answer.text}")
            is_right = trial.is_right(answer.document)
            n_right += is_right
            word = "right" if is_right else "wrong"
            print(f"{name} {number}: {describe(answer.document)}: {word} ({answer.seconds:.0f} s)", flush=True)
        print(f"{name}: {n_right} of {n_times} right", flush=True)
        is_enough = is_enough and n_right >= trial.least * n_times
    return 1 if options.check and not is_enough else 0


def is_named(document: dict[str, Any]) -> bool:
    first = document["first"]
    text = (first["place"] or {}).get("text", "") if first else ""
    return bool(first) and first["name"] == OPERATION and text.startswith(LOOKUPS)


def is_named_and_removed(document: dict[str, Any]) -> bool:
    return is_named(document) and any(item["is_equal"] for item in document["confirmations"])


def is_rank_named(document: dict[str, Any]) -> bool:
    return is_named(document) and document["first"]["rank"] == 1


def is_equal(document: dict[str, Any]) -> bool:
    rungs = document["rungs"]
    return (
        document["is_equal"] is True
        and rungs[-1]["rung"] == "operations"
        and all(rung["difference"] is None and rung["n_compared"] and not rung["why_not"] for rung in rungs)
    )


def describe(document: dict[str, Any]) -> str:
    first = document["first"]
    if first is None:
        return "equal, " + ", ".join(f"{rung['rung']} {rung['n_compared']}" for rung in document["rungs"])
    text = f"update {first['step']}, rank {first['rank']}, {first['kind']} {first['name']}"
    results = {True: "equal", False: "not equal", None: "not compared"}
    return ", ".join([text, *(f"{item['given']} {results[item['is_equal']]}" for item in document["confirmations"])])


TRIALS = {
    "noise": Trial(
        FOLDER / "faults" / "lookup.py", is_named_and_removed, least=0.9, flags=IMPL, n_threads=2
    ),
    "quiet": Trial(
        FOLDER / "noise" / "padded.py", is_equal, least=1.0, flags=(*IMPL, "--level", "operations")
    ),
    "ranks": Trial(
        FOLDER / "noise" / "ranks.py", is_rank_named, least=1.0, flags=IMPL, launcher=LAUNCHER, times=0.3
    ),
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
