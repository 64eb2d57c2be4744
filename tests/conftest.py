"""Fixtures for all rooms: what a test needs from the machine, and a project folder of its own."""

import functools
import gc
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import forked
import pytest
from hypothesis import HealthCheck, settings
from packaging import requirements
from warm import Warm
from wheels import Distributions, build_distributions, install_alone

REQUIRE = "DEVIATE_TEST_REQUIRE"
"""Set to `all`, it makes a missing interpreter or framework a failure; otherwise the test is skipped."""

# No deadline of 200 ms and no check of how fast examples are made: a stall of a loaded machine is no defect. Other
# examples are drawn each time, so that many runs of the tests try more than these few.
settings.register_profile("tests", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cold",
        nargs="?",
        const="all",
        choices=("all", *forked.GROUPS),
        help="start scripts that import this framework in new processes, not from a fork server; without a name all",
    )


PROGRAMS_FILE = "DEVIATE_TEST_PROGRAMS"
"""Names a file that is made once programs such as Chromium are installed, beside the packages of the tests."""


def pytest_sessionstart() -> None:
    """Wait for programs that are still being installed."""
    awaited = os.environ.get(PROGRAMS_FILE)
    deadline = time.monotonic() + 600
    while awaited and not Path(awaited).exists() and time.monotonic() < deadline:
        time.sleep(1)


def pytest_configure(config: pytest.Config) -> None:
    """Set up what all tests of this process have in common.

    Signals that a shell's background jobs and `nohup` ignore are restored: what the tests start would ignore them too.
    """
    if config.getoption("cold"):
        os.environ[forked.COLD] = config.getoption("cold")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Leave what stays until the end, thousands of tests and the frameworks, out of each search for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


collect_ignore = ["support/routes", "support/held", "series/cases", "diverge/cases"] + ["xla"] * (
    importlib.util.find_spec("torch_xla") is None
)
"""Scripts that tests run: they train, or import what only a run finds; and the tests of `scripts/xla`."""

QUICK = ("analysis", "base", "diverge", "instrument", "records", "report", "sinks", "stability", "stats")
"""Folders of tests that start few programs."""


LONGEST = (
    "test_accessibility.py",
    "test_cases.py",
    "test_contract.py",
    "test_diverge_long.py",
    "test_fidelity.py",
    "test_headline_cases.py",
    "test_noise.py",
    "test_observers.py",
    "test_readme.py",
    "test_reading.py",
    "test_routes.py",
    "test_survival.py",
    "test_tutorial.py",
    "test_untrusted_project.py",
)
"""Files of the slow tier that take half a minute or more; one that is begun last leaves the other core without work."""


@pytest.hookimpl(trylast=True)  # `-m` has chosen its tier by then
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long or starts programs goes first, so that short files are left for the core that is done first."""
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        is_quick = item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in QUICK
        return 0 if item.path.name in LONGEST and item.get_closest_marker("slow") else 2 if is_quick else 1

    items.sort(key=rank)


PROGRAMS = frozenset({"chromium", "pdflatex"})
"""What tests ask for that is neither an interpreter nor a module."""


class Requirement(Protocol):
    """Goes on if the machine has the module, the program or, for a name such as "python3.8", the interpreter."""

    def __call__(self, name: str) -> None: ...


class Interpreters(Protocol):
    """The path of an interpreter; an optional one is never asked for by `DEVIATE_TEST_REQUIRE`."""

    def __call__(self, version: str, *, optional: bool = False) -> Path: ...


@functools.cache
def find_interpreter(version: str) -> Path | None:
    """The interpreter of a version such as "3.8": on PATH, else among those of pyenv; None when there is none.

    A candidate counts only if it runs and says that version: pyenv puts a name on PATH for every version that it
    has, and most of them only print an error.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    on_path = shutil.which(f"python{version}")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    question = "import sys; sys.stdout.write('%d.%d ' % sys.version_info[:2] + sys.executable)"
    for candidate in candidates:
        answer = subprocess.run([candidate, "-c", question], capture_output=True, text=True, check=False)
        found, _, executable = answer.stdout.partition(" ")
        if answer.returncode == 0 and found == version:
            return Path(executable)
    return None


def miss(name: str, *, optional: bool = False) -> NoReturn:
    """End the test, for the machine lacks what it needs: skipped, or failed where that was asked for."""
    message = f"{name} is not on this machine"
    if os.environ.get(REQUIRE) == "all" and not optional:
        pytest.fail(f"{message}, and {REQUIRE} asks for it", pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def interpreters() -> Interpreters:
    """`interpreters("3.8")` is the path of that Python, or the end of the test."""

    def find(version: str, *, optional: bool = False) -> Path:
        return find_interpreter(version) or miss(f"python{version}", optional=optional)

    return find


def check_requirement(name: str) -> None:
    """Skip or fail the test if the machine lacks a module, a program or an interpreter; nothing is imported.

    A module may have a lower bound, `flax>=0.12`, where a script of the test uses what older versions do not have.
    """
    if ">=" in name:
        requirement = requirements.Requirement(name)
        is_there = importlib.util.find_spec(requirement.name) is not None and requirement.specifier.contains(
            importlib.metadata.version(requirement.name), prereleases=True
        )
    elif name.startswith("python"):
        is_there = find_interpreter(name.removeprefix("python")) is not None
    elif name in PROGRAMS:
        is_there = shutil.which(name) is not None
    else:
        is_there = importlib.util.find_spec(name) is not None
    if not is_there:
        miss(name)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Check what `@pytest.mark.requires("torch", …)` names."""
    for mark in item.iter_markers("requires"):
        for name in mark.args:
            check_requirement(name)


@pytest.fixture(scope="session")
def require() -> Requirement:
    """`require("tensorflow")` goes on, or ends the test."""
    return check_requirement


@dataclass(frozen=True)
class Answer:
    """What a command left on its way out."""

    code: int
    out: str
    err: str

    @property
    def both(self) -> str:
        return self.out + self.err


@pytest.fixture(scope="session")
def deviate_in() -> Iterator[Callable[[Path], Callable[..., Answer]]]:
    """`deviate_in(folder)(…)` runs the command line there, with the interpreter of the tests first on PATH.

    Its output goes to files, as wide as `columns`; with None as wide as for any file.
    """
    warm = Warm()

    def runner(folder: Path) -> Callable[..., Answer]:
        def run(*arguments: str, columns: int | None = 120) -> Answer:
            variables = {name: text for name, text in os.environ.items() if name not in {"COLUMNS", "LINES"}}
            variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            if columns:
                variables["COLUMNS"] = str(columns)
            done = warm.run(arguments, folder, variables)
            assert "Traceback" not in done.err, done.err
            return Answer(*done)

        return run

    yield runner
    warm.end()


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.TempPathFactory]:
    """Makes folders each in a parent of its own: a run links what lies beside a project, which would be hundreds."""
    make = tmp_path_factory.mktemp

    def mktemp(basename: str, numbered: bool = True) -> Path:  # noqa: FBT001, FBT002  (as in pytest)
        folder = make(basename, numbered) / "of"
        folder.mkdir()
        return folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tmp_path_factory, "mktemp", mktemp)
        yield tmp_path_factory


@pytest.fixture
def analyse(tmp_path: Path) -> Callable[[str], Any]:
    """The analysis of a snippet as a script."""
    from deviate.analysis.analyze import analyze

    def run(text: str) -> Any:
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(text), encoding="utf-8")
        return analyze(script, tmp_path)

    return run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, the working folder of the test, in a parent folder that is the test's own too."""
    root = tmp_path / "parent" / "root"
    root.mkdir(parents=True)
    monkeypatch.chdir(root)
    for name in [name for name in os.environ if name.startswith("DEVIATE_") and name != REQUIRE]:
        monkeypatch.delenv(name)
    return root


@pytest.fixture(scope="session")
def manual(tmp_path_factory: pytest.TempPathFactory, require: Requirement) -> Path:
    """The folder of the manual as MkDocs builds it, with warnings as errors."""
    require("mkdocs")
    folder = tmp_path_factory.mktemp("manual")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of the examples."""
    return Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    return build_distributions(tmp_path_factory.mktemp("distributions"))


@pytest.fixture(scope="session")
def installation(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel, what it requires, and what the tutorial's script imports."""
    return install_alone(distributions.wheel, tmp_path_factory.mktemp("elsewhere") / "venv", "scikit-learn")
