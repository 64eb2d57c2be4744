"""What is installed is whole: the wheel, the guest that travels, and the commands that the README gives."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUEST = [
    *sorted((ROOT / "deviate/guest").rglob("*.py")),
    *sorted((ROOT / "deviate/sinks").rglob("*.py")),
    ROOT / "deviate/eventlog.py",
    ROOT / "deviate/logs.py",
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new virtual environment with deviate from the wheel, its dependencies borrowed from ours.

    They are borrowed through a path file: path files in a folder that is borrowed so are not read, so an editable
    install of deviate stays out of sight.
    """
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    Path(packages, "borrowed.pth").write_text(
        "\n".join(sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    )
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", str(wheel)]
    subprocess.run([str(folder / "bin/python"), *install], check=True)
    return folder / "bin"


def test_the_wheel_holds_every_source_file_and_template(wheel: Path) -> None:
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    sources = {f"deviate/{path.relative_to(ROOT / 'deviate')}" for path in (ROOT / "deviate").rglob("*.py")}
    templates = {f"deviate/{path.relative_to(ROOT)}" for path in (ROOT / "templates").rglob("*") if path.is_file()}
    assert templates
    assert {"deviate/guest/sitecustomize.py", "deviate/eventlog.py"} <= sources
    assert sources | templates == {name for name in in_wheel if name.startswith("deviate/")}


def test_a_wheel_installed_elsewhere_runs_the_tiny_example(installation: Path, examples: Path, project: Path) -> None:
    shutil.copy(examples / "tiny.py", project)
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    environment |= {"PATH": f"{installation}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}

    python = [str(installation / "python"), "-c", "import deviate; print(deviate.__file__)"]
    imported = subprocess.run(python, env=environment, cwd=project, capture_output=True, text=True, check=True)
    assert Path(imported.stdout.strip()).is_relative_to(installation.parent)

    command = [str(installation / "deviate"), "run", "tiny.py", "--runs", "3", "--name", "t", "--", "--epochs", "3"]
    done = subprocess.run(command, env=environment, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    printed = re.search(r"^Report\s+(\S+\.html)$", done.stdout, flags=re.MULTILINE)
    assert printed, done.stdout
    report = (project / printed[1]).read_text(encoding="utf-8")
    assert "accuracy" in report
    assert "<svg" in report


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


@pytest.mark.parametrize("script", ["scripts/check", ".ci/run"])
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    assert subprocess.run(["bash", "-n", ROOT / script], check=False).returncode == 0
