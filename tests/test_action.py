"""The GitHub Action and the job for GitLab by their shell steps, run as the runner of each would run them."""

import fnmatch
import html
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from gates import TRAIN, commit_all, git

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = ROOT / ".gitlab/deviate-check.yml"
PAGE = ROOT / "docs/how-to/gate-a-pull-request.md"
HOSTILE = '"; touch pwned; $(touch pwned) `touch pwned`'
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
"""Source: GitHub, "Workflow syntax", `jobs.<job_id>.steps[*].shell`: bash."""


def test_no_input_is_text_of_a_shell() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(scripts) == 3
    assert not [script for script in scripts if "${{" in script]
    given = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert given == set(ACTION["inputs"])


def test_the_page_shows_the_job_for_gitlab_as_it_is_in_its_file_and_inputs_that_the_action_has() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"```yaml\n{GITLAB.read_text(encoding='utf-8')}```" in page
    used = [
        step
        for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        for job in yaml.safe_load(block).get("jobs", {}).values()
        for step in job["steps"]
        if "/deviate@" in step.get("uses", "")
    ]
    assert used
    required = {name for name, facts in ACTION["inputs"].items() if facts.get("required")}
    for step in used:
        assert required <= set(step["with"]) <= set(ACTION["inputs"])


class Runner:
    """The steps of the action in one job, with what earlier ones put out."""

    def __init__(self, project: Path, inputs: Mapping[str, str], base: str) -> None:
        self.project = project
        defaults = {name: facts.get("default", "") for name, facts in ACTION["inputs"].items()}
        self.values = {
            **{f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()},
            "toJSON(inputs)": str(inputs),
            "github.action_path": str(ROOT),
            "github.event.pull_request.base.sha": base,
        }
        self.temporary = project.parent / "runner temp"
        self.temporary.mkdir()
        self.summary = self.temporary / "summary.md"

    def value(self, text: str) -> str:
        """A text with the values of its expressions; of `a || b` the first that is not empty."""
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self._first(found[1]), text)

    def _first(self, expression: str) -> str:
        return next(filter(None, (self.values.get(part, "") for part in expression.split(" || "))), "")

    def run(self, step: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        script, output = self.temporary / "script.sh", self.temporary / "output"
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("", encoding="utf-8")
        done = subprocess.run(
            [*BASH, str(script)],
            cwd=self.project / self.value(step.get("working-directory", ".")),
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("DEVIATE_")},
                **{name: self.value(value) for name, value in step["env"].items()},
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "RUNNER_TEMP": str(self.temporary),
                "GITHUB_ACTIONS": "true",
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.summary),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        put_out = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
        self.values |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in put_out.items()}
        return done

    def outputs(self) -> dict[str, str]:
        return {name: self.value(facts["value"]) for name, facts in ACTION["outputs"].items()}


@pytest.fixture
def origin(project: Path) -> Path:
    """A repository in whose last commit training has become worse."""
    (project / "train.py").write_text(TRAIN.format(shift=0))
    commit_all(project)
    (project / "train.py").write_text(f"{TRAIN.format(shift=-3)}print(len(sys.argv), sys.argv[1:])\n")
    commit_all(project)
    return project


@pytest.mark.slow
def test_a_pull_request_that_makes_training_worse_fails_on_github_and_on_gitlab(
    origin: Path, deviate_in: Callable[[Path], Callable[..., Any]]
) -> None:
    clone = origin.parent / "clone"
    git(origin, "clone", "--quiet", "--depth=1", f"file://{origin}", str(clone))
    base = git(origin, "rev-parse", "HEAD~1")
    inputs = {
        "script": "train.py",
        "arguments": f"--name 'two words' '{HOSTILE}'",
        "runs": "5",
        "metric": "acc\nloss",
        "margin": "acc=1\nloss=0.5",
        "options": "--variants algo+impl",
    }
    runner = Runner(clone, inputs, base)
    steps = {step.get("id"): step for step in ACTION["runs"]["steps"] if "run" in step}
    prepared = runner.run(steps["prepare"])
    assert prepared.returncode == 0, prepared.stderr
    assert runner.values["steps.prepare.outputs.commit"] == base
    checked = runner.run(steps["check"])
    assert checked.returncode == 4, checked.stdout + checked.stderr
    outputs = runner.outputs()
    assert (outputs["result"], outputs["exit-code"]) == ("worse", "4")
    assert "<svg" in Path(outputs["report"]).read_text(encoding="utf-8")
    assert "deviate check: train is worse than" in runner.summary.read_text(encoding="utf-8")
    assert "::error title=deviate check" in checked.stdout
    [experiment] = (clone / ".deviate/experiments").glob("*@*")
    assert str(experiment).startswith(runner.values["steps.prepare.outputs.baseline"].partition("*")[0])
    told = next((clone / ".deviate/experiments/train/runs").rglob("stdout*")).read_text(encoding="utf-8")
    assert f"4 {['--name', 'two words', HOSTILE]}" in told
    assert not [*clone.rglob("pwned"), *runner.temporary.rglob("pwned")]

    job = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["deviate-check"]
    variables = {**job["variables"], "CHECK_OPTIONS": "--runs 5 --metric acc --margin 1"}
    gitlab = subprocess.run(
        [*BASH, "-c", job["script"][1]],
        cwd=clone,
        env={
            **os.environ,
            **variables,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert gitlab.returncode == 4, gitlab.stdout + gitlab.stderr
    written = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert all((clone / name).stat().st_size for name in written)


PLAIN = 'import random\nfor epoch in range(2):\n    acc = 90 + {shift} + random.random()\n    print("acc", acc)\n'
CRASH = 'if epoch: raise ValueError("lr must be positive")\n    acc ='
JOBS = {
    "equal code": (
        PLAIN.format(shift=0),
        PLAIN.format(shift=0),
        "--margin 5",
        "train is not worse than train@*: acc 0",
    ),
    "worse": (PLAIN.format(shift=0), PLAIN.format(shift=-5), "--margin 1", "train is worse than train@*: acc −5.0"),
    "better": (PLAIN.format(shift=0), PLAIN.format(shift=5), "", "train is not worse than train@*: acc +5.0"),
    "undecided": (
        PLAIN.format(shift=0),
        PLAIN.format(shift=-0.3),
        "--margin 0.4",
        "train is not shown to be safe: acc −*; * runs of each side would decide",
    ),
    "crash of the candidate": (
        PLAIN.format(shift=0),
        PLAIN.format(shift=0).replace("acc =", CRASH),
        "--metric acc",
        "train completes less often than train@*: 5/5 v 0/5: ValueError: lr must be positive (train.py:3)",
    ),
    "crash of the baseline": (
        PLAIN.format(shift=0).replace("acc =", CRASH),
        PLAIN.format(shift=0),
        "--metric acc",
        "train@*: none of 5 runs completed: ValueError: lr must be positive (train.py:3)",
    ),
    "control missing": (
        PLAIN.format(shift=0),
        PLAIN.format(shift=0),
        "--require-control",
        "no control variant shows that runs are repeatable, and --require-control asks for one",
    ),
    "no common metric": (
        PLAIN.format(shift=0).replace('"acc"', '"f1"'),
        PLAIN.format(shift=0),
        "",
        "train has no metric f1",
    ),
}
"""By what a job is about: the script before and after, options, and what the first line says."""


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_the_first_line_of_a_job_says_which_side_which_metric_and_how_much_or_why_it_failed(
    name: str, project: Path
) -> None:
    before, after, options, says = JOBS[name]
    (project / "train.py").write_text(before)
    base = commit_all(project)
    (project / "train.py").write_text(f"{after}# changed\n")
    commit_all(project)
    runner = Runner(project, {"script": "train.py", "runs": "5", "options": options}, base)
    steps = {step.get("id"): step for step in ACTION["runs"]["steps"] if "run" in step}
    runner.run(steps["prepare"])
    checked = runner.run(steps["check"])
    job = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["deviate-check"]
    environment = {
        **os.environ,
        **job["variables"],
        "CHECK_OPTIONS": f"--runs 5 {options}",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    gitlab = subprocess.run(
        [*BASH, "-c", job["script"][1]], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    if not runner.summary.exists():
        annotation = next(line for line in checked.stdout.splitlines() if line.startswith("::error"))
        lines = [annotation, checked.stderr.splitlines()[0], gitlab.stderr.splitlines()[0]]
    else:
        annotation = next(line for line in checked.stdout.splitlines() if "::" in line and "deviate check%3A" in line)
        result = " ".join(gitlab.stdout.partition("\n  exit code")[0].split())
        lines = [
            runner.summary.read_text(encoding="utf-8").splitlines()[0].replace("\\", ""),
            annotation,
            result[result.index("Result:") :],
            (project / "check.md").read_text(encoding="utf-8").splitlines()[0].replace("\\", ""),
        ]
    for line in lines:
        assert fnmatch.fnmatch(html.unescape(line), f"*{says.replace('[', '[[]')}*"), (name, line, checked.stderr)
