"""Answers of frameworks are kept until the environment changes, and frameworks that import the same share a process."""

import dataclasses
import os
import sys
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from deviate.doctor import children, examine
from deviate.doctor.probes.python import FRAMEWORKS
from deviate.model.diagnosis import Diagnosis, Framework

WORKS = "__version__ = '1.2.3'\n"
DIES = "import os\nos._exit(0)"


@pytest.fixture
def asked(bare: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[Diagnosis, list[str]]]:
    """Examines the interpreter; gives the diagnosis, and the frameworks of each process that was started."""
    started: list[str] = []
    original = children._start

    def watched(question: children.ChildQuestion, folder: Path) -> children._Child:
        names = question.command[3:] if str(examine.PROBE) in question.command else ()
        started.extend([" ".join(names)] if names and names != ("python",) else [])
        return original(question, folder)

    monkeypatch.setattr(children, "_start", watched)

    def act() -> tuple[Diagnosis, list[str]]:
        started.clear()
        diagnosis = examine.examine(bare)
        return dataclasses.replace(diagnosis, wall_time_s=0), list(started)

    return act


def framework(diagnosis: Diagnosis, name: str) -> Framework:
    return next(item for item in diagnosis.frameworks if item.name == name)


def test_every_framework_is_asked_in_one_process() -> None:
    questions = list(chain(*examine.LINES))
    assert set(Counter(questions).values()) == {1}
    assert {name for name in questions if "." not in name} == set(FRAMEWORKS)


def test_the_second_time_nothing_is_imported_and_all_is_as_before(asked, fake: Callable[[str, str], None]) -> None:  # type: ignore[no-untyped-def]
    fake("gymnasium", WORKS)
    fake("catboost", WORKS)
    first, started = asked()
    assert started == ["catboost gymnasium"]
    assert asked() == (first, [])
    assert framework(first, "gymnasium").version == "1.2.3"


@pytest.mark.parametrize("change", ["package", "framework", "variable", "driver", "code", "path"])
def test_a_change_of_the_environment_asks_anew(
    change: str, asked, fake: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    fake("gymnasium", WORKS)
    asked()
    packages = Path(os.environ["PYTHONPATH"])
    if change == "package":
        (packages / "cuda-13.dist-info").mkdir()
    elif change == "framework":
        later = WORKS.replace("1.2.3", "1.2.40")  # of another size: bytecode of the same second would count as current
        (packages / "gymnasium/__init__.py").write_text(later)
    elif change == "variable":
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    elif change == "driver":
        program = tmp_path / "bin/nvidia-smi"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho 'H200, 570.1, 143771 MiB'\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    elif change == "code":
        monkeypatch.setattr("deviate.base.kept.code_state", lambda: "later")
    else:
        monkeypatch.setenv("PYTHONPATH", f"{packages}{os.pathsep}{tmp_path}")
    diagnosis, started = asked()
    assert started == ["gymnasium"]
    assert framework(diagnosis, "gymnasium").version == ("1.2.40" if change == "framework" else "1.2.3")
    assert asked() == (diagnosis, [])


def test_what_has_failed_is_asked_again_and_it_alone(asked, fake: Callable[[str, str], None]) -> None:  # type: ignore[no-untyped-def]
    fake("jax", DIES)
    fake("flax", "raise ImportError('no such library')")
    fake("optax", WORKS + "apply_updates = 1")
    first, started = asked()
    assert started == ["jax flax optax", "jax.accepts", "flax", "optax"]
    assert [framework(first, name).state for name in ("jax", "flax", "optax")] == ["broken", "broken", "works"]
    assert asked()[1] == ["jax flax", "jax.accepts", "flax"]


def test_what_works_alone_is_not_broken_by_what_came_before(asked, fake: Callable[[str, str], None]) -> None:  # type: ignore[no-untyped-def]
    fake("catboost", WORKS)
    fake("gymnasium", f"import sys\nif 'catboost' in sys.modules:\n    import os\n    os._exit(1)\n{WORKS}")
    diagnosis, started = asked()
    assert started == ["catboost gymnasium", "gymnasium"]
    assert framework(diagnosis, "gymnasium").state == "works"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"values": {}}'])
def test_a_damaged_file_is_made_anew(text: str, asked, fake: Callable[[str, str], None], cache: Path) -> None:  # type: ignore[no-untyped-def]
    fake("gymnasium", WORKS)
    asked()
    (file,) = cache.iterdir()
    file.write_text(text)
    assert [asked()[1], asked()[1]] == [["gymnasium"], []]


def test_without_a_place_to_keep_answers_they_are_asked_each_time(
    asked, fake: Callable[[str, str], None], cache: Path
) -> None:  # type: ignore[no-untyped-def]
    fake("gymnasium", WORKS)
    cache.parent.mkdir()
    cache.write_text("a file in place of the folder")
    assert [asked()[1], asked()[1]] == [["gymnasium"], ["gymnasium"]]


def test_variables_are_kept_as_a_digest_only(
    asked, fake: Callable[[str, str], None], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    fake("gymnasium", WORKS)
    monkeypatch.setenv("TORCH_TOKEN", "hunter2")
    asked()
    (file,) = cache.iterdir()
    assert "hunter2" not in file.read_text()


@pytest.mark.slow
def test_the_second_look_at_real_frameworks_is_quick() -> None:
    first = examine.examine(sys.executable, timeout_s=600)
    second = examine.examine(sys.executable)
    assert second.wall_time_s < 5
    assert dataclasses.replace(second, wall_time_s=0) == dataclasses.replace(first, wall_time_s=0)
