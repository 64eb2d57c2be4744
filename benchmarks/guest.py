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

class Tracker:
    def log(self, data):
        pass

    def add_scalar(self, tag, value, step):
        pass

    def update(self, value, n=1):
        self.avg = value

tracker = Tracker()
data = {"loss": 0.123456789}

def value(n):
    for i in range(n):
        (0.123456789)

def scalar(n):
    for i in range(n):
        tracker.add_scalar("loss", 0.123456789, i)

def record(n):
    for i in range(n):
        tracker.log(data)

def meter(n):
    for i in range(n):
        tracker.update(0.123456789, 1)

def step(n):
    for i in range(n):
        pass

def main_step(n):
    for i in range(n):
        "main"

n = int(sys.argv[1])
for function in (step, main_step, value, scalar, record, meter):
    function(10)
    start = time.perf_counter()
    function(n)
    print((time.perf_counter() - start) / n * 1e6)
"""
FIGURES = (
    "loop step",
    "step of the main loop",
    "recorded value",
    "call with a name and a value",
    "call with a dict of one value",
    "update of a meter",
)


def measure(n_values: int, *, is_tapped: bool) -> list[float]:
    """Microseconds per round of each loop of the script, all of them counted."""
    with tempfile.TemporaryDirectory() as folder:
        child = Child(Path(folder), SCRIPT).tap("«(0.123456789)»\n")
        child.tap("tracker.add_scalar", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0"))
        child.tap("tracker.log", form="call", fields=("trackers.wandb_log", "0"))
        child.tap("tracker.update", form="meter", fields=("avg",))
        for body in ("(0.123", "tracker.add", "tracker.log", "tracker.up", "pass", '"main"'):
            line = SCRIPT[: SCRIPT.index(f"        {body}")].count("\n") + 1
            child.loop(f"«range(n)»:\n        {body}", line, is_main=body == '"main"')
        result = child.run(str(n_values), is_tapped=is_tapped)
    return [float(line) for line in result.stdout.split()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    on, off = (
        list(
            map(min, zip(*(measure(options.values, is_tapped=is_tapped) for _ in range(options.repeats)), strict=True))
        )
        for is_tapped in (True, False)
    )
    costs = [with_taps - without for with_taps, without in zip(on, off, strict=True)]
    for name, cost in zip(FIGURES, (*costs[:2], *(cost - costs[0] for cost in costs[2:])), strict=True):
        print(f"per {name:<30} {cost:.3f} µs")


if __name__ == "__main__":
    main()
