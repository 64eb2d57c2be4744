"""What an analysis costs: as a whole process, as a ratio to parsing, and how it grows with the code.

    python benchmarks/analysis_cost.py SCRIPT [--root FOLDER] [--rounds 7]

The ratio is to `libcst.parse_module` of the files that the analysis parsed, in the same process and in turns, in
seconds of processor time; the least of the rounds counts on both sides. Growth is measured on projects written for it,
of 1, 2, 4 and 8 times the code, as one file and as many: the exponent is 1 when cost grows in proportion to the code.
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import libcst as cst

from deviate.analysis.analyze import analyze

STAGE = """\
class Meter{n}:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, count=1):
        self.total += value * count
        self.count += count

    @property
    def average(self):
        return self.total / max(self.count, 1)


def train_{n}(model, loader, optimizer, epoch):
    losses = Meter{n}()
    for step, (images, labels) in enumerate(loader):
        output = model(images)
        loss = criterion(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), len(images))
        if step % 100 == 0:
            print(f"stage {n} epoch {{epoch}} step {{step}} loss {{loss.item():.4f}} average {{losses.average:.4f}}")
    return losses.average


def test_{n}(model, loader):
    correct, total = 0, 0
    for images, labels in loader:
        predicted = model(images).argmax(1)
        correct += (predicted == labels).sum().item()
        total += len(labels)
    accuracy = 100.0 * correct / total
    print("stage {n} test accuracy: {{:.2f}}%".format(accuracy))
    return accuracy

"""

UNIT = 8
"""Stages of the smallest project, of some 300 lines."""


def one_file(folder: Path, n_stages: int) -> Path:
    """A script that holds all stages."""
    script = folder / "train.py"
    stages = "".join(STAGE.format(n=number) for number in range(n_stages))
    script.write_text(f"{HEAD}\n{stages}\n{main(n_stages)}", encoding="utf-8")
    return script


def many_files(folder: Path, n_stages: int) -> Path:
    """A script that imports each stage from a module of its own."""
    for number in range(n_stages):
        (folder / f"stage_{number}.py").write_text(HEAD + STAGE.format(n=number), encoding="utf-8")
    imports = "".join(f"from stage_{number} import test_{number}, train_{number}\n" for number in range(n_stages))
    script = folder / "train.py"
    script.write_text(f"{imports}\n{main(n_stages)}", encoding="utf-8")
    return script


HEAD = "import torch\n\ncriterion = torch.nn.CrossEntropyLoss()\n"


def main(n_stages: int) -> str:
    """A main loop that calls every stage."""
    calls = "".join(
        f"    train_{number}(model, loader, optimizer, epoch)\n    test_{number}(model, loader)\n"
        for number in range(n_stages)
    )
    return f"model, loader, optimizer = build()\nfor epoch in range(10):\n{calls}"


def seconds(action: Callable[[], object]) -> float:
    """The processor time that an action takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def whole_process(script: Path, root: Path) -> tuple[float, float]:
    """Seconds by the clock and of processor time, of the command with all that it loads."""
    command = [sys.executable, "-P", "-m", "deviate", "analyze", str(script), "--format", "json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=True)
    taken = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio_to_parsing(script: Path, root: Path, rounds: int) -> tuple[float, float, int]:
    """Least seconds of the analysis and of parsing its files, and their number."""
    texts = [(root / file).read_text(encoding="utf-8") for file in analyze(script, root).files]
    pairs = [
        (seconds(lambda: analyze(script, root)), seconds(lambda: [cst.parse_module(text) for text in texts]))
        for _ in range(rounds)
    ]
    analysing, parsing = map(min, zip(*pairs, strict=True))
    return analysing, parsing, len(texts)


def growth(write: Callable[[Path, int], Path], rounds: int) -> tuple[list[tuple[int, float]], float]:
    """Lines and seconds for projects of 1, 2, 4 and 8 times the code, and the exponent that fits them best."""
    measured = []
    for factor in (1, 2, 4, 8):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            script = write(folder, UNIT * factor)
            n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.glob("*.py"))
            measured.append((n_lines, min(seconds(lambda: analyze(script, folder)) for _ in range(rounds))))  # noqa: B023
    logs = [(math.log(lines), math.log(taken)) for lines, taken in measured]
    return measured, statistics.linear_regression(*zip(*logs, strict=True)).slope


def run() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", type=Path)
    parser.add_argument("--root", type=Path, help="folder of the project (default: that of the script)")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    script = options.script.resolve()
    root = (options.root or script.parent).resolve()

    wall, processor = zip(*(whole_process(script, root) for _ in range(options.rounds)), strict=True)
    print(f"whole process      {statistics.median(wall):.3f} s, median of {options.rounds} (least {min(wall):.3f} s)")
    print(f"  processor time   {statistics.median(processor):.3f} s")
    analysing, parsing, n_files = ratio_to_parsing(script, root, options.rounds)
    print(f"analysis           {analysing:.3f} s, {n_files} files")
    print(f"parsing of these   {parsing:.3f} s")
    print(f"ratio              {analysing / parsing:.2f}")
    for title, write in (("one file", one_file), ("many files", many_files)):
        measured, exponent = growth(write, min(options.rounds, 3))
        shown = ", ".join(f"{lines} lines {taken:.3f} s" for lines, taken in measured)
        print(f"{title:18} exponent {exponent:.2f}: {shown}")


if __name__ == "__main__":
    run()
