"""Several scripts of one run are one analysis, in which nothing of theirs is lost or counted twice."""

import dataclasses
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.analysis.merge_analyses import analyze_together
from deviate.model.analysis import Analysis

EVALUATE = 'def evaluate(split):\n    acc = sum(range(9)) / 90\n    print(f"{split} acc {acc:.4f}")\n'
UNLABELLED = 'def evaluate():\n    acc = sum(range(9)) / 90\n    print(f"acc {acc:.4f}")\n'
TRAIN = "from shared import evaluate\nfor epoch in range(3):\n    evaluate({})\n"
EVAL = "from shared import evaluate\nevaluate({})\n"


def write(root: Path, **texts: str) -> tuple[Path, ...]:
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text)
    return tuple(root / f"{name}.py" for name in texts if name != "shared")


def test_the_script_that_trains_comes_first_unless_another_one_is_named(project: Path) -> None:
    loop = "for epoch in range(3):\n    loss = epoch / 3\n    print('loss', loss)\n"
    scripts = write(project, prepare="n_bad = 3 / 7\nprint(f'share {n_bad:.3f}')\n", train=loop, tune=loop)
    found = analyze_together(scripts, project)
    assert found.script == "train.py"
    assert [it.name for it in found.metrics if it.file != "prepare.py"] == ["loss", "tune_loss"]
    assert [loop.file for loop in found.loops if loop.is_main] == ["train.py"]
    assert len({it.id for it in found.metrics}) == len(found.metrics)
    assert analyze_together(scripts, project, train="tune.py").script == "tune.py"


def test_one_script_alone_is_its_own_analysis(project: Path) -> None:
    scripts = write(project, shared=EVALUATE, train=TRAIN.format('"val"'))
    assert analyze_together(scripts, project) == analyze(scripts[0], project)


@pytest.mark.parametrize(
    ("train", "final"),
    [
        (TRAIN.format('"val"'), EVAL.format('"test"')),
        ("for epoch in range(3):\n    loss = epoch / 3\n    print('loss', loss)\n", TRAIN.format('"test"')),
    ],
    ids=["both reach it", "one reaches it"],
)
def test_files_that_no_call_leads_to_add_sites_and_change_nothing_else(project: Path, train: str, final: str) -> None:
    idle = "def idle():\n    acc = sum(range(9)) / 90\n    print(f'idle acc {acc:.4f}')\n"
    scripts = write(project, shared=EVALUATE, train=train, final=final)
    (project / "idle.py").write_text(idle)
    reached = analyze_together(scripts, project)
    whole = analyze_together(scripts, project, is_whole=True)
    assert by_place(whole) == by_place(reached)
    assert [metric.name for metric in whole.unreached] == ["idle_acc"]
    assert len(whole.sites) == len(reached.sites) + 1


def by_place(found: Analysis) -> tuple[object, ...]:
    """An analysis without what nothing leads to; sites have numbers by the order of their discovery, and places."""
    places = {site.id: (site.file, site.span, site.label) for site in found.sites}
    items = [
        [(places.get(item.site), dataclasses.replace(item, site=None)) for item in of_kind]
        for of_kind in (found.metrics, found.rejected)
    ]
    return dataclasses.replace(found, sites=(), unreached=(), metrics=(), rejected=()), *items
