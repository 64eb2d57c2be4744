"""What is installed is whole: the wheel, its types, the guest that travels, and the commands that the README gives."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from pages import blocks
from wheels import Distributions, build_distributions

ROOT = Path(__file__).parents[1]
GUEST = [
    *sorted((ROOT / "deviate/guest").rglob("*.py")),
    *sorted((ROOT / "deviate/sinks").rglob("*.py")),
    ROOT / "deviate/eventlog.py",
    ROOT / "deviate/logs.py",
]


def files_of(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_holds_every_source_file_and_template(distributions: Distributions) -> None:
    in_wheel = {name for name in files_of(distributions.wheel) if name.startswith("deviate/")}
    sources = {f"deviate/{path.relative_to(ROOT / 'deviate')}" for path in (ROOT / "deviate").rglob("*.py")}
    templates = {f"deviate/{path.relative_to(ROOT)}" for path in (ROOT / "templates").rglob("*") if path.is_file()}
    assert templates
    assert {"deviate/guest/sitecustomize.py", "deviate/eventlog.py"} <= sources
    assert sources | templates | {"deviate/py.typed"} == in_wheel


@pytest.mark.slow
def test_the_source_distribution_gives_the_same_wheel(distributions: Distributions, tmp_path: Path) -> None:
    with tarfile.open(distributions.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert files_of(build_distributions(tmp_path / "built", source).wheel) == files_of(distributions.wheel)


@pytest.mark.slow
def test_an_index_accepts_the_distributions(distributions: Distributions) -> None:
    for check in (["twine", "check", "--strict", *distributions], ["check_wheel_contents", distributions.wheel]):
        done = subprocess.run([sys.executable, "-m", *check], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


USER = """\
from typing import assert_type

import numpy as np
from deviate.api import Figure
from deviate.errors import DeviateError, InputError, RecordError, RunError, ToolError
from deviate.guest.adapter_context import AdapterContext
from deviate.guest.observations import Observations
from deviate.guest.observers.arrays import Arrays
from deviate.guest.streams import Bank
from deviate.logs import log
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric, Settings, Spec
from deviate.model.records import Experiment, Run, Series
from deviate.records.importers import Imported, ImportedRun, importer
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.protocol import Executor, Order, Outcome, RunUpdate, executor
from deviate.report.document import Document, Report
from deviate.report.forms.registry import document_form, render
from deviate.report.parts.build import build_report
from deviate.sinks import Message, Record, Row, Scalar, Summary, Table, Template, by_keyword, given, methods, sink
from deviate.stats.estimates.effect import hedges_g
from deviate.stats.registry import Statistic, statistic
from deviate.stats.hypothesis.two_sample import welch_interval

import deviate

results = deviate.compare([0.71, 0.72], np.array([0.73, 0.75]), direction="max", names=("old", "new"))
assert_type(results, deviate.Results)
assert_type(results.verdicts, dict[str, str])
assert_type(results.comparisons["new"].figure("curves-loss"), Figure)
assert_type(deviate.describe("base").findings, Findings)
assert_type(render(build_report(results.findings), "markdown"), str)
experiments = deviate.read("base", "wide:control")
assert_type(experiments, tuple[Experiment, ...])
assert_type(experiments[0].runs[0], Run)
assert_type(experiments[0].runs[0].series["loss"], Series)
assert_type(hedges_g([0.71, 0.72], [0.73, 0.75]), float | Unavailable)
assert_type(welch_interval([0.71, 0.72], [0.73, 0.75]), Interval | Unavailable)
deviate.log("loss", 0.3)
deviate.compare([0.71], direction="up")  # type: ignore[arg-type]
deviate.nothing  # type: ignore[attr-defined]
"""
"""What users and extensions may rely on, and two mistakes that are to be found."""
SHOWN = {"notebook.md": "", "results-from-elsewhere.md": "", "add-a-form.md": "chat.py"}
"""Pages to the title of blocks that one reader puts together, beside the modules of an extension in all pages."""


@pytest.mark.slow
def test_a_strict_type_checker_accepts_what_users_write(installation: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    for page in (ROOT / "docs/how-to").glob("*.md"):
        texts: dict[str, str] = {}
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "python" and ("deviate_lab/" in block.title or SHOWN.get(page.name) == block.title):
                name = Path(block.title or "page.py").name
                texts[name] = f"{texts.get(name, '')}\n{block.text}"
        folder = tmp_path / page.stem.replace("-", "_")
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")

    # Of pandas there are types in a package of its own, which deviate does not ask for.
    options = ["--strict", "--disable-error-code=import-untyped", "--explicit-package-bases", "--cache-dir", os.devnull]
    command = [sys.executable, "-m", "mypy", *options, "--python-executable", str(installation / "python"), "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def find_packages(path: Path) -> set[str]:
    """Top-level packages that a file of the guest imports, besides the standard library."""
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            imported.add(node.module.partition(".")[0])
    # Its private name and the user's own module of that name; deviate itself is not there where the guest runs.
    known = {"_deviate_guest", "sitecustomize"} if path.name == "sitecustomize.py" else set()
    return imported - known - sys.stdlib_module_names


def test_what_travels_with_the_guest_imports_the_standard_library_only() -> None:
    assert len(GUEST) > 100
    assert {path: packages for path in GUEST if (packages := find_packages(path))} == {}


def test_the_commands_of_the_readme_name_what_there_is() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("main-job", "tests"):
        found = re.search(rf"<!-- {name} -->\n```sh\n(.+)\n```\n<!-- /{name} -->\n", readme)
        assert found, f"no command of one line between the comments {name}"
        for path in re.findall(r"\b(?:examples|scripts)/\S+", found[1]):
            assert (ROOT / path).is_file()


@pytest.mark.parametrize(
    "script", ["scripts/check", "scripts/lowest", "scripts/xla", "scripts/on-accelerator", ".ci/run"]
)
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    assert subprocess.run(["bash", "-n", ROOT / script], check=False).returncode == 0


def test_the_list_of_lowest_versions_has_every_dependency_and_pandas() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = [ROOT / "scripts/lowest"]
    done = subprocess.run(script, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = [*project["dependencies"], *project["optional-dependencies"]["pandas"]]
    assert done.stdout.splitlines() == [requirement.replace(">=", "==") for requirement in allowed]
