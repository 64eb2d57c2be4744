"""What the guest costs: microseconds per recorded value and per loop step, inside a run.

    python benchmarks/guest.py [--values 200000] [--repeats 5]

Each figure is the least of the repeats, with taps on less the same loop with taps off, in fresh processes.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from harness import Child

SCRIPT = """\
import sys
import time

def report(n, x):
    for i in range(n):
        y = (x)
    return y

def step(n):
    for i in range(n):
        pass

n = int(sys.argv[1])
for function, arguments in ((report, (n, 0.123456789)), (step, (n,))):
    function(*((10,) + arguments[1:]))
    start = time.perf_counter()
    function(*arguments)
    print((time.perf_counter() - start) / n * 1e6)
"""


def measure(n_values: int, *, is_tapped: bool) -> tuple[float, float]:
    """Microseconds per round of the loop that reports, and of the loop that only counts."""
    with tempfile.TemporaryDirectory() as folder:
        child = Child(Path(folder), SCRIPT).tap("«(x)»\n    return")
        child.loop("«range(n)»:\n        y", 6, is_main=False).loop("«range(n)»:\n        pass", 11, is_main=False)
        result = child.run(str(n_values), is_tapped=is_tapped)
    reporting, counting = map(float, result.stdout.split())
    return reporting, counting


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rounds = [
        tuple(
            map(min, zip(*(measure(options.values, is_tapped=is_tapped) for _ in range(options.repeats)), strict=True))
        )
        for is_tapped in (True, False)
    ]
    (value_on, step_on), (value_off, step_off) = rounds
    step = step_on - step_off
    print(f"per loop step       {step:.3f} µs")
    print(f"per recorded value  {value_on - value_off - step:.3f} µs")


if __name__ == "__main__":
    main()
