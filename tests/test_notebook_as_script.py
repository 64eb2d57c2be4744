"""A notebook is analysed, run, continued and reported as a script is, and its file stays as it is."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from notebooks import notebook_text

from deviate.analysis.analyze import analyze
from deviate.instrument.snapshot import changed_files, freeze

CELLS = (
    "!pip install nothing",
    "# markdown",
    "%%time\nweight = 1.0\nfor epoch in range(3):\n    weight *= 0.5\n    print('loss', weight)",
    "accuracy = 1 - weight\naccuracy",
)
DIGITS = (
    """\
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
""",
    """\
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
X_train.shape
""",
    """\
clf = SGDClassifier(loss="log_loss")
scores = []
for epoch in range(3):
    clf.partial_fit(X_train, y_train, classes=np.arange(10))
    scores.append(clf.score(X_test, y_test))
    print(f"epoch {epoch} val acc {scores[-1]:.4f}")
""",
    "plt.plot(scores)\nplt.show()",
    "clf.score(X_test, y_test)",
)


def test_a_notebook_runs_like_a_script(project: Path, deviate_in: Callable[..., Any]) -> None:
    deviate, notebook = deviate_in(project), project / "study.ipynb"
    notebook.write_text(notebook_text(*CELLS))
    before = notebook.read_bytes()
    arguments = ("run", "study.ipynb", "--runs", "1", "--variants", "as-is", "--name", "study", "--json", "-")
    answer = deviate(*arguments)
    assert answer.code == 0, answer.both
    assert "set aside, as only Jupyter can run it: !pip install nothing (cell 1, line 1)" in answer.both
    (experiment,) = json.loads(answer.out[answer.out.index("{\n") :])["experiments"]
    assert {metric["metric"]: metric["scores"][0]["score"] for metric in experiment["metrics"]} == {
        "loss": 0.125,
        "accuracy": 0.875,
    }
    (page,) = project.glob(".deviate/reports/study/report.html")
    assert deviate("report", "study", "--full").code == 0
    assert "study.ipynb cell 2, line 5" in page.read_text()
    assert not re.search(r"study\.ipynb:\d", page.read_text())
    assert notebook.read_bytes() == before
    assert {path.name for path in project.iterdir()} == {"study.ipynb", ".deviate"}


def test_only_the_code_cells_make_it_another_script(project: Path) -> None:
    notebook = project / "study.ipynb"
    notebook.write_text(notebook_text(*CELLS))
    found = analyze(notebook, project)
    freeze(found, project / ".deviate" / "before")
    assert (project / ".deviate" / "before" / "originals" / "study.ipynb").read_text().count("loss") == 1
    document = json.loads(notebook.read_text())
    document["cells"][3]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["0.875"]}]
    document["cells"].append({"cell_type": "markdown", "metadata": {}, "source": "The end."})
    (project / ".ipynb_checkpoints").mkdir()
    (project / ".ipynb_checkpoints" / "study-checkpoint.ipynb").write_bytes(notebook.read_bytes())
    notebook.write_text(json.dumps(document))
    shown = freeze(found, project / ".deviate" / "shown", is_tapped=False)
    assert changed_files(project / ".deviate" / "before", shown.folder) == ()
    assert (shown.folder / "tree" / "study.ipynb").read_text().count("loss") == 1
    notebook.write_text(notebook_text(*CELLS, "print('more')"))
    freeze(found, project / ".deviate" / "after", is_tapped=False)
    assert changed_files(project / ".deviate" / "before", project / ".deviate" / "after") == ("study.ipynb",)


def test_lines_of_a_notebook_are_named_by_cell(project: Path, deviate_in: Callable[..., Any]) -> None:
    deviate = deviate_in(project)
    (project / "study.ipynb").write_text(notebook_text(*CELLS))
    answer = deviate("analyze", "study.ipynb", "--save")
    assert "Main loop  study.ipynb cell 2, line 3" in answer.out
    assert not re.search(r"study\.ipynb:\d", answer.both)
    document = json.loads(deviate("analyze", "study.ipynb", "--format", "json").out)
    assert [(metric["name"], metric["file"], metric["line"]) for metric in document["metrics"]] == [
        ("loss", "study.ipynb", 2005),
        ("accuracy", "study.ipynb", 3002),
    ]
    path = project / "deviate.toml"
    assert 'where = "study.ipynb cell 2, line 5"' in path.read_text()
    (project / "study.ipynb").write_text(notebook_text("x = 1", *CELLS))
    answer = deviate("analyze", "study.ipynb")
    assert "moved with the script: loss from study.ipynb cell 2, line 5 to study.ipynb cell 3, line 5" in answer.both


def test_a_notebook_is_for_deviate_and_not_for_jupyter(project: Path, deviate_in: Callable[..., Any]) -> None:
    (project / "study.ipynb").write_text(notebook_text(*CELLS))
    answer = deviate_in(project)("run", "--", "jupyter", "nbconvert", "--execute", "study.ipynb")
    assert (answer.code, "deviate run study.ipynb" in answer.err) == (1, True)


@pytest.mark.slow
@pytest.mark.requires("sklearn")
@pytest.mark.requires("matplotlib")
def test_a_notebook_with_a_library_and_figures_runs(project: Path, deviate_in: Callable[..., Any]) -> None:
    (project / "digits.ipynb").write_text(notebook_text(*DIGITS))
    deviate = deviate_in(project)
    answer = deviate("run", "digits.ipynb", "--runs", "2", "--variants", "control", "--json", "-")
    assert answer.code == 0, answer.both
    (experiment,) = json.loads(answer.out[answer.out.index("{\n") :])["experiments"]
    scores = {metric["metric"]: [score["score"] for score in metric["scores"]] for metric in experiment["metrics"]}
    assert len(scores) == 2
    assert all(first == second > 0.8 for first, second in scores.values())
    run = next(project.glob(".deviate/experiments/digits/runs/*"))
    shutil.rmtree(run)
    assert "2/2 completed" in deviate("resume", "digits").out
