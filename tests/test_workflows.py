"""The workflows for GitHub start what there is, with the rights that they need and no others."""

import os
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github/workflows"


@cache
def workflow(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return content


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("name", ["check.yml", "release.yml"])
def test_a_workflow_names_scripts_and_files_that_exist(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    scripts = re.findall(r"(?:^|[\s:])((?:scripts|\.ci)/\w+)", text)
    assert scripts
    assert [script for script in scripts if not os.access(ROOT / script, os.X_OK)] == []
    called = [job["uses"] for job in workflow(name)["jobs"].values() if "uses" in job]
    assert [path for path in called if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("name", ["check.yml", "release.yml"])
def test_actions_are_pinned_to_one_version(name: str) -> None:
    actions = [step["uses"] for step in steps(name) if "uses" in step]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", action)] == []


def test_only_the_jobs_that_publish_may_write() -> None:
    jobs = {
        (name, job): content for name in ("check.yml", "release.yml") for job, content in workflow(name)["jobs"].items()
    }
    assert [workflow(name)["permissions"] for name in ("check.yml", "release.yml")] == [{"contents": "read"}] * 2
    rights = {key: job["permissions"] for key, job in jobs.items() if "permissions" in job}
    assert rights == {
        ("release.yml", "publish"): {"id-token": "write"},
        ("release.yml", "announce"): {"contents": "write"},
    }
    for key in rights:
        assert not any("checkout" in step.get("uses", "") for step in jobs[key]["steps"]), (
            "code of the project runs there"
        )


def test_nothing_is_published_before_the_build_and_every_check() -> None:
    jobs = workflow("release.yml")["jobs"]
    order = list(TopologicalSorter({name: job.get("needs", []) for name, job in jobs.items()}).static_order())
    assert set(jobs["publish"]["needs"]) == {"build", "check"}
    assert order[-2:] == ["publish", "announce"]
    uploads = {step["with"]["name"] for step in jobs["build"]["steps"] if "upload-artifact" in step.get("uses", "")}
    (download, _) = jobs["publish"]["steps"]
    assert download["with"]["name"] in uploads
    for name in uploads:
        assert f"artifacts/{name}/" in jobs["announce"]["steps"][1]["run"]


def test_ci_runs_on_the_versions_of_the_classifiers() -> None:
    matrix = workflow("check.yml")["jobs"]["python"]["strategy"]["matrix"]["include"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [entry["python"] for entry in matrix if not entry["may-fail"]] == re.findall(r"Python :: (3\.\d+)", text)
