"""What starting costs: processor time of whole commands, as multiples of what importing the libraries alone takes.

    python benchmarks/startup.py [--rounds 7] [--check]

Commands and imports are run in turns, each in a process of its own; the least processor time of the rounds counts on
both sides. A first round, which is not counted, leaves bytecode on disk. With `--check`, the exit code is 1 where a
command takes more than it may.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TYPER, LIBCST, SCIPY = "import typer, rich.console", "import libcst", "import scipy.stats, matplotlib.figure"
N_EXPERIMENTS, N_RUNS, N_EPOCHS = 10, 10, 20


class Bar(NamedTuple):
    """The most that a command may take: so many times what the imports take, and so many seconds more."""

    command: tuple[str, ...]
    imports: str
    times: float
    more_s: float = 0.0


BARS = {
    "--version": Bar(("--version",), TYPER, 2),
    "--help": Bar(("--help",), TYPER, 2),
    f"list, {N_EXPERIMENTS} experiments": Bar(("list",), TYPER, 4),
    "analyze, 100 lines": Bar(("analyze", "train.py"), LIBCST, 3),
    f"compare, 2 x {N_RUNS} runs": Bar(("compare", "e0", "e1"), SCIPY, 1.5, 0.5),
}
SCRIPT = '''\
"""Train a small convolutional network on CIFAR-10."""

import argparse
import os
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Net(nn.Module):
    def __init__(self, width=32, n_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.dropout = nn.Dropout(0.25)
        self.head = nn.Linear(2 * width * 8 * 8, n_classes)

    def forward(self, images):
        hidden = F.max_pool2d(F.relu(self.conv1(images)), 2)
        hidden = F.max_pool2d(F.relu(self.conv2(hidden)), 2)
        return self.head(self.dropout(hidden.flatten(1)))


class AverageMeter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)


def make_loaders(folder, batch_size):
    normalize = transforms.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26))
    augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalize])
    plain = transforms.Compose([transforms.ToTensor(), normalize])
    train = datasets.CIFAR10(folder, train=True, download=True, transform=augment)
    test = datasets.CIFAR10(folder, train=False, transform=plain)
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, 500)


def train_epoch(model, loader, optimizer, epoch, device):
    model.train()
    losses = AverageMeter()
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), len(images))
        if step % 100 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
    return losses.average


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    losses, correct, count = AverageMeter(), 0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        outputs = model(images)
        losses.update(F.cross_entropy(outputs, labels).item(), len(images))
        correct += (outputs.argmax(1) == labels).sum().item()
        count += len(labels)
    return losses.average, 100.0 * correct / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"training on {device}")
    train_loader, test_loader = make_loaders(os.environ.get("DATA", "data"), 128)
    model = Net().to(device)
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        train_loss = train_epoch(model, train_loader, optimizer, epoch, device)
        test_loss, test_acc = evaluate(model, test_loader, device)
        print(f"epoch {epoch}: train loss {train_loss:.4f}, test loss {test_loss:.4f}, test acc {test_acc:.2f}%")


if __name__ == "__main__":
    main()
'''


def processor_time(words: Sequence[str], folder: Path) -> float:
    """Seconds of processor time, user and system, of one run of the interpreter and its children."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(folder: Path) -> None:
    """A project with a script of 100 lines, and ten experiments of ten runs."""
    rng = random.Random(19)
    (folder / ".git").mkdir()
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    for number in range(N_EXPERIMENTS):
        lines = ["run,step,test_acc"]
        for run in range(N_RUNS):
            best = rng.gauss(0.9 + 0.01 * number, 0.01)
            lines += [f"{run},{epoch},{best - 0.5 / (epoch + 1):.6f}" for epoch in range(N_EPOCHS)]
        (folder / f"e{number}.csv").write_text("\n".join(lines), encoding="utf-8")
        processor_time(("-m", "deviate", "import", f"e{number}.csv", "--name", f"e{number}"), folder)


def measure(n_rounds: int) -> dict[tuple[str, ...], float]:
    """Least processor time of each command and each import, in seconds."""
    programs = [("-m", "deviate", *bar.command) for bar in BARS.values()]
    programs += [("-c", imports) for imports in (TYPER, LIBCST, SCIPY)]
    with tempfile.TemporaryDirectory() as scratch:
        prepare(Path(scratch))
        rounds = [{words: processor_time(words, Path(scratch)) for words in programs} for _ in range(1 + n_rounds)]
    return {words: min(times[words] for times in rounds[1:]) for words in programs}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    least = measure(arguments.rounds)
    missed = []
    print(f"least processor time of {arguments.rounds} rounds, in seconds")
    print(f"{'deviate …':<22} {'takes':>6} {'may take':>9}  {'times':>5}  of")
    for name, bar in BARS.items():
        takes, imports = least["-m", "deviate", *bar.command], least["-c", bar.imports]
        may_take = bar.times * imports + bar.more_s
        allowed = f"{bar.times:g} times{f' and {bar.more_s:g} s' if bar.more_s else ''}"
        print(
            f"{name:<22} {takes:6.3f} {may_take:9.3f}  {takes / imports:5.2f}  {bar.imports} ({imports:.3f}): {allowed}"
        )
        if takes > may_take:
            missed.append(name)
    if missed:
        print(f"missed: {'; '.join(missed)}")
    sys.exit(bool(missed and arguments.check))


if __name__ == "__main__":
    main()
