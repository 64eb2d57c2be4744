"""What a user reads before the first run."""

from pathlib import Path

import pytest
from each import check_each

from deviate.cli.preview import announcement
from deviate.project.command import locate
from deviate.project.prepare import PreparedScript, prepare_script
from deviate.replay.capture_options import capture_pairs
from deviate.replay.experiments import Request
from deviate.replay.variants import choose_variants
from deviate.report.document import Document
from deviate.report.forms.registry import render

TRAIN = """\
import random
import numpy as np
random.seed(42)
rng = np.random.default_rng(7)
for epoch in range(3):
    loss = random.random()
    print("loss", loss)
"""


@pytest.fixture
def prepared(project: Path) -> PreparedScript:
    (project / "train.py").write_text(TRAIN)
    return prepare_script(locate(["train.py"], project))


def shown(document: Document, width: int = 120) -> str:
    return render(document, "terminal", width=width)


def told(prepared: PreparedScript, *names: str, width: int = 120) -> list[str]:
    variants = choose_variants(names, prepared.variants)
    return shown(announcement(prepared, Request(3, variants, None, 0), width, cost="one run 9 h"), width).splitlines()


def test_each_seed_is_named_once_and_its_fate_is_told(prepared: PreparedScript) -> None:
    lines = told(prepared, "as-is", "algo", "control", width=140)
    (line,) = [line for line in lines if line.startswith("Seed")]
    assert line.startswith("Seeds      line 3, line 4: seeds of what varies are replaced in algo, control")
    assert line.endswith("; kept in as-is")


def test_of_experiments_that_are_run_together_each_is_announced_by_its_name(prepared: PreparedScript) -> None:
    request = Request(3, choose_variants(("algo",), prepared.variants), None, 0)
    assert "\nRunning    train-3.11: 3 x " in shown(announcement(prepared, request, 120, name="train-3.11"))
    assert "\nRunning    3 x " in shown(announcement(prepared, request, 120))


def test_what_is_captured_is_told_with_the_most_that_it_can_take(prepared: PreparedScript) -> None:
    variants = choose_variants(("algo", "control"), prepared.variants)
    request = Request(3, variants, None, 0, capture=capture_pairs(["weights"], every=1, limit="5MB"))
    assert [
        line for line in shown(announcement(prepared, request, 120)).splitlines() if line.startswith("Capture")
    ] == [
        (
            "Capture    weights, at the end and every step of the main loop; "
            "at most 5.0 MB of each run, 30 MB of 6 together"
        )
    ]
    assert not any(line.startswith("Capture") for line in told(prepared, "algo"))


def test_each_variant_has_a_line_that_says_what_varies_and_what_is_held(prepared: PreparedScript) -> None:
    lines = told(prepared, "as-is", "init", "impl")
    assert [line for line in lines if line.startswith("Variant")] == [
        "Variant    as-is: nothing is changed: the script's own seeds and defaults",
        "Variant    init: varies init; holds the other streams, hash, kernels, autotune, precision",
        "Variant    impl: varies kernels, autotune, precision; holds all streams, hash",
    ]


def test_long_lines_are_wrapped_on_a_narrow_terminal(prepared: PreparedScript) -> None:
    lines = told(prepared, "algo+impl", "control", width=70)
    first = next(number for number, line in enumerate(lines) if line.startswith("Variant    algo+impl"))
    assert lines[first + 1].startswith(" " * 11)
    assert all(len(line) <= 70 for line in lines if line.startswith(("Variant", "Seeds")))


OUTSIDE = """\
import wandb, requests
wandb.init(project="p", id="abc123")
for epoch in range(3):
    loss = 1 / (epoch + 1)
    print("loss", loss)
    wandb.save("model.pt")
open("/data/deviate-never/result.txt", "w")
requests.post("https://example.org")
"""


def test_what_reaches_beyond_the_work_copy_is_told_with_its_place_and_its_fate(project: Path) -> None:
    (project / "train.py").write_text(OUTSIDE)
    prepared = prepare_script(locate(["train.py"], project))
    lines = told(prepared, "algo", "impl")
    trackers = (
        "Trackers   wandb: offline in these runs, group deviate/train; `wandb sync …/wandb/offline-run-*` uploads them"
    )
    assert trackers in lines
    assert [line for line in lines if line.startswith("Outside    ") and " at " in line] == [
        "Outside    tracker-id at line 2: kept as the script has it, over what would tell the runs apart",
        "Outside    upload at line 6: stays on the disk, offline",
        "Outside    upload at line 8: not stopped: each run does it again",
        "Outside    absolute-path at line 7: not copied: all runs write the same files",
    ]
    online = told(prepared, "algo", "as-is")
    assert "uploads them; as the script has them in as-is" in " ".join(" ".join(online).split())
    assert "Outside    upload at line 6, line 8: not stopped: each run does it again" in online


def test_a_script_without_side_effects_is_told_of_none(prepared: PreparedScript) -> None:
    assert not any(line.startswith(("Outside", "Trackers")) for line in told(prepared, "algo", "as-is"))


EXAMPLES = Path(__file__).parents[2] / "examples"
# The script of the plug-in reports to a library that only the plug-in names.
SCRIPTS = sorted([EXAMPLES / "tiny.py", *(path for path in EXAMPLES.rglob("train.py") if "plugin" not in path.parts)])


@pytest.mark.slow
def test_before_the_first_run_of_each_example_stand_at_most_twelve_lines() -> None:
    def check(path: Path) -> None:
        prepared = prepare_script(locate([path.name], path.parent))
        for names in (("algo+impl",), ("algo+impl", "algo", "impl", "control")):
            lines = told(prepared, *names)
            assert len([line for line in lines if line]) <= 12, lines
            labels = {line.split()[0] for line in lines if line and not line.startswith(" ")}
            assert {"Script", "Result", "Variant", "Running", "Record"} <= labels

    check_each(((str(path), path) for path in SCRIPTS), check)


def test_before_the_first_run_stand_at_most_twelve_lines_also_with_thirty_metrics(project: Path) -> None:
    reports = "".join(f"    print('val_loss_{i}', random.random())\n" for i in range(30))
    (project / "train.py").write_text(
        f"import random, wandb\nrandom.seed(1)\nwandb.init(id='a')\nfor epoch in range(3):\n{reports}"
    )
    lines = told(prepare_script(locate(["train.py"], project)), "algo+impl", width=80)
    assert len([line for line in lines if line]) <= 12
    assert "Cost       one run 9 h" in lines
    assert any(line.startswith("Result     val_loss") for line in lines)
    assert any("more" in line for line in lines if line.startswith(("Metrics", " " * 11)))
