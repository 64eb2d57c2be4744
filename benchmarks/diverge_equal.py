"""Whether `deviate diverge` gives no alarm about runs that are equal.

    python benchmarks/diverge_equal.py [--check] [--only WORD] [--jobs 1] [--answers FOLDER]

Each row of `PAIRS` is a script of benchmarks/equal with what often differs and here has no effect: clocks and process
ids that are printed, temporary files, folders and sets that are sorted, pools that give results in order, workers of
data loaders, dropout, checkpoints, progress bars. Its runs have to be bitwise equal on all levels that are compared,
with exit code 0, no cause, and no input that differs but those that differ between any two runs. With `--check` the
exit code is 1 where one is not.
"""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from diverge_answers import Answer, diverge, is_chosen, parse_options

FOLDER = Path(__file__).parent / "equal"
VOLATILE = frozenset({"clock", "process-id", "entropy", "address"})
"""Sources of inputs that differ between any two runs."""


class Pair(NamedTuple):
    """A script whose runs are equal, and the last level to compare."""

    script: str
    framework: str
    what: str
    level: str = "metrics"
    flags: tuple[str, ...] = ()
    n_threads: int = 1


PAIRS = (
    Pair("sorted_words", "Python", "sorted set, clock"),
    Pair("sorted_files", "Python", "sorted listing, temporary folder, uuid and process id as a name"),
    Pair("ordered_pools", "Python", "map of pools"),
    Pair("memoised", "Python", "cache, dict of objects, environment variable"),
    Pair("checkpointed", "NumPy", "checkpoints, glob that is sorted, clock"),
    Pair("forests", "scikit-learn", "two workers"),
    Pair("partial", "scikit-learn", "partial_fit", "steps"),
    Pair("boosted", "LightGBM", "bagging, two threads", n_threads=2),
    Pair("trees", "XGBoost", "sampling of rows and columns"),
    Pair("workers", "PyTorch", "two workers, progress bar", "operations"),
    Pair("images", "PyTorch", "dropout, augmentation, checkpoint, clock", "modules"),
    Pair("attention", "PyTorch", "schedule, accumulated gradients", "operations"),
    Pair("sequences", "PyTorch", "packed sequences, early stopping", "modules"),
    Pair("variational", "PyTorch", "memory that is written before it is read", "operations"),
    Pair("trained", "Lightning", "validation, checkpoint, progress bar", "modules"),
    Pair("fitted", "Keras", "dropout, early stopping, log file", "steps"),
    Pair("pipeline", "Keras", "parallel pipeline in order, saved weights"),
    Pair("compiled", "TensorFlow", "dropout, clock", "steps"),
    Pair("stateful", "Flax", "dropout", "steps"),
    Pair("functional", "JAX", "keys", "steps"),
)


def main() -> int:
    options = parse_options(__doc__)
    pairs = [pair for pair in PAIRS if is_chosen(options, pair.script, pair.framework, pair.what)]
    print("| script | framework | what | level | compared | alarm | seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    n_equal = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for pair, answer in zip(pairs, pool.map(answer_of, pairs), strict=True):
            if options.answers is not None:
                options.answers.mkdir(parents=True, exist_ok=True)
                (options.answers / f"{pair.script}.txt").write_text(answer.text, encoding="utf-8")
                (options.answers / f"{pair.script}.json").write_text(json.dumps(answer.document), encoding="utf-8")
            alarms = list(alarms_of(answer))
            n_equal += not alarms
            cells = (
                pair.script,
                pair.framework,
                pair.what,
                pair.level,
                ", ".join(f"{rung['rung']} {rung['n_compared']}" for rung in answer.document.get("rungs", [])),
                "; ".join(alarms) or "-",
                f"{answer.seconds:.0f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)
    print(f"equal without an alarm: {n_equal} of {len(pairs)}")
    return 1 if n_equal < len(pairs) and options.check else 0


def answer_of(pair: Pair) -> Answer:
    flags = (*pair.flags, "--level", pair.level)
    return diverge((FOLDER / f"{pair.script}.py",), flags=flags, n_threads=pair.n_threads)


def alarms_of(answer: Answer) -> Iterator[str]:
    """What an answer says that is not so, or could not compare."""
    if answer.code != 0:
        yield f"exit code {answer.code}"
    first = answer.document.get("first")
    if first is not None:
        yield f"{first['kind']} {first['name']} differs at {first['step']}"
    elif answer.document.get("is_equal") is not True:
        yield "nothing was compared"
    for rung in answer.document.get("rungs", []):
        if rung["why_not"] or not rung["n_compared"]:
            yield f"{rung['rung']}: {rung['why_not'] or 'nothing compared'}"
    for cause in answer.document.get("causes", []):
        yield f"cause {cause['id']}"
    for item in answer.document.get("inputs", []):
        if item["source"] not in VOLATILE:
            yield f"{item['source']} {item['call']} in line {item['place']['line']}"


if __name__ == "__main__":
    sys.exit(main())
