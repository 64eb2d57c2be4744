"""What `deviate analyze` costs on a project of many files, against another checkout or against parsing alone.

    python benchmarks/analysis_project.py [--against CHECKOUT] [--rounds 5] [--check]
    python benchmarks/analysis_project.py --project FOLDER --script train.py --against CHECKOUT

The project is written for it: some thirty files with packages, classes, meters, callbacks, an argument parser, and
about a hundred loops in functions that call each other many levels deep; or it is any folder. Whole commands are
measured, in turns, in seconds of processor time; the least of the rounds counts. Each is measured in two states:

    new     in a project that was never analysed, where every file is parsed;
    again   in a project with a `.deviate/` folder, where the files were analysed before and have not changed.

The JSON of the two checkouts must be equal. With `--check` the exit status is 1 when it is not, or when the working
tree takes more than a third of the other checkout's time in the state `again`. Without another checkout, the ratio is
to a process that imports libcst and parses the files of the project.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
BAR = 3.0
"""How many times less than the other checkout's the processor time is to be."""

N_LEVELS = 12
N_BLOCKS = 8
N_CLASSES = 10
PARSING = "import pathlib, libcst; [libcst.parse_module(path.read_text()) for path in pathlib.Path().rglob('*.py')]"

SCRIPT = """\
import argparse
import logging
import os
import random

import numpy as np
import torch

from data import build_loader
from engine.evaluator import evaluate
from engine.hooks import Checkpointing, EarlyStopping, Hooks
from engine.trainer import train_one_epoch
from models import build_model
from models.losses import Criterion
from utils.config import read_config
from utils.logger import RunLogger
from utils.meters import Progress

log = logging.getLogger(__name__)


def parse_options():
    parser = argparse.ArgumentParser(description="Train a detector.")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--config", default="config.yaml")
    parser.add_argument("--output", default="runs")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main(options):
    random.seed(options.seed)
    np.random.seed(options.seed)
    torch.manual_seed(options.seed)
    config = read_config(options.config)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build_model(config).to(device)
    criterion = Criterion(config)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=options.momentum)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
    train_loader = build_loader(config, options.batch_size, is_training=True)
    val_loader = build_loader(config, options.batch_size, is_training=False)
    logger = RunLogger(os.path.join(options.output, "log.csv"))
    hooks = Hooks([Checkpointing(options.output), EarlyStopping(patience=10)])
    best = 0.0
    for epoch in range(options.epochs):
        progress = Progress(len(train_loader), prefix=f"epoch {epoch}")
        train_loss = train_one_epoch(model, criterion, optimizer, train_loader, progress, device)
        accuracy, val_loss = evaluate(model, criterion, val_loader, device)
        scheduler.step()
        best = max(best, accuracy)
        print(f"epoch {epoch} train loss {train_loss:.4f} val loss {val_loss:.4f} accuracy {accuracy:.2f}")
        logger.write({"epoch": epoch, "train_loss": train_loss, "val_loss": val_loss, "accuracy": accuracy})
        if hooks.after_epoch(model, epoch, accuracy):
            break
    log.info("best accuracy %.3f", best)


if __name__ == "__main__":
    main(parse_options())
"""

FILES = {
    "engine/__init__.py": "",
    "engine/trainer.py": """\
from utils.steps_0 import prepare_0, summarise_0
from utils.meters import AverageMeter


def train_one_epoch(model, criterion, optimizer, loader, progress, device):
    losses, grads = AverageMeter("loss"), AverageMeter("grad")
    model.train()
    for step, (images, targets) in enumerate(loader):
        images, targets = prepare_0(images, device), targets.to(device)
        output = model(images)
        loss = criterion(output, targets)
        optimizer.zero_grad()
        loss.backward()
        grads.update(summarise_0([p.grad for p in model.parameters()]), 1)
        optimizer.step()
        losses.update(loss.item(), images.size(0))
        if step % 50 == 0:
            progress.show(step, [losses, grads])
    return losses.average
""",
    "engine/evaluator.py": """\
import torch

from utils.meters import AverageMeter
from utils.metrics import match, precision_at
from utils.steps_0 import prepare_0, select_0


@torch.no_grad()
def evaluate(model, criterion, loader, device):
    losses, hits = AverageMeter("loss"), AverageMeter("accuracy")
    model.eval()
    for images, targets in loader:
        images, targets = prepare_0(images, device), targets.to(device)
        output = model(images)
        losses.update(criterion(output, targets).item(), images.size(0))
        hits.update(precision_at(select_0(output), targets), images.size(0))
        match(output, targets)
    print("test: loss {:.4f} accuracy {:.2f}".format(losses.average, hits.average))
    return hits.average, losses.average
""",
    "engine/hooks.py": """\
import os

import torch


class Hook:
    def after_epoch(self, model, epoch, value):
        return False


class Checkpointing(Hook):
    def __init__(self, folder):
        self.folder, self.best = folder, 0.0

    def after_epoch(self, model, epoch, value):
        if value > self.best:
            self.best = value
            torch.save(model.state_dict(), os.path.join(self.folder, f"{epoch}.pt"))
        return False


class EarlyStopping(Hook):
    def __init__(self, patience):
        self.patience, self.best, self.waited = patience, 0.0, 0

    def after_epoch(self, model, epoch, value):
        self.waited = 0 if value > self.best else self.waited + 1
        self.best = max(self.best, value)
        return self.waited > self.patience


class Hooks:
    def __init__(self, hooks):
        self.hooks = hooks

    def after_epoch(self, model, epoch, value):
        stops = False
        for hook in self.hooks:
            stops = hook.after_epoch(model, epoch, value) or stops
        return stops
""",
    "data/__init__.py": """\
from torch.utils.data import DataLoader

from .datasets import Images
from .transforms import Compose, Flip, Normalise, Resize


def build_loader(config, batch_size, is_training):
    steps = [Resize(config["size"]), Normalise()]
    if is_training:
        steps.insert(0, Flip())
    data = Images(config["root"], Compose(steps), is_training)
    return DataLoader(data, batch_size=batch_size, shuffle=is_training, num_workers=4)
""",
    "data/datasets.py": """\
import glob
import os

from torch.utils.data import Dataset

from utils.steps_1 import collect_1, select_1


class Images(Dataset):
    def __init__(self, root, transform, is_training):
        self.transform = transform
        self.files = []
        for name in glob.glob(os.path.join(root, "*.jpg")):
            self.files.append(name)
        self.labels = collect_1(self.files)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = self.transform(self.files[index])
        return select_1(image), self.labels[index]
""",
    "data/transforms.py": """\
import random

from utils.steps_2 import prepare_2, summarise_2


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Flip:
    def __call__(self, image):
        return image[::-1] if random.random() < 0.5 else image


class Resize:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        return prepare_2(image, self.size)


class Normalise:
    def __call__(self, image):
        return (image - summarise_2(image)) / 255.0
""",
    "models/losses.py": """\
import torch.nn as nn

from utils.steps_1 import summarise_1


class Criterion(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight = config["weight"]
        self.base = nn.CrossEntropyLoss()

    def forward(self, output, targets):
        loss = self.base(output, targets)
        for part in output:
            loss = loss + self.weight * summarise_1(part)
        return loss
""",
    "utils/__init__.py": "",
    "utils/config.py": """\
import yaml


def read_config(name):
    config = {"size": 224, "root": "images", "weight": 0.1, "width": 64, "depth": 3}
    with open(name) as file:
        for key, value in yaml.safe_load(file).items():
            config[key] = value
    return config
""",
    "utils/logger.py": """\
import csv
import logging

from torch.utils.tensorboard import SummaryWriter

log = logging.getLogger("run")


class RunLogger:
    def __init__(self, name):
        self.name = name
        self.board = SummaryWriter()
        self.step = 0

    def write(self, values):
        self.step += 1
        for key, value in values.items():
            self.board.add_scalar(key, value, self.step)
        with open(self.name, "a") as file:
            csv.writer(file).writerow(values.values())
        log.info("wrote %d values", len(values))
""",
    "utils/meters.py": """\
class AverageMeter:
    def __init__(self, name):
        self.name, self.total, self.count, self.value = name, 0.0, 0, 0.0

    def update(self, value, count=1):
        self.value = value
        self.total += value * count
        self.count += count

    @property
    def average(self):
        return self.total / max(self.count, 1)

    def __str__(self):
        return f"{self.name} {self.value:.4f} ({self.average:.4f})"


class Progress:
    def __init__(self, length, prefix=""):
        self.length, self.prefix = length, prefix

    def show(self, step, meters):
        parts = [f"{self.prefix} [{step}/{self.length}]"]
        for meter in meters:
            parts.append(str(meter))
        print("  ".join(parts))
""",
    "utils/metrics.py": """\
from utils.steps_3 import collect_3, select_3


def precision_at(output, targets, k=1):
    correct = 0
    for row, target in zip(output.topk(k).indices, targets):
        correct += int(target in row)
    return 100.0 * correct / len(targets)


def match(output, targets):
    pairs = []
    for one, other in zip(select_3(output), targets):
        if one == other:
            pairs.append((one, other))
    return collect_3(pairs)
""",
}

BLOCK = """\

class Block{n}x{k}(nn.Module):
    def __init__(self, width, depth=2, activation=None):
        super().__init__()
        self.layers = nn.ModuleList()
        for number in range(depth):
            self.layers.append(nn.Conv2d(width, width, 3, padding=1, bias=number > 0))
        self.norm = nn.BatchNorm2d(width)
        self.activation = activation or nn.ReLU(inplace=True)
        self.scale = {k} + 0.5

    def forward(self, x):
        skipped = x
        for layer in self.layers:
            x = self.activation(layer(x))
        x = self.norm(x) * self.scale + skipped
        return x if x.shape == skipped.shape else self.resize(x, skipped)

    def resize(self, x, like):
        return nn.functional.interpolate(x, size=like.shape[-2:], mode="nearest")
"""

STEP = '''\

class {title}{level}:
    """What step {number} of level {level} keeps between its calls."""

    def __init__(self, limit=100, scale={number} + 1.0, **options):
        self.limit, self.scale, self.options = limit, scale, dict(options)
        self.seen, self.table, self.total = [], {{}}, 0.0
        self.path = Path(options.get("folder", ".")) / "{name}_{level}.npy"

    def accepts(self, index, value):
        if value is None or index >= self.limit:
            return False
        self.table[index] = self.table.get(index, 0) + 1
        return np.isfinite(value).all() if isinstance(value, np.ndarray) else True

    def scaled(self, value):
        shifted = value * self.scale - self.total / max(len(self.seen), 1)
        self.total += float(shifted) if hasattr(shifted, "item") else {level}.5
        self.seen.append(shifted)
        return torch.clamp(shifted, min=0) if torch.is_tensor(shifted) else shifted

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        np.save(self.path, np.asarray([float(value) for value in self.seen if value is not None]))


def {name}_{level}(values, where=None, limit=100, **options):
    """Step {number} of level {level}: goes through the values and hands each on."""
    keeper = {title}{level}(limit, **options)
    result, names = [], {{"level": "{level}", "step": "{name}", "limit": str(limit)}}
    for index, value in enumerate(values):
        if not keeper.accepts(index, value):
            LOGGER.debug("left out a value of level {level}")
            continue
        scaled = keeper.scaled(value)
        result.append({calls})
        if where is not None and keeper.total > limit:
            result[-1] = where(result[-1])
    if options.get("save"):
        try:
            keeper.save()
        except OSError as error:
            LOGGER.warning(f"{{names['step']}} was not saved: {{error}}")
    while len(result) > limit and keeper.total > 0:
        keeper.total -= abs(float(result.pop()))
    ordered = sorted(result, key=lambda item: str(item))[:limit]
    return ordered if options.get("ordered") else torch.stack(result) if torch.is_tensor(result[0]) else result
'''

NAMES = ("prepare", "select", "collect", "summarise", "merge", "split_up", "filter_by", "weigh", "trim")
HEAD = """\
import logging
from pathlib import Path

import numpy as np
import torch

LOGGER = logging.getLogger(__name__)
"""


def write_project(folder: Path) -> None:
    """Write the project that is measured into an empty folder."""
    files = {"train.py": SCRIPT, **FILES}
    for number in range(N_BLOCKS):
        blocks = "".join(BLOCK.format(n=number, k=k) for k in range(N_CLASSES))
        files[f"models/blocks_{number}.py"] = f"import torch.nn as nn\n{blocks}"
    files["models/__init__.py"] = _models()
    for level in range(N_LEVELS):
        files[f"utils/steps_{level}.py"] = _level(level)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _models() -> str:
    """A model that is built of all blocks."""
    imports = "".join(
        f"from .blocks_{number} import {', '.join(f'Block{number}x{k}' for k in range(N_CLASSES))}\n"
        for number in range(N_BLOCKS)
    )
    blocks = "".join(
        f"    blocks.append(Block{number}x{k}(width))\n" for number in range(N_BLOCKS) for k in range(N_CLASSES)
    )
    return (
        f"import torch.nn as nn\n\n{imports}\n\ndef build_model(config):\n    width, blocks = config['width'], []\n"
        f"{blocks}    return nn.Sequential(*blocks, nn.Flatten(), nn.Linear(width, 10))\n"
    )


def _level(level: int) -> str:
    """Functions that each call two of the next level."""
    is_last = level == N_LEVELS - 1
    imports = (
        "" if is_last else f"from utils.steps_{level + 1} import {', '.join(f'{it}_{level + 1}' for it in NAMES)}\n"
    )
    steps = []
    for number, name in enumerate(NAMES):
        one, other = NAMES[(number + 1) % len(NAMES)], NAMES[(number + 4) % len(NAMES)]
        calls = "scaled" if is_last else f"{one}_{level + 1}([scaled]) or {other}_{level + 1}([value], where)"
        steps.append(
            STEP.format(name=name, title=name.title().replace("_", ""), level=level, number=number, calls=calls)
        )
    return HEAD + imports + "\n".join(steps)


def processor_time(command: Sequence[str], folder: Path, checkout: Path) -> tuple[float, str]:
    """Seconds of processor time of a command with a checkout's deviate, and what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(checkout)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def measure(folder: Path, script: str, against: Path | None, rounds: int) -> tuple[float, float, bool]:
    """Least seconds of the working tree and of what it is compared with, and whether both printed the same JSON."""
    analysing = [sys.executable, "-P", "-m", "deviate", "analyze", script, "--format", "json"]
    other = analysing if against else [sys.executable, "-c", PARSING]
    times: list[tuple[float, float]] = []
    is_same = True
    for _ in range(rounds + 1):
        ours, document = processor_time(analysing, folder, HERE)
        theirs, expected = processor_time(other, folder, against or HERE)
        is_same = is_same and (against is None or json.loads(document) == json.loads(expected))
        times.append((ours, theirs))
    ours, theirs = map(min, zip(*times[1:], strict=True))  # the first one wrote bytecode, and the trees
    return ours, theirs, is_same


def run() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="folder of another checkout")
    parser.add_argument("--project", type=Path, help="folder of a project (default: one that is written for it)")
    parser.add_argument("--script", default="train.py", help="relative to the project's folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help=f"exit with 1 when the ratio is below {BAR:g}")
    options = parser.parse_args()
    against = options.against.resolve() if options.against else None
    is_good = True
    for state in ("new", "again"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "project"
            if options.project is not None:
                ignored = shutil.ignore_patterns(".git", ".deviate")
                shutil.copytree(options.project, folder, ignore=ignored, symlinks=True)
            else:
                write_project(folder)
            if state == "again":
                (folder / ".deviate").mkdir()
            n_files = sum(1 for _ in folder.rglob("*.py"))
            ours, theirs, is_same = measure(folder, options.script, against, options.rounds)
        ratio = f"{theirs / ours:.2f} times less" if against else f"{ours / theirs:.2f} times parsing"
        name = "other" if against else "parsing"
        print(f"{state:6} {n_files} files  analyze {ours:.3f} s  {name} {theirs:.3f} s  {ratio}")
        if not is_same:
            print("       the JSON differs")
        is_good = is_good and is_same and (state == "new" or against is None or theirs >= BAR * ours)
    return int(options.check and not is_good)


if __name__ == "__main__":
    sys.exit(run())
