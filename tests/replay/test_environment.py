"""What is written beside a run about what it was started in."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import edit_record

from deviate.eventlog import encode
from deviate.model.plan import Spec
from deviate.records.environment import facts_of, read_environment, read_platform
from deviate.records.layout import attempt_folder, runs_folder, spec_file
from deviate.records.runs import run_id, write_spec
from deviate.records.schema import SCHEMA
from deviate.records.snapshot import read_manifest
from deviate.replay.environment import Environments, current_platform
from deviate.replay.workcopy import WorkCopy, child_environment, make_work_copy

SECRET = "tomato-soup-12"
TOKEN = "hf_" + "aB3" * 10


class Started:
    """A run that is started as an executor would start it."""

    def __init__(self, frozen: Any, spec: Spec, base: dict[str, str], number: int = 1) -> None:
        self.spec, self.manifest = spec, read_manifest(frozen.snapshot.folder)
        run = runs_folder(frozen.folder) / run_id(spec)
        self.attempt = attempt_folder(run, number)
        self.attempt.mkdir(parents=True)
        write_spec(spec_file(run), spec)
        copy: WorkCopy = make_work_copy(frozen.snapshot, self.manifest, self.attempt, spec.cwd)
        self.cwd = copy.cwd
        self.variables = child_environment(base, spec, frozen.snapshot, self.manifest, self.attempt, copy)

    def run(self, environments: Environments) -> dict[str, Any]:
        environments.begin(self.spec, self.cwd, self.variables)
        subprocess.run(self.spec.command, cwd=self.cwd, env=self.variables, check=True, capture_output=True)
        return self.write(environments)

    def write(self, environments: Environments) -> dict[str, Any]:
        environments.write(self.attempt, self.spec, self.manifest, self.cwd, self.variables)
        document: dict[str, Any] = json.loads((self.attempt / "environment.json").read_bytes())
        return document

    def platform(self) -> Any:
        found = read_environment(self.attempt)
        assert found is not None
        return read_platform(self.attempt.parents[2], found.platform)


@pytest.fixture
def base() -> dict[str, str]:
    """A shell that holds secrets and settings."""
    return {
        "PATH": os.environ["PATH"],
        "MY_TOKEN": SECRET,
        "OMP_NUM_THREADS": "3",
        "TF_X_API_KEY": "abc",
        "EDITOR": "vi",
        "TF_VAR_region": "eu",
        "TORCH_HOME": f"/x/{SECRET}",
    }


def test_a_run_has_its_fingerprint(frozen: Callable[..., Any], base: dict[str, str]) -> None:
    made = frozen("import numpy\n")
    (spec,) = made.specs(1, variant="algo")
    started = Started(made, spec, base)
    document = started.run(Environments(base))
    assert document["schema"] == SCHEMA
    assert document["frameworks"]["numpy"]
    assert document["threads"] == {"OMP_NUM_THREADS": "3"}
    assert document["variables"]["DEVIATE_VARIANT"] == "algo"
    assert "EDITOR" not in document["variables"]
    platform = started.platform()
    assert (
        platform.interpreter["path"] == os.path.realpath(Path(sys.executable).parent) + "/" + Path(sys.executable).name
    )
    assert platform.packages["numpy"] == document["frameworks"]["numpy"]
    assert (platform.shell["OMP_NUM_THREADS"], "TF_VAR_region" in platform.shell) == ("3", False)
    facts = facts_of(started.attempt)
    assert facts["interpreter"] == " ".join(sys.version.split())
    assert facts["packages"].startswith(f"{len(platform.packages)}, digest ")


def test_no_file_holds_a_secret(frozen: Callable[..., Any], base: dict[str, str]) -> None:
    made = frozen()
    command = (sys.executable, "train.py", "--api-key", "Zq7", f"--as={SECRET}", TOKEN, "DB_PASSWORD=Zq7")
    (spec,) = made.specs(1, command=command)
    spec = dataclasses.replace(spec, then=((sys.executable, "eval.py", "--token=Zq7"),))
    started = Started(made, spec, base)
    started.run(Environments(base))
    written = (started.attempt / "environment.json").read_text()
    written += "".join(path.read_text() for path in (made.folder / "environments").iterdir())
    written += "".join(path.read_text() for path in started.attempt.glob("events-*.jsonl"))
    for secret in ("Zq7", TOKEN, '"abc"'):
        assert secret not in written
    assert "TORCH_HOME" in json.loads((started.attempt / "environment.json").read_text())["variables"]
    assert SECRET not in written


def test_many_runs_share_one_list_of_packages(frozen: Callable[..., Any], base: dict[str, str]) -> None:
    made = frozen()
    environments = Environments(base)
    for spec in made.specs(3):
        Started(made, spec, base).write(environments)
    Started(made, made.specs(1)[0], base, number=2).write(Environments(base))
    assert len(list((made.folder / "environments").iterdir())) == 1


def test_an_interpreter_that_a_shell_starts_is_known_from_the_guest(
    frozen: Callable[..., Any], base: dict[str, str]
) -> None:
    made = frozen(files={"run.sh": f"{sys.executable} train.py\n".encode()})
    (spec,) = made.specs(1, command=("bash", "run.sh"))
    started = Started(made, spec, base)
    started.run(Environments(base))
    assert started.platform().interpreter["build"] == " ".join(sys.version.split())


def test_an_interpreter_that_nobody_knows_has_a_reason(frozen: Callable[..., Any], base: dict[str, str]) -> None:
    made = frozen()
    (spec,) = made.specs(1)
    started = Started(made, dataclasses.replace(spec, wrap=("apptainer", "exec", "x.sif")), base)
    started.write(Environments(base))
    platform = started.platform()
    assert (platform.interpreter, platform.packages) == ({"unknown": "`apptainer` has its own interpreter"}, None)
    assert platform.machine["CPU"]


def test_what_frameworks_say_last_counts_and_a_torn_line_says_nothing(
    frozen: Callable[..., Any], base: dict[str, str]
) -> None:
    made = frozen()
    started = Started(made, made.specs(1)[0], base)
    lines = [encode("environment", {"torch": "2", "flag": "off"}), encode("environment", {"flag": "on"})]
    (started.attempt / "events-1-1.jsonl").write_text("".join(lines) + '["environment", {"torn')
    assert started.write(Environments(base))["frameworks"] == {"torch": "2", "flag": "on"}


def test_the_project_in_git_is_told_in_words(frozen: Callable[..., Any], base: dict[str, str]) -> None:
    made = frozen()
    started = Started(made, made.specs(1)[0], base)
    assert started.write(Environments(base))["git"] == ""
    git = {"commit": "a" * 40, "branch": None, "is_dirty": True, "n_untracked": 2, "untracked": []}
    edit_record(made.snapshot.folder / "manifest.json", git=git)
    started.manifest = read_manifest(made.snapshot.folder)
    told = started.write(Environments(base))["git"]
    assert told == f"{'a' * 12} on no branch, with uncommitted changes and 2 untracked files"


def test_what_a_command_would_find_now_is_what_its_runs_found(frozen: Callable[..., Any], base: dict[str, str]) -> None:
    made = frozen()
    (spec,) = made.specs(1)
    started = Started(made, spec, base)
    started.run(Environments(base))
    assert current_platform(spec.command, made.root, base) == started.platform()
