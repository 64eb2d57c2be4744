"""Whether two executors in two namespaces of process numbers ever have a replicate alive twice, on one folder.

    python benchmarks/namespaces.py [--trials 20]

Needs Linux and the right to call `unshare --pid`. Each trial begins an experiment, starts two executors in namespaces
of their own, kills one of them in every second trial, and lets a third one carry out what is missing. Heartbeats come
every half second and are given up after 6 s, a tenth of what is usual, so that a trial takes seconds.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from namespaces import are_allowed, execute_orders


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    n_trials = parser.parse_args().trials
    if not are_allowed():
        sys.exit("unshare is not allowed here")
    n_twice = n_unfinished = n_refused = 0
    began = time.monotonic()
    for seed in range(n_trials):
        with tempfile.TemporaryDirectory() as folder:
            outcome = execute_orders(Path(folder), seed)
        n_twice += bool(outcome.twice)
        n_refused += outcome.refused
        n_unfinished += set(outcome.statuses) != {"completed"}
        print(
            f"{seed}: alive twice {len(outcome.twice)}, refused {outcome.refused}, {' '.join(outcome.statuses)}",
            flush=True,
        )
    print(
        f"{n_trials} trials in {time.monotonic() - began:.0f} s: {n_twice} with a replicate alive twice, "
        f"{n_unfinished} not finished, {n_refused} executors refused"
    )
    sys.exit(bool(n_twice or n_unfinished))


if __name__ == "__main__":
    main()
