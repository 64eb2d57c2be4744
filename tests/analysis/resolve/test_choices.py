"""What a program chooses by name: from a module, a registry, or a configuration file."""

import textwrap
from pathlib import Path

import pytest

from deviate.analysis import analyze
from deviate.model import Analysis

JOB = """
class {name}:
    def __init__(self, cfg):
        self.cfg = cfg
    def run(self):
        for epoch in range(3):
            loss = self.step()
            loss.backward()
            print(f"{name} loss {{loss.item():.4f}}")
"""
REGISTRY = """
JOBS = {}
def register(name):
    def keep(job):
        JOBS[name] = job
        return job
    return keep
"""


def found(folder: Path, files: dict[str, str]) -> Analysis:
    """The analysis of the first file."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return analyze(folder / next(iter(files)), folder)


def reached(analysis: Analysis) -> list[tuple[str, int]]:
    return [(metric.file, metric.line) for metric in analysis.metrics]


CHOSEN = {
    "by an unknown name of a module": {
        "train.py": "import jobs\ngetattr(jobs, load().kind)(cfg).run()\n",
        "jobs.py": JOB.format(name="Small"),
    },
    "from a registry filled by a decorator of another file": {
        "train.py": "import jobs\nfrom registry import JOBS\nJOBS[cfg.kind](cfg).run()\n",
        "jobs.py": "from registry import register\n\n@register('small')" + JOB.format(name="Small"),
        "registry.py": REGISTRY,
    },
    "from a registry object": {
        "train.py": "import jobs\nfrom registry import JOBS\njob = JOBS.get(cfg.kind)\njob(cfg).run()\n",
        "jobs.py": "from registry import JOBS\n\n@JOBS.register('small')" + JOB.format(name="Small"),
        "registry.py": """
            class Registry:
                def __init__(self):
                    self._items = {}
                def register(self, name):
                    def keep(job):
                        self._items[name] = job
                        return job
                    return keep
                def get(self, name):
                    return self._items[name]
            JOBS = Registry()
        """,
    },
    "from a table inside a table": {
        "train.py": "import jobs\nfrom registry import Registry\nRegistry.get_job(cfg.kind)(cfg).run()\n",
        "jobs.py": "from registry import Registry\n\n@Registry.register_job('small')" + JOB.format(name="Small"),
        "registry.py": """
            class Registry:
                tables = {"jobs": {}, "models": {}}
                @classmethod
                def register_job(cls, name):
                    def keep(job):
                        cls.tables["jobs"][name] = job
                        return job
                    return keep
                @classmethod
                def get_job(cls, name):
                    return cls.tables["jobs"].get(name, None)
        """,
    },
    "from a registry of a library": {
        "train.py": "import jobs\nfrom library.registry import job_dict\njob_dict[cfg.kind](cfg).run()\n",
        "jobs/__init__.py": "from .all import *",
        "jobs/all/__init__.py": "import glob\n__all__ = [name(file) for file in glob.glob('*.py')]\n",
        "jobs/all/small.py": "from library.registry import register_job\n\n@register_job('small')"
        + JOB.format(name="Small"),
    },
    "built by a registry of a library": {
        "train.py": "import jobs\nfrom library import JOBS\nJOBS.build(cfg).run()\n",
        "jobs/__init__.py": "from .small import Small\n__all__ = ['Small']\n",
        "jobs/small.py": "from library import JOBS\n\n@JOBS.register_module()" + JOB.format(name="Small"),
    },
    "named in a configuration file": {
        "train.py": "import hydra\ndef main(cfg):\n    hydra.utils.instantiate(cfg.job, 3).run()\n\nmain(load())\n",
        "conf/job/small.yaml": "_target_: parts.jobs.Small\nlr: 0.1\n",
        "conf/config.yaml": "model:\n  _target_: parts.models.Net\n",
        "parts/jobs.py": JOB.format(name="Small"),
    },
    "by a function of the project": {
        "train.py": """
            import importlib, yaml
            def create(cfg):
                module, name = cfg["target"].rsplit(".", 1)
                return getattr(importlib.import_module(module), name)(**cfg.get("params", {}))
            create(yaml.safe_load(open("small.yaml"))["job"]).run()
        """,
        "small.yaml": "job:\n  target: parts.jobs.Small\n  params:\n    cfg: 1\n",
        "parts/jobs.py": JOB.format(name="Small"),
    },
}


@pytest.mark.parametrize("files", CHOSEN.values(), ids=CHOSEN.keys())
def test_what_is_chosen_by_name_is_reached(tmp_path: Path, files: dict[str, str]) -> None:
    analysis = found(tmp_path, files)
    (metric,) = analysis.metrics
    assert metric.expression == "loss.item()"
    assert analysis.main_loop is not None
    assert (analysis.main_loop.file, analysis.main_loop.variable) == (metric.file, "epoch")


def test_a_known_name_chooses_one_of_several(tmp_path: Path) -> None:
    files = {
        "train.py": """
            import argparse, jobs
            parser = argparse.ArgumentParser()
            parser.add_argument("--kind", default="Small")
            getattr(jobs, parser.parse_args().kind)(cfg).run()
        """,
        "jobs.py": JOB.format(name="Small") + JOB.format(name="Large"),
    }
    assert reached(found(tmp_path, files)) == [("jobs.py", 9)]


def test_a_call_with_other_arguments_is_none_of_a_table(tmp_path: Path) -> None:
    files = {
        "train.py": """
            def train(model, lr):
                for epoch in range(3):
                    model.step().backward()
                    print(f"loss {model.loss:.4f}")
            def report(model):
                print(f"accuracy {model.accuracy:.3f}")
            TASKS = {"train": train, "report": report}
            TASKS[task](model, 0.1)
        """
    }
    assert [metric.expression for metric in found(tmp_path, files).metrics] == ["model.loss"]


def test_a_library_runs_what_the_configuration_names(tmp_path: Path) -> None:
    files = {
        "train.py": "from lightning.pytorch.cli import LightningCLI\nLightningCLI()\n",
        "config.yaml": "model:\n  class_path: parts.nets.Net\n  init_args:\n    lr: 0.1\n",
        "parts/nets.py": """
            import lightning
            class Net(lightning.LightningModule):
                def training_step(self, batch, number):
                    self.log("train_loss", self.loss(batch))
        """,
    }
    assert reached(found(tmp_path, files)) == [("parts/nets.py", 5)]


def test_one_of_several_registries_is_asked_by_a_key_that_is_passed_down(tmp_path: Path) -> None:
    files = {
        "train.py": """
            import jobs
            from base import Context
            from registry import Registry
            def create(cfg):
                loader = Registry.loader(cfg.loader)(cfg)
                return Context(job=Registry.job(cfg.job)(cfg), loader=loader)
            create(cfg).job.run()
        """,
        "base.py": """
            from dataclasses import dataclass
            class Job:
                def run(self):
                    raise NotImplementedError
            @dataclass
            class Context:
                job: Job
        """,
        "registry.py": """
            class Registry:
                table = {"jobs": {}, "loaders": {}}
                @classmethod
                def add_job(cls, name):
                    def keep(job):
                        cls.table["jobs"][name] = job
                        return job
                    return keep
                @classmethod
                def add_loader(cls, name):
                    def keep(loader):
                        cls.table["loaders"][name] = loader
                        return loader
                    return keep
                @classmethod
                def find(cls, name, kind):
                    return cls.table[kind].get(name)
                @classmethod
                def job(cls, name):
                    return cls.find(name, "jobs")
                @classmethod
                def loader(cls, name):
                    return cls.find(name, kind="loaders")
        """,
        "jobs.py": """
            from base import Job
            from registry import Registry
            @Registry.add_job("small")
            class Small(Job):
                def __init__(self, cfg):
                    self.cfg = cfg
                def run(self):
                    for epoch in range(3):
                        loss = self.step()
                        loss.backward()
                        print(f"loss {loss.item():.4f}")
            @Registry.add_loader("plain")
            class Plain:
                def __init__(self, cfg):
                    self.cfg = cfg
                def run(self):
                    print(f"mean error {self.error:.4f}")
        """,
    }
    analysis = found(tmp_path, files)
    assert reached(analysis) == [("jobs.py", 12)]
    assert analysis.main_loop is not None
    assert analysis.main_loop.file == "jobs.py"
