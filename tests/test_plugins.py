"""A package of a third party, installed from a folder: what it adds is found, used, and goes on in the snapshot."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "support/plugin"
LABBOOK = """\
class Page:
    def note(self, name, value, epoch=None):
        pass
    def close(self):
        pass
"""
SCRIPT = """\
import random

import labbook

page = labbook.Page()
for epoch in range(3):
    page.note("accuracy", random.random(), epoch=epoch)
    pair = ("loss", random.random())
    page.note(*pair)
page.close()
"""
PROGRAM = "import sys; sys.path[:0] = {paths}; sys.argv[0] = 'deviate'; from deviate.cli import main; main()"
"""Packages on this path are seen by deviate, and not by the runs."""
Deviate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(SOURCE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    install = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target"]
    subprocess.run([sys.executable, "-m", *install, str(folder / "target"), str(folder / "source")], check=True)
    return folder / "target"


@pytest.fixture
def deviate(project: Path, tmp_path: Path, installed: Path) -> Deviate:
    """Runs `deviate …` with the plug-in, or without it, in a project whose script notes values in a lab book."""
    (project / "train.py").write_text(SCRIPT)
    library = tmp_path / "library"
    library.mkdir()
    (library / "labbook.py").write_text(LABBOOK)

    def run(*words: str, has_plugin: bool = True) -> subprocess.CompletedProcess[str]:
        paths = [str(installed)] if has_plugin else []
        return subprocess.run(
            [sys.executable, "-c", PROGRAM.format(paths=paths), *words], cwd=project, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(library), "COLUMNS": "120"}, check=False,
        )  # fmt: skip

    return run


def plan_of(project: Path, name: str) -> dict[str, object]:
    document: dict[str, object] = json.loads((project / f".deviate/experiments/{name}/experiment.json").read_text())
    return document


def values_of(project: Path, name: str) -> list[int]:
    """Number of values that each run reported."""
    folders = sorted((project / f".deviate/experiments/{name}/runs").iterdir())
    events = ["".join(it.read_text() for it in folder.glob("attempt-*/events-*.jsonl")) for folder in folders]
    return [text.count('["value"') for text in events]


def outputs_of(project: Path, name: str) -> list[str]:
    """Standard error of each run."""
    folder = project / f".deviate/experiments/{name}/runs"
    return [path.read_text() for path in sorted(folder.glob("*/attempt-*/stderr.log"))]


def test_an_executor_of_another_package_carries_out_runs(project: Path, deviate: Deviate) -> None:
    done = deviate("run", "train.py", "--runs", "2", "--name", "t", "--executor", "here", "--option", "slots=3")
    assert done.returncode == 0, done.stderr
    assert "here with {'slots': '3'}" in done.stderr
    assert plan_of(project, "t")["settings"]["executor"] == "here"  # type: ignore[index]


def test_an_importer_of_another_package_reads_files_that_no_format_of_ours_knows(
    project: Path, deviate: Deviate
) -> None:
    for name, start in (("old", 0.5), ("new", 0.8)):
        (project / f"{name}.labbook").write_text("\n".join(str(start + index / 100) for index in range(6)))
    done = deviate("compare", "old.labbook", "new.labbook", "--json", "compared.json")
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    ((comparison,),) = [it["comparisons"] for it in json.loads((project / "compared.json").read_text())["pairs"]]
    assert comparison["kuiper"]["statistic"] == 1.0  # a statistic of the same package: the sides do not overlap
    refused = deviate("compare", "old.labbook", "new.labbook", has_plugin=False)
    assert "none of the formats" in refused.stderr


def test_a_sink_and_an_adapter_travel_to_another_python_and_runs_go_on_with_the_copies(
    project: Path, deviate: Deviate, interpreters
) -> None:  # type: ignore[no-untyped-def]
    for version in ("3.8", "3.13"):
        python, name = str(interpreters(version)), f"py{version.replace('.', '-')}"
        done = deviate("run", "train.py", "--runs", "2", "--name", name, "--python", python)
        assert done.returncode == 0, done.stderr
        assert values_of(project, name) == [6, 6]
        assert outputs_of(project, name) == [f"closed in Python {version}\n"] * 2
        assert [(it["group"], it["package"], it["version"]) for it in plan_of(project, name)["plugins"]] == [  # type: ignore[attr-defined]
            ("deviate.sinks", "labbook-deviate", "1.2"),
            ("deviate.adapters", "labbook-deviate", "1.2"),
        ]
        copies = project / f".deviate/experiments/{name}/snapshot/guest/_deviate_guest/plugins"
        texts = {path.name: path.read_text() for path in copies.glob("*.py")}
        assert texts["labbook_deviate.sink.py"] == (SOURCE / "labbook_deviate/sink.py").read_text()

    for folder in (project / ".deviate/experiments/py3-8/runs").iterdir():
        shutil.rmtree(folder)
    resumed = deviate("resume", "py3-8", has_plugin=False)
    assert resumed.returncode == 0, resumed.stderr
    assert values_of(project, "py3-8") == [6, 6]
    assert outputs_of(project, "py3-8") == ["closed in Python 3.8\n"] * 2


def test_an_experiment_without_plugins_says_nothing_of_them(project: Path, deviate: Deviate) -> None:
    (project / "train.py").write_text("import random\nfor epoch in range(3):\n    print('accuracy', random.random())\n")
    done = deviate("run", "train.py", "--runs", "2", "--name", "t", has_plugin=False)
    assert done.returncode == 0, done.stderr
    assert "plugins" not in plan_of(project, "t")
    assert not list((project / ".deviate/experiments/t/snapshot/guest").rglob("plugins"))


def test_a_broken_plugin_is_named_and_left_out(deviate: Deviate) -> None:
    done = deviate("run", "train.py", "--executor", "nowhere")
    assert done.returncode == 1
    warning, error = done.stderr.splitlines()[:2]
    assert warning.startswith("Warning: deviate.executors: broken of labbook-deviate 1.2 is left out: ")
    assert warning.endswith("ModuleNotFoundError: No module named 'no_such_library'")
    assert error == "Error: --executor nowhere is none of local, slurm, ray, here"


def test_a_form_of_another_package_renders_a_report(deviate: Deviate, installed: Path) -> None:
    program = (
        f"import sys; sys.path[:0] = [{str(installed)!r}]; from deviate.report import render; "
        "print(render({}, 'shout', width=60))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "DICT 60\n\n"
