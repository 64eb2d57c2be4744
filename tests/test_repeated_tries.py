"""Tries that a comparison does not show are named beside it: each of them was a chance to look better."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Deviate = Callable[..., object]
SCORES = {
    "base": (90.1, 90.4, 89.8, 90.0, 90.3, 89.9),
    "near": (90.2, 90.3, 90.0, 90.1, 90.4, 89.7),
    "middling": (90.5, 90.7, 90.1, 90.4, 90.6, 90.2),
    "good": (91.5, 91.7, 91.1, 91.4, 91.6, 91.2),
}
TRAIN = """\
import random
random.seed(0)
for epoch in range(2):
    acc = 0.9 + random.random() / 100
    print(f"epoch {epoch} acc {acc:.6f}")
"""


def warnings(document: Path) -> list[str]:
    return [it for it in json.loads(document.read_text())["warnings"] if "also compared" in it or "same command" in it]


@pytest.fixture
def imported(project: Path, deviate_in) -> Callable[..., list[str]]:  # type: ignore[no-untyped-def]
    """Imports the scores; the call compares, and gives what was said of other tries."""
    deviate = deviate_in(project)
    for name, scores in SCORES.items():
        (project / f"{name}.csv").write_text("acc\n" + "".join(f"{it}\n" for it in scores))
        assert deviate("import", f"{name}.csv", "--name", name).code == 0

    def compare(*names: str) -> list[str]:
        done = deviate("compare", *names, "--json", "out.json")
        assert done.code == 0, done.both
        return warnings(project / "out.json")

    return compare


def test_candidates_that_a_baseline_was_compared_with_are_counted_in(imported) -> None:  # type: ignore[no-untyped-def]
    assert imported("base", "middling") == [], "alone it is better"
    assert imported("base", "middling") == [], "the same candidate again is no further try"
    (said,) = imported("base", "near")
    assert said == (
        "base was also compared with 1 more candidate: middling. Holm over all 2: p = 0.907 for near, not below alpha."
    )
    (said,) = imported("base", "good")
    assert said.startswith("base was also compared with 2 more candidates: middling, near. Holm over all 3: p = ")
    assert said.endswith(" for good.")
    assert imported("near", "good") == [], "another baseline"
    assert imported("base", "near", "middling", "good") == [], "all are shown"


def test_a_try_can_take_the_surety_of_a_verdict(imported, project: Path) -> None:  # type: ignore[no-untyped-def]
    for name in ("near", "good"):
        imported("base", name)
    (said,) = imported("base", "middling")
    assert said.endswith("Holm over all 3: p = 0.095 for middling, not below alpha.")
    (pair,) = json.loads((project / "out.json").read_text())["pairs"]
    assert pair["comparisons"][0]["verdict"] == "better", "what was asked here is answered as it was asked"


def test_experiments_of_the_same_command_on_the_same_code_are_named(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(project)
    (project / "train.py").write_text(TRAIN)
    for name in ("first", "second"):
        assert deviate("run", "train.py", "--runs", "2", "--name", name).code == 0
    (project / "train.py").write_text(TRAIN.replace("0.9", "0.8"))
    assert deviate("run", "train.py", "--runs", "2", "--name", "other").code == 0
    (project / ".deviate/experiments/other/experiment.json").rename(project / "kept")
    (project / ".deviate/experiments/other/experiment.json").write_text("{")
    deviate("compare", "first", "second", "--json", "out.json")
    assert warnings(project / "out.json") == [], "both are shown, and a damaged plan beside them hides nothing"
    (project / "kept").rename(project / ".deviate/experiments/other/experiment.json")
    deviate("compare", "other", "second", "--json", "out.json")
    (said,) = warnings(project / "out.json")
    assert said == (
        "second is one of 2 experiments of the same command on the same code (others: first). Do not choose among "
        "them by their results: report that there are several, or compare each."
    )
