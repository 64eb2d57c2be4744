"""What deviate costs: an experiment, each run, each training step and each value, beside what runs without it.

    python benchmarks/cost.py [--rounds 5] [--only NAME ...] [--check]

Each row is the median of rounds in which the two sides alternate, in processor time of whole processes or, inside of a
run, of a loop. With `--check`, the exit code is 1 where a row is above its bar.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from harness import Child
from startup import processor_time

STREAMS = dict.fromkeys(("init", "shuffle", "augment", "dropout", "split", "other"), 1)
REPEATS, N_VALUES = 25, 20_000
TINY = "import random\nfor epoch in range(3):\n    print('accuracy', random.random())\n"
BUSY = """\
import time
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
images, labels = load_digits(return_X_y=True)
end = time.process_time() + 3
while time.process_time() < end:
    model = LogisticRegression(max_iter=20).fit(images, labels)
print("accuracy", model.score(images, labels))
"""
KERAS = """\
import sys
import time
import keras
import numpy
keras.utils.set_random_seed(0)
images, labels = numpy.random.rand(256, 8), numpy.random.randint(0, 2, 256)
def train():
    model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(2, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    for _ in range(int(sys.argv[1])):
        model.fit(images, labels, verbose=0)
train()
print(time.process_time())
"""
TORCH = """\
import time
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
examples, labels = torch.randn(4, 8), torch.zeros(4, dtype=torch.long)
def train():
    for _ in range(400):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(examples), labels).backward()
        optimizer.step()
"""
VALUES = f"""\
import time
class Writer:
    def add_scalar(self, tag, value, step):
        pass
writer = Writer()
def value():
    for step in range({N_VALUES}):
        (0.123456789)
def scalar():
    for step in range({N_VALUES}):
        writer.add_scalar("loss", 0.123456789, step)
"""
LEAST = f"""
times = []
for _ in range({REPEATS}):
    began = time.process_time()
    {{0}}()
    times.append(time.process_time() - began)
print(min(times) / {{1}} * 1e6)
"""
"""Microseconds for each of so many rounds of a function, the least of its calls."""


class Bar(NamedTuple):
    """The most that a row may be, its unit, and what is measured."""

    most: float
    unit: str
    what: str


BARS = {
    "experiment": Bar(1.3, "s", "an experiment of a tiny script, beside its runs"),
    "run": Bar(25, "ms", "each run: start of the guest"),
    "keras": Bar(0.05, "s", "Keras: a run of one fit"),
    "keras-20": Bar(0.05, "s", "Keras: a run of 20 fits"),
    "step": Bar(4, "µs", "PyTorch: a training step of a small model"),
    "value": Bar(1, "µs", "a printed value"),
    "scalar": Bar(1, "µs", "a call of add_scalar"),
    "bytes": Bar(30, "bytes", "a printed value on disk"),
    "six-runs": Bar(1.02, "times", "6 runs of 3 s (scikit-learn) beside a shell loop, the experiment's constant apart"),
}


def experiment(text: str, n_runs: int) -> float:
    """Seconds of processor time of `deviate run`, its runs and its report included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text, encoding="utf-8")
        words = ("-m", "deviate", "run", "train.py", "--runs", str(n_runs), "--jobs", "1", "--quiet")
        return processor_time(words, Path(folder))


def bare(text: str, *arguments: str) -> float:
    """Seconds of processor time of the script alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text, encoding="utf-8")
        return processor_time(("train.py", *arguments), Path(folder))


def constant(rounds: int) -> float:
    """Seconds that an experiment costs beside its runs: of two runs, less what ten more add for each."""
    pairs = [(experiment(TINY, 2), experiment(TINY, 12)) for _ in range(rounds)]
    few, many = map(statistics.median, zip(*pairs, strict=True))
    return few - (many - few) / 5


def six_runs(rounds: int) -> float:
    """Ratio of six longer runs to the script alone, without what an experiment costs by itself."""
    ratios = [(experiment(BUSY, 6) - constant(1)) / sum(bare(BUSY) for _ in range(6)) for _ in range(rounds)]
    return statistics.median(ratios)


def plain(text: str, *arguments: str) -> float:
    """The last number that a script prints without deviate."""
    command = [sys.executable, "-c", text, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def in_run(text: str, *arguments: str, tap: tuple[str, str, tuple[str, ...]] | None = None) -> tuple[float, int]:
    """The last number that a script prints in a run with streams, and the bytes of the run's events."""
    with tempfile.TemporaryDirectory() as folder:
        child = Child(Path(folder), text)
        if tap is not None:
            child.tap(tap[0], form=tap[1], fields=tap[2])
        result = child.run(*arguments, seeds=STREAMS, is_cold=True)
        n_bytes = sum(path.stat().st_size for path in Path(folder).rglob("events-*"))
    return float(result.stdout.split()[-1]), n_bytes


def more(rounds: int, text: str, *arguments: str, tap: tuple[str, str, tuple[str, ...]] | None = None) -> float:
    """Median of how much larger the last number of a script is in a run; the two sides alternate."""
    return statistics.median(in_run(text, *arguments, tap=tap)[0] - plain(text, *arguments) for _ in range(rounds))


TAPS = {
    "value": ("«(0.123456789)»\n", "value", ()),
    "scalar": ("writer.add_scalar", "call", ("tensorboard.torch_SummaryWriter_add_scalar", "0")),
}
ROWS: dict[str, Callable[[int], dict[str, float]]] = {
    "experiment": lambda rounds: {"experiment": constant(rounds)},
    "run": lambda rounds: {"run": 1000 * more(rounds, "import time\nprint(time.process_time())")},
    "keras": lambda rounds: {"keras": more(rounds, KERAS, "1"), "keras-20": more(rounds, KERAS, "20")},
    "step": lambda rounds: {"step": more(rounds, TORCH + LEAST.format("train", 400))},
    "value": lambda rounds: {
        **{name: more(rounds, VALUES + LEAST.format(name, N_VALUES), tap=tap) for name, tap in TAPS.items()},
        "bytes": in_run(VALUES + LEAST.format("value", N_VALUES), tap=TAPS["value"])[1] / (REPEATS * N_VALUES),
    },
    "six-runs": lambda rounds: {"six-runs": six_runs(rounds)},
}
"""What is measured together, by a name."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    missed = []
    for group in options.only:
        for name, figure in ROWS[group](options.rounds).items():
            bar = BARS[name]
            print(f"{bar.what:<78} {figure:8.2f} {bar.unit:<5} (may be {bar.most:g})", flush=True)
            if figure > bar.most:
                missed.append(name)
    sys.exit(bool(missed and options.check))


if __name__ == "__main__":
    main()
