"""The template of a plug-in, installed: the manual's pages on it, its tests, its travels; and plug-ins that are broken.

Run as a program, this file writes the pages: the modules that they show, and what their commands print.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import ROOT, Block, Reader, blocks

TEMPLATE = ROOT / "examples/plugin"
PAGES = [
    ROOT / f"docs/how-to/{name}.md"
    for name in (
        "extend", "add-a-sink", "add-an-adapter", "add-an-importer", "add-an-executor", "add-a-statistic", "add-a-form",
    )
]  # fmt: skip
LABBOOK = """\
class Page:
    def note(self, name, value, epoch=None):
        pass
"""
LABNET = """\
class Model:
    pass
def seed(number):
    pass
def train_step(model, x, y):
    pass
"""
SCRIPT = """\
import random

import labbook
import labnet

labnet.seed(0)
page = labbook.Page()
for epoch in range(3):
    page.note("accuracy", random.random(), epoch=epoch)
    pair = ("loss", random.random())
    page.note(*pair)
"""
PROGRAM = "import sys; sys.path[:0] = {paths}; sys.argv[0] = 'deviate'; from deviate.cli import main; main()"
"""Packages on these paths are seen by deviate, and not by the runs."""
BROKEN = {
    "library": ("deviate.executors", "import no_such_library"),
    "taken": (
        "deviate.executors",
        "from deviate.replay.protocol import executor\n@executor('slurm')\ndef make(settings): ...",
    ),
    "ends": ("deviate.importers", "raise SystemExit(3)"),
    "empty": ("deviate.forms", "from deviate.report.forms.registry import document_form"),
    "heavy": ("deviate.sinks", "import numpy"),
    "silent": ("deviate.adapters", "MODULES = ('labnet',)"),
    "absent": ("deviate.statistics", None),
    "typo": ("deviate.sink", ""),
}
"""Name to the group and text of its module."""
REASONS = {
    "library": ("ModuleNotFoundError: No module named 'no_such_library'", "install no_such_library in the environment"),
    "taken": ("the name 'slurm' is taken by deviate.replay.executors.slurm", "choose another name in broken_taken"),
    "ends": ("SystemExit: 3", "-c 'import broken_ends'"),
    "empty": ("broken_empty registers no form", "decorate a function with deviate.report.forms.registry.document_form"),
    "heavy": (
        "broken_heavy.py imports numpy, which the processes of runs may lack",
        "import only the standard library",
    ),
    "silent": ("broken_silent.py has no function install", "define install(module, context)"),
    "absent": ("ModuleNotFoundError: No module named 'broken_absent'", "install broken-lab again"),
    "typo": ("there is no group deviate.sink", "use one of deviate.sinks, "),
}


def install(source: Path, target: Path) -> None:
    """Build the wheel of a package and install it into a folder."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)


def install_copy(folder: Path, changes: str = "") -> Path:
    """Install a copy of the template, changed by commands; returns the copy, and leaves the package beside it."""
    copy = folder / "plugin"
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    subprocess.run(["bash", "-euc", changes], cwd=copy, check=True)
    install(copy, folder / "installed")
    return copy


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    install_copy(folder)
    return folder / "installed"


# ---------------------------------------------------------------- the manual


def with_modules(page: str) -> str:
    """A page with the files of the template as they are."""
    for block in blocks(page):
        file = TEMPLATE / block.title
        if block.title and file.is_file() and not block.title.endswith("train.py"):
            page = page.replace(as_block(block, block.text), as_block(block, shown_part(file)))
    return page


def shown_part(file: Path) -> str:
    """A file as a page shows it: of `pyproject.toml` the entry points."""
    text = file.read_text(encoding="utf-8")
    if file.name != "pyproject.toml":
        return text
    return text[text.index("[project.entry-points") : text.index("[tool.hatch")].rstrip() + "\n"


def as_block(block: Block, text: str) -> str:
    return f'```{block.language} title="{block.title}"\n{text}```\n'


def followed(pages: list[str], reader: Reader) -> list[str]:
    """The pages with what their commands print, one after the other in one folder."""
    return [reader.follow(page) for page in pages]


def reader_in(folder: Path, installed: Path) -> Reader:
    reader = Reader(folder / "reader", {"PYTHONPATH": str(installed)})
    reader.folder.mkdir()
    return reader


def test_the_pages_show_the_files_of_the_template() -> None:
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        assert with_modules(page) == page, path.name


@pytest.mark.slow
def test_the_commands_of_the_pages_print_what_these_show(tmp_path: Path, installed: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in PAGES]
    assert followed(pages, reader_in(tmp_path, installed)) == pages


@pytest.mark.slow
def test_the_template_passes_its_tests_once_it_is_renamed_as_its_page_says(tmp_path: Path) -> None:
    (renaming,) = re.findall(r"^    (mv .*\n    grep .*)$", (TEMPLATE / "README.md").read_text(), re.MULTILINE)
    copy = install_copy(tmp_path, renaming)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error"], cwd=copy, text=True, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert not list(copy.rglob("deviate_lab"))


# ---------------------------------------------------------------- travels

Deviate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def deviate(project: Path, tmp_path: Path) -> Deviate:
    """Runs `deviate …` with packages in a project whose script uses both libraries."""
    (project / "train.py").write_text(SCRIPT)
    library = tmp_path / "library"
    library.mkdir()
    (library / "labbook.py").write_text(LABBOOK)
    (library / "labnet.py").write_text(LABNET)

    def run(*words: str, packages: Path | None) -> subprocess.CompletedProcess[str]:
        paths = [str(packages)] if packages else []
        return subprocess.run(
            [sys.executable, "-c", PROGRAM.format(paths=paths), *words], cwd=project, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(library), "COLUMNS": "120"}, check=False,
        )  # fmt: skip

    return run


def events_of(project: Path, name: str) -> list[str]:
    """The events of each run."""
    folders = sorted((project / f".deviate/experiments/{name}/runs").iterdir())
    return ["".join(path.read_text() for path in folder.glob("attempt-*/events-*.jsonl")) for folder in folders]


@pytest.mark.slow
def test_a_sink_and_an_adapter_travel_to_another_python_and_runs_go_on_with_the_copies(
    project: Path, deviate: Deviate, installed: Path, interpreters
) -> None:  # type: ignore[no-untyped-def]
    def check() -> None:
        runs = events_of(project, "t")
        assert [len(re.findall(r"^\[\d", text, re.MULTILINE)) for text in runs] == [6, 6]
        assert [text.count('["seed", "labnet.seed", "0", "train.py", 6, "replaced"]') for text in runs] == [1, 1]
        assert ['"python": "3.8.' in text for text in runs] == [True, True]

    words = ("train.py", "--runs", "2", "--name", "t", "--python", str(interpreters("3.8")))
    done = deviate("run", *words, packages=installed)
    assert done.returncode == 0, done.stderr
    check()
    folder = project / ".deviate/experiments/t"
    plan = json.loads((folder / "experiment.json").read_text())
    assert [(it["group"], it["package"], it["version"]) for it in plan["plugins"]] == [
        ("deviate.sinks", "deviate-lab", "1.0"),
        ("deviate.adapters", "deviate-lab", "1.0"),
    ]
    copied = folder / "snapshot/guest/_deviate_guest/plugins/deviate_lab.sink.py"
    assert copied.read_text() == (TEMPLATE / "src/deviate_lab/sink.py").read_text()

    for run in (folder / "runs").iterdir():
        shutil.rmtree(run)
    resumed = deviate("resume", "t", packages=None)
    assert resumed.returncode == 0, resumed.stderr
    check()


def test_an_experiment_without_plugins_says_nothing_of_them(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text("import random\nfor epoch in range(3):\n    print('accuracy', random.random())\n")
    deviate = deviate_in(project)
    assert deviate("run", "train.py", "--runs", "2", "--name", "t", "--plan-only").code == 0
    folder = project / ".deviate/experiments/t"
    assert json.loads((folder / "experiment.json").read_text())["plugins"] == []
    assert not list((folder / "snapshot/guest").rglob("plugins"))
    assert deviate("plugins").out.startswith(f"No plug-ins are installed in {sys.prefix}, ")
    assert json.loads(deviate("plugins", "--format", "json").out) == []


# ---------------------------------------------------------------- broken plug-ins


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package whose plug-ins cannot be used, each for another reason."""
    folder = tmp_path_factory.mktemp("broken")
    about = folder / "broken_lab-0.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-lab\nVersion: 0.3\n")
    groups: dict[str, list[str]] = {}
    for name, (group, text) in BROKEN.items():
        groups.setdefault(group, []).append(f"{name} = broken_{name}")
        if text is not None:
            (folder / f"broken_{name}.py").write_text(text + "\n")
    (about / "entry_points.txt").write_text("\n".join("\n".join([f"[{it}]", *groups[it]]) for it in groups) + "\n")
    return folder


def test_a_broken_plugin_is_named_with_the_reason_and_what_to_do(deviate: Deviate, broken: Path) -> None:
    done = deviate("plugins", "--format", "json", packages=broken)
    assert (done.returncode, done.stderr) == (0, "")
    entries = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert {name: entry["adds"] for name, entry in entries.items()} == {name: [] for name in BROKEN}
    assert {name: entry["problem"] for name, entry in entries.items()} == {name: REASONS[name][0] for name in BROKEN}
    assert {name: REASONS[name][1] in entry["remedy"] for name, entry in entries.items()} == dict.fromkeys(BROKEN, True)


def test_a_verb_names_broken_plugins_of_a_kind_and_uses_the_others(deviate: Deviate, broken: Path) -> None:
    done = deviate("run", "train.py", "--executor", "nowhere", packages=broken)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("Warning: deviate.executors")] == [
        f"Warning: deviate.executors: {name} of broken-lab 0.3 is left out: {REASONS[name][0]} (see deviate plugins)"
        for name in ("library", "taken")
    ]
    assert "Error: --executor nowhere is none of local, slurm, ray" in lines


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        install_copy(Path(scratch))
        pages = [with_modules(path.read_text(encoding="utf-8")) for path in PAGES]
        pages = followed(pages, reader_in(Path(scratch), Path(scratch, "installed")))
        for path, page in zip(PAGES, pages, strict=True):
            path.write_text(page, encoding="utf-8")
