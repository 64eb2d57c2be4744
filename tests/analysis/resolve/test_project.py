"""Whole projects: the loop and the metric are found wherever the program keeps them."""

import textwrap
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

TRAIN = """
def train_epoch(model):
    loss = model.step()
    loss.backward()
    print(f"loss {loss.item():.4f}")
"""
LOOP = """
for epoch in range(3):
    train_epoch(model)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def found(folder: Path, files: dict[str, str]) -> Analysis:
    """The analysis of the first file."""
    write(folder, files)
    return analyze(folder / next(iter(files)), folder)


def loop_of(analysis: Analysis) -> str | None:
    return None if analysis.main_loop is None else f"{analysis.main_loop.file}:{analysis.main_loop.line}"


IMPORTS = {
    "beside the script": {"train.py": "from engine import train_epoch" + LOOP, "engine.py": TRAIN},
    "as a module": {
        "train.py": """
            import engine as e
            for epoch in range(3):
                e.train_epoch(model)
        """,
        "engine.py": TRAIN,
    },
    "by a dotted name": {
        "train.py": """
            import lib.parts.engine
            for epoch in range(3):
                lib.parts.engine.train_epoch(model)
        """,
        "lib/parts/engine.py": TRAIN,
    },
    "relative, in a package": {
        "pkg/train.py": "from .core.engine import train_epoch" + LOOP,
        "pkg/__init__.py": "",
        "pkg/core/__init__.py": "",
        "pkg/core/engine.py": TRAIN,
    },
    "relative, from the parent": {
        "pkg/cli/train.py": "from ..core import engine\nfrom ..core.engine import train_epoch" + LOOP,
        "pkg/__init__.py": "",
        "pkg/core/engine.py": TRAIN,
    },
    "from the root of the project": {"tools/train.py": "from core.engine import *" + LOOP, "core/engine.py": TRAIN},
    "from src": {"scripts/train.py": "from proj.engine import train_epoch" + LOOP, "src/proj/engine.py": TRAIN},
    "through a package's __init__": {
        "train.py": "from lib import train_epoch as train_epoch" + LOOP,
        "lib/__init__.py": "from .engine import *",
        "lib/engine.py": TRAIN,
    },
    "star": {"train.py": "from numpy import *\nfrom engine import *" + LOOP, "engine.py": TRAIN},
    "inside a function": {
        "train.py": """
            def main():
                from engine import train_epoch
                for epoch in range(3):
                    train_epoch(model)
            main()
        """,
        "engine.py": TRAIN,
    },
    "in a branch": {
        "train.py": "try:\n    from fast_engine import train_epoch\n"
        "except ImportError:\n    from engine import train_epoch" + LOOP,
        "engine.py": TRAIN,
    },
    "from a folder put on the path": {
        "tools/train.py": """
            import os, sys
            ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            sys.path.insert(0, os.path.join(ROOT, "lib"))
            from engine import train_epoch
            for epoch in range(3):
                train_epoch(model)
        """,
        "lib/engine.py": TRAIN,
    },
    "from a folder put on the path with pathlib": {
        "tools/deep/train.py": """
            import sys
            from pathlib import Path
            sys.path.append(str(Path(__file__).resolve().parents[3] / "lib"))
            from engine import train_epoch
            for epoch in range(3):
                train_epoch(model)
        """,
        "lib/engine.py": TRAIN,
    },
    "from a folder named relative to where it is run": {
        "tools/train.py": "import sys\nsys.path += []\nsys.path.append('..')\nfrom engine import train_epoch" + LOOP,
        "engine.py": TRAIN,
    },
    "by the name of the root, which is a package": {
        "tools/train.py": "from anyname.core.engine import train_epoch" + LOOP,
        "__init__.py": "",
        "core/engine.py": TRAIN,
    },
    "in a circle": {
        "train.py": "from engine import train_epoch" + LOOP,
        "engine.py": "import train\nfrom helper import *" + TRAIN,
        "helper.py": "from engine import *\nimport train",
    },
}


@pytest.mark.parametrize("files", IMPORTS.values(), ids=IMPORTS.keys())
def test_imports_are_followed(tmp_path: Path, files: dict[str, str]) -> None:
    analysis = found(tmp_path, files)
    (metric,) = analysis.metrics
    assert metric.expression == "loss.item()"
    assert metric.file.endswith("engine.py")
    assert loop_of(analysis) is not None
    assert analysis.main_loop is not None
    assert analysis.main_loop.variable == "epoch"
    site = next(site for site in analysis.sites if site.id == metric.site)
    line = (tmp_path / site.file).read_text(encoding="utf-8").splitlines()[site.span.line - 1]
    assert line[site.span.column : site.span.end_column] == "loss.item()"


BODY = """
for epoch in range(3):
    loss = model.step()
    loss.backward()
    print(f"loss {loss.item():.4f}")
"""


def indented(by: int) -> str:
    return textwrap.indent(BODY, " " * by)


WAYS_IN = {
    "called": "def main():\n" + indented(4) + "main()\n",
    "absl": "from absl import app\ndef main(argv):\n" + indented(4) + "if __name__ == '__main__':\n    app.run(main)\n",
    "absl without a name": "from absl import app\ndef main(argv):\n" + indented(4) + "app.run()\n",
    "click": "import click\n@click.command()\n@click.option('--lr')\ndef main(lr):\n" + indented(4) + "main()\n",
    "click, grouped": "import click\n@click.group()\ndef cli(): pass\n@cli.command()\ndef train():\n"
    + indented(4)
    + "cli()\n",
    "typer": "import typer\napp = typer.Typer()\n@app.command()\ndef main(lr: float = 1):\n" + indented(4) + "app()\n",
    "typer.run": "import typer\ndef main(lr: float = 1):\n" + indented(4) + "typer.run(main)\n",
    "fire, a function": "import fire\ndef train(lr=1):\n" + indented(4) + "fire.Fire(train)\n",
    "fire, a dict": "import fire\ndef train(lr=1):\n" + indented(4) + "fire.Fire({'train': train})\n",
    "fire, a class": "import fire\nclass Job:\n    def train(self, lr=1):\n" + indented(8) + "fire.Fire(Job)\n",
    "hydra": "import hydra\n@hydra.main(config_path='conf')\ndef main(cfg):\n" + indented(4) + "main()\n",
    "sacred": "from sacred import Experiment\nex = Experiment()\n@ex.automain\ndef main(lr):\n" + indented(4),
    "spawned": "import torch.multiprocessing as mp\ndef worker(rank, size):\n"
    + indented(4)
    + "mp.spawn(worker, nprocs=2, args=(2,))\n",
    "threaded": "import threading\ndef work():\n" + indented(4) + "threading.Thread(target=work).start()\n",
    "partial": "import functools\ndef train(lr, model):\n"
    + indented(4)
    + "run = functools.partial(train, 0.1)\nrun(net)\n",
    "lambda": "def train(lr):\n" + indented(4) + "run = lambda: train(0.1)\nrun()\n",
    "decorated": """
import functools
def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)
    return wrapper
@timed
def main():
"""
    + indented(4)
    + "main()\n",
    "decorated with arguments": """
def retry(times):
    def decorate(fn):
        def wrapper(*args, **kwargs):
            for _ in range(times):
                return fn(*args, **kwargs)
        return wrapper
    return decorate
@retry(3)
def main():
"""
    + indented(4)
    + "main()\n",
    "compiled": "import jax\ndef main(x):\n" + indented(4) + "fast = jax.jit(main)\nfast(1)\n",
    "handed to a function that calls it": "def launch(fn, n):\n    return fn(n)\ndef main(n):\n"
    + indented(4)
    + "launch(main, 1)\n",
    "from a table": "def train(a):\n" + indented(4) + "TASKS = {'train': train}\nTASKS[name](1)\n",
    "from a list": "def train():\n" + indented(4) + "for stage in [prepare, train]:\n    stage()\n",
    "by getattr": "class Job:\n    def train(self):\n" + indented(8) + "getattr(Job(), 'train')()\n",
    "from a table with a default": "def train(a):\n" + indented(4) + "TASKS = {'train': train}\nTASKS.get(name)(1)\n",
    "from lists that are joined": "class Hook:\n    def at_end(self):\n"
    + indented(8)
    + "hooks = []\nhooks += [Hook()]\nhooks = [load()] + hooks\nfor hook in hooks:\n    hook.at_end()\n",
    "a lambda that hands on": "def train(a):\n" + indented(4) + "run = lambda a: train(a)\nrun(1)\n",
    "by handlers of an event": "class Loop:\n    def __init__(self):\n        self.handlers = {}\n"
    "    def on(self, event, handler):\n        self.handlers.setdefault(event, []).append(handler)\n"
    "    def run(self):\n        for handler in self.handlers['start']:\n            handler(self)\n"
    "def train(loop):\n" + indented(4) + "loop = Loop()\nloop.on('start', train)\nloop.run()\n",
    "a method": "class Job:\n    def train(self):\n" + indented(8) + "Job().train()\n",
    "an inherited method": "class Base:\n    def train(self):\n"
    + indented(8)
    + "class Job(Base):\n    pass\njob = Job()\njob.train()\n",
    "by super": "class Base:\n    def train(self):\n"
    + indented(8)
    + "class Job(Base):\n    def train(self):\n        super().train()\nJob().train()\n",
    "a called object": "class Job:\n    def __call__(self):\n" + indented(8) + "job = Job()\njob()\n",
    "from a factory": "class Job:\n    def train(self):\n"
    + indented(8)
    + "def build(cfg):\n    job = Job()\n    return job\nbuild(1).train()\n",
    "kept in an attribute": "class Job:\n    def train(self):\n"
    + indented(8)
    + "class App:\n    def __init__(self):\n        self.job = Job()\n"
    + "    def run(self):\n        self.job.train()\nApp().run()\n",
    "by its declared type": "class Job:\n    def train(self):\n"
    + indented(8)
    + "def run(job: Job):\n    job.train()\nrun(load('job'))\n",
    "from a comprehension": "class Job:\n    def train(self):\n"
    + indented(8)
    + "jobs = [Job() for _ in range(2)]\nfor job in jobs:\n    job.train()\n",
    "entered": "class Run:\n    def __enter__(self):\n" + indented(8) + "with Run() as run:\n    pass\n",
    "a class method": "class Job:\n    @classmethod\n    def train(cls):\n" + indented(8) + "Job.train()\n",
    "a static method": "class Job:\n    @staticmethod\n    def train(lr):\n" + indented(8) + "Job.train(1)\n",
    "a nested function": "def outer():\n    def train():\n" + indented(8) + "    train()\nouter()\n",
    "an alias": "def train():\n" + indented(4) + "run = train\nrun()\n",
    "conditional": "def train():\n" + indented(4) + "run = train if fast else None\nrun()\n",
    "asyncio": "import asyncio\nasync def train():\n" + indented(4) + "asyncio.run(train())\n",
}


@pytest.mark.parametrize("text", WAYS_IN.values(), ids=WAYS_IN.keys())
def test_the_script_reaches_its_training(tmp_path: Path, text: str) -> None:
    analysis = found(tmp_path, {"train.py": text})
    assert [metric.expression for metric in analysis.metrics] == ["loss.item()"]
    assert analysis.main_loop is not None
    assert analysis.main_loop.variable == "epoch"


TEMPLATE_METHOD = {
    "train.py": """
        from trainer import Trainer
        def main(config):
            trainer = Trainer(config, callbacks=[Report()])
            trainer.train()
        class Report:
            def on_epoch_end(self, epoch, logs):
                print(f"val accuracy {logs['acc']:.3f}")
        if __name__ == "__main__":
            main(load())
    """,
    "trainer.py": """
        from base import BaseTrainer
        class Trainer(BaseTrainer):
            def _train_epoch(self, epoch):
                for batch in self.loader:
                    loss = self.model(batch)
                    loss.backward()
                print(f"epoch {epoch} loss {loss:.4f}")
                return {"acc": self._accuracy()}
    """,
    "base/__init__.py": "from .base_trainer import *\nfrom .unused import Unused",
    "base/base_trainer.py": """
        class BaseTrainer:
            def __init__(self, config, callbacks):
                self.callbacks = callbacks
            def _train_epoch(self, epoch):
                raise NotImplementedError
            def train(self):
                for epoch in range(self.start, self.epochs):
                    logs = self._train_epoch(epoch)
                    for callback in self.callbacks:
                        callback.on_epoch_end(epoch, logs)
    """,
    "base/unused.py": "class Unused: pass",
    "never.py": "import train",
}


def test_a_base_class_drives_the_methods_of_the_class_that_is_made(tmp_path: Path) -> None:
    analysis = found(tmp_path, TEMPLATE_METHOD)
    assert loop_of(analysis) == "base/base_trainer.py:8"
    assert [(metric.file, metric.expression) for metric in analysis.metrics] == [
        ("train.py", "logs['acc']"),
        ("trainer.py", "loss"),
    ]


def test_files_that_nothing_needs_are_not_read(tmp_path: Path) -> None:
    analysis = found(tmp_path, TEMPLATE_METHOD)
    assert analysis.files == ("train.py", "trainer.py", "base/__init__.py", "base/base_trainer.py")


def test_an_import_for_its_effect_alone_is_followed(tmp_path: Path) -> None:
    analysis = found(tmp_path, {"run.py": "import sys\nimport loop_of_it\n", "loop_of_it.py": BODY})
    assert loop_of(analysis) == "loop_of_it.py:2"
    (metric,) = analysis.metrics
    assert metric.file == "loop_of_it.py"


def test_what_an_imported_file_does_as_a_script_is_not_reached(tmp_path: Path) -> None:
    engine = TRAIN + 'if __name__ == "__main__":\n    print(f"demo accuracy {demo():.3f}")\n'
    analysis = found(tmp_path, {"train.py": "from engine import train_epoch" + LOOP, "engine.py": engine})
    assert [metric.expression for metric in analysis.metrics] == ["loss.item()"]


def test_a_framework_kept_in_the_project_is_not_followed(tmp_path: Path) -> None:
    analysis = found(
        tmp_path,
        {
            "examples/train.py": "import torch\nfrom torch.utils import tensorboard\nimport engine\n"
            "writer = tensorboard.SummaryWriter()\n"
            "for epoch in range(2):\n    loss = engine.step()\n    loss.backward()\n"
            "    writer.add_scalar('loss', loss, epoch)\n",
            "torch/__init__.py": "print('not read')",
            "torch/utils/tensorboard.py": "class SummaryWriter: pass",
            "engine.py": "def step(): pass",
        },
    )
    assert [(metric.expression, metric.sink) for metric in analysis.metrics] == [("loss", "tensorboard")]
    assert analysis.files == ("examples/train.py", "engine.py")


def test_what_cannot_be_followed_is_told_and_does_no_harm(tmp_path: Path) -> None:
    analysis = found(
        tmp_path,
        {
            "train.py": "from broken import *\nfrom nowhere import something\nfrom engine import train_epoch" + LOOP,
            "engine.py": TRAIN,
            "broken.py": "def half(:\n",
        },
    )
    assert [metric.expression for metric in analysis.metrics] == ["loss.item()"]
    (notice,) = analysis.notices
    assert "broken.py:1:10" in notice


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "lib").symlink_to(tmp_path / "lib", target_is_directory=True)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    analysis = found(
        tmp_path,
        {
            "train.py": "import self\nfrom lib.lib.lib.engine import train_epoch" + LOOP,
            "lib/engine.py": TRAIN,
        },
    )
    assert [metric.expression for metric in analysis.metrics] == ["loss.item()"]


def test_seeds_and_outputs_of_other_files_are_told(tmp_path: Path) -> None:
    analysis = found(
        tmp_path,
        {
            "train.py": "from engine import train_epoch, prepare\nprepare()" + LOOP,
            "engine.py": "import torch\ndef prepare():\n    torch.manual_seed(7)\n    open('log.txt', 'w')\n" + TRAIN,
        },
    )
    assert [(seed.file, seed.line, seed.argument) for seed in analysis.seeds] == [("engine.py", 3, "7")]
    assert analysis.outputs == ("log.txt",)
