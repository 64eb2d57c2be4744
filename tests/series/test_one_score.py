"""Every output gives the same score of each run."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deviate

CASES = Path(__file__).parent / "cases"
EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = 2
ONES = {
    "a table": CASES / "columns-once",
    "a mean over folds": CASES / "folds-without-mean",
    "what is announced after training": CASES / "cv-auc",
    "a copy in a file": CASES / "epsilon-in-csv",
    "tiny.py": EXAMPLES / "tiny.py",
    **{path.parent.name: path for path in sorted(EXAMPLES.glob("*/train.py"))},
}
QUICK = ["a mean over folds"]
PACKAGES = ("jax", "keras", "sklearn", "tensorflow", "torch")


def as_parameter(name: str):  # type: ignore[no-untyped-def]
    text = "".join(path.read_text() for path in [ONES[name], *ONES[name].glob("*.py")] if path.is_file())
    packages = [package for package in PACKAGES if f"import {package}" in text or f"from {package}" in text]
    marks = [pytest.mark.requires(*packages), *[pytest.mark.slow] * (name not in QUICK)]
    return pytest.param(ONES[name], id=name, marks=marks)


def ask(folder: Path, *words: str) -> str:
    """What `deviate` says in a folder, on both of its streams."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "deviate", *words],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("source", [as_parameter(name) for name in ONES])
def test_every_output_gives_the_same_score_of_each_run(source: Path, tmp_path: Path) -> None:
    script = source if source.suffix else source / "train.py"
    (tmp_path / script.name).write_text(script.read_text())
    few = ("--", "--epochs", "2") if "--epochs" in script.read_text() else ()
    said = ask(tmp_path, "run", script.name, "--runs", str(RUNS), "--name", "a", *few)
    result = re.search(r"^Result: (\S+) .*?\(mean ± SD\)  (\S+) ", said, re.MULTILINE)
    assert result, said
    name, mean = result[1], result[2]

    files = {form: tmp_path / f"a.{form}" for form in ("csv", "json", "latex", "markdown")}
    ask(tmp_path, "report", "a", "-q", *(word for form, file in files.items() for word in (f"--{form}", str(file))))
    texts = {form: file.read_text() for form, file in files.items()}
    rows = csv.DictReader(io.StringIO(texts["csv"]))
    scores = {int(row["replicate"]): float(row["score"]) for row in rows if row["metric"] == name}
    assert sorted(scores) == list(range(RUNS))

    progress = dict(re.findall(rf"replicate (\d+) · completed · [^·]+ · {re.escape(name)} (\S+)", said))
    assert {int(number): text for number, text in progress.items()} == {k: f"{v:.6g}" for k, v in scores.items()}
    for replicate, score in scores.items():
        shown = ask(tmp_path, "show", "a", "--run", str(replicate))
        assert re.search(rf"^Score +{re.escape(name)} {re.escape(f'{score:.6g}')}$", shown, re.MULTILINE), shown

    document = json.loads(texts["json"])
    assert document["primary"] == name
    metric = next(one for one in document["experiments"][0]["metrics"] if one["metric"] == name)
    assert {one["replicate"]: one["score"] for one in metric["scores"]} == scores

    of_api = deviate.describe("a", folder=tmp_path).scores()
    assert of_api[of_api["metric"] == name].set_index("replicate")["score"].to_dict() == scores

    places = len(mean.partition(".")[2])
    average = sum(scores.values()) / RUNS
    assert f"{average:.{places}f}" == mean.replace("−", "-")
    for form in ("latex", "markdown"):
        assert mean.lstrip("−") in texts[form], form
    assert mean in (tmp_path / ".deviate" / "reports" / "a" / "report.html").read_text()
    assert mean in ask(tmp_path, "list")
