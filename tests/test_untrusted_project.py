"""A stranger's project that tries to run programs, or to have files removed, when somebody only looks at it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frozen import analysis_of
from recorded import edit_record

from deviate.analysis.analyze import analyze
from deviate.analysis.entries import project_files
from deviate.base.git import project_root
from deviate.errors import RecordError
from deviate.instrument.snapshot import freeze
from deviate.model.records import Series
from deviate.records.experiments import read
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importing import write_imported
from deviate.records.plans import read_plan
from deviate.replay.cleanup import clean_up, clean_up_cache
from deviate.report.files import report_folder

TRAIN = "for epoch in range(2):\n    acc = epoch / 2\n    print('acc', acc)\n"


def git(folder: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where programs of the stranger's leave a mark when they are run."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def stranger(tmp_path: Path, marks: Path) -> Path:
    """A repository whose own settings name a program wherever git takes one, and a submodule with the same."""
    root = tmp_path / "stranger"
    root.mkdir()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch "{marks}/$(basename "$0")-$1"\ncat\n')
    program.chmod(0o755)
    inner = tmp_path / "inner"
    for folder in (inner, root):
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(TRAIN)
        (folder / "data.bin").write_text("data")
        (folder / ".gitattributes").write_text("*.bin filter=evil diff=evil\n*.py filter=other diff=evil\n")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "first")
    git(root, "submodule", "add", "-q", str(inner), "sub")
    git(root, "commit", "-q", "-m", "second")
    for folder in (root, root / "sub"):
        settings = {
            "core.fsmonitor": "fsmonitor", "core.hooksPath": "", "core.sshCommand": "ssh", "core.pager": "pager",
            "filter.evil.clean": "clean", "filter.evil.smudge": "smudge", "filter.evil.process": "",
            "filter.evil.required": "", "filter.other.process": "process", "filter.other.required": "",
            "diff.external": "external", "diff.evil.command": "command", "diff.evil.textconv": "textconv",
        }  # fmt: skip
        for name, word in settings.items():
            value = f"{program} {word}" if word else {"core.hooksPath": str(tmp_path / "hooks")}.get(name, "true")
            if name == "filter.evil.process":
                continue
            git(folder, "config", name, value)
        time.sleep(0.01)
        for name in ("train.py", "data.bin"):  # what differs from the index is filtered to be compared
            (folder / name).write_text((folder / name).read_text() + "\n")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "post-checkout", "pre-commit"):
        shutil.copy(program, hooks / hook)
    for path in marks.iterdir():
        path.unlink()
    return root


def test_freezing_it_runs_no_program_that_its_settings_name(stranger: Path, marks: Path, tmp_path: Path) -> None:
    for words in ("status", "diff"):
        subprocess.run(["git", *words.split()], cwd=stranger, check=False, capture_output=True)
    ran = {path.name for path in marks.iterdir()}
    assert ran >= {"program-fsmonitor", "program-clean", "program-process"}
    assert any(name.startswith("post-index-change") for name in ran)
    for path in marks.iterdir():
        path.unlink()
    project_root(stranger)
    project_files(stranger)
    snapshot = freeze(analyze(stranger / "train.py", stranger), tmp_path / "snapshot")
    assert list(marks.iterdir()) == []
    document = json.loads((snapshot.folder / "manifest.json").read_text())
    assert document["git"]["is_dirty"]
    assert "+++ b/train.py" in (snapshot.folder / "git.diff").read_text()
    assert not [it for it in document["warnings"] if "git history" in it]


def test_settings_that_cannot_be_overridden_keep_git_out(stranger: Path, marks: Path, tmp_path: Path) -> None:
    with (stranger / ".git/config").open("a") as file:
        file.write(f'[filter "a=b"]\n\tclean = touch {marks}/unnamed\n')
    (stranger / ".gitattributes").write_text("*.bin filter=a=b\n")
    snapshot = freeze(analysis_of(stranger), tmp_path / "snapshot")
    assert not (marks / "unnamed").exists()
    assert json.loads((snapshot.folder / "manifest.json").read_text())["git"] is None


SHADOW = "open({!r}, 'a').write(__name__)\nraise ImportError('of the project')\n"


@pytest.mark.parametrize("path", ["", ".", "src:", ":"])
def test_the_doctor_runs_nothing_of_the_folder_it_is_called_in(
    tmp_path: Path,
    marks: Path,
    deviate_in: Callable[[Path], Callable[..., Any]],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    for name in ("json", "sys", "platform", "importlib", "sitecustomize", "usercustomize", "torch", "ctypes"):
        for folder in (project, project / "src"):
            (folder / f"{name}.py").write_text(SHADOW.format(str(marks / name)))
    if path:
        monkeypatch.setenv("PYTHONPATH", path)
    from deviate.doctor.examine import _Asker

    monkeypatch.chdir(project)
    place = tmp_path / "asked"
    place.mkdir()
    first = _Asker(sys.executable, place, 60.0, lambda *_: None).begin()
    assert first.texts("version_info")[:2] == tuple(map(str, sys.version_info[:2]))
    assert list(marks.iterdir()) == []


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """The `.deviate/` folder of a project, with an experiment that came with it."""
    run = ImportedRun("a", {"acc": Series((0,), (0.5,))})
    write_imported(tmp_path / "project/.deviate", Imported("x", "csv", (tmp_path / "x.csv",), (run,)), "x")
    return tmp_path / "project/.deviate"


@pytest.mark.parametrize("name", ["../../outside", "/outside", "a/b", "..", ""])
def test_an_experiment_cannot_be_called_like_a_path(shipped: Path, name: str) -> None:
    edit_record(shipped / "experiments/x/experiment.json", name=name)
    with pytest.raises(RecordError, match=r"experiment\.json is damaged"):
        read_plan(shipped / "experiments/x")


@pytest.mark.parametrize("name", ["../../outside", "/outside", "a/b", "..", ".", "", "a\0b"])
def test_reports_stay_in_their_folder_whatever_experiments_are_called(shipped: Path, name: str) -> None:
    folder = Path(os.path.normpath(report_folder(shipped, [name])))
    assert folder.parent == shipped / "reports"


@pytest.mark.parametrize("link", ["cache", "experiments/x", "experiments/x/runs", "experiments/x/runs/RUN"])
def test_cleaning_removes_nothing_behind_a_link(shipped: Path, tmp_path: Path, link: str) -> None:
    precious = tmp_path / "precious"
    (run,) = (shipped / "experiments/x/runs").iterdir()
    place = shipped / link.replace("RUN", run.name)
    if place.exists():
        place.rename(precious)
    (precious / "attempt-1/work/thesis").mkdir(parents=True)
    (precious / "work").mkdir(exist_ok=True)
    for path in (precious, *precious.rglob("*")):
        os.utime(path, (0, 0))
    place.symlink_to(precious, target_is_directory=True)
    before = sorted(precious.rglob("*"))
    told = clean_up_cache(shipped) if link == "cache" else clean_up(shipped, "x")
    assert "link" in told.problem
    assert sorted(precious.rglob("*")) == before


def test_a_claim_can_name_no_folder_for_removal(shipped: Path, tmp_path: Path) -> None:
    (attempt,) = (shipped / "experiments/x/runs").glob("*/attempt-1")
    precious = tmp_path / "deviate-thesis"
    precious.mkdir()
    claim = {
        "schema": 1, "host": os.uname().nodename, "pid": 1, "birth": "", "started": 0.0, "heartbeat": 0.0,
        "process": None, "process_birth": "", "device": "", "temporary": str(precious), "continues": None,
        "boot": "", "namespace": "",
    }  # fmt: skip
    (attempt / "claim.json").write_text("{}")
    edit_record(attempt / "claim.json", **claim)
    clean_up(shipped, "x")
    assert precious.is_dir()


def test_the_records_of_a_stranger_name_no_file_outside(shipped: Path) -> None:
    (attempt,) = (shipped / "experiments/x/runs").glob("*/attempt-1")
    for name in ("../../../../../../../../etc/passwd", "/etc/passwd"):
        edit_record(attempt / "result.json", files={name: [0, hashlib.sha256().hexdigest()]})
        (experiment,) = read(shipped, ["x"])
        assert experiment.runs[0].reason.startswith("damaged: result.json")


LOOKING = (
    "analyze train.py", "analyze", "analyze train.py --save", "run train.py --dry-run", "diverge train.py --dry-run",
    "overhead train.py --dry-run", "list", "show x", "report x", "compare x x.csv", "check x x.csv",
    "plan --effect 0.5", "import x.csv --name y", "doctor", "clean --dry-run", "clean",
)  # fmt: skip
"""Verbs that SECURITY.md promises to run no code of the project."""


@pytest.mark.slow
def test_verbs_that_look_run_nothing_of_the_project(
    stranger: Path, marks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("PYTHONPATH", raising=False)  # a relative entry would be Python's to obey, before ours begins
    for name in ("json", "platform", "sitecustomize", "usercustomize", "numpy", "helper"):
        (stranger / f"{name}.py").write_text(SHADOW.format(str(marks / name)))
    (stranger / "train.py").write_text(f"import helper\nopen({str(marks / 'train')!r}, 'w')\n{TRAIN}")
    (stranger / "x.csv").write_text("seed,acc\n" + "".join(f"{i},{0.5 + i / 100}\n" for i in range(6)))
    run = ImportedRun("a", {"acc": Series((0,), (0.5,))})
    write_imported(stranger / ".deviate", Imported("x", "csv", (tmp_path / "x.csv",), (run,)), "x")
    outside = {path for path in tmp_path.rglob("*") if stranger not in path.parents}
    for words in LOOKING:
        done = subprocess.run(
            [Path(sys.executable).with_name("deviate"), *words.split()],
            cwd=stranger, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, words
        assert [path.name for path in marks.iterdir()] == [], (words, done.stdout, done.stderr)
    new = {path for path in tmp_path.rglob("*") if stranger not in path.parents} - outside
    assert {path.name for path in new} <= {"state", "deviate", "key"}
