"""What determinism costs, from the command line to the page: a script of PyTorch in two modes, timed and profiled."""

import csv
import itertools
import json
import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markup import Page

from deviate.errors import InputError
from deviate.replay.overhead import modes_of
from deviate.replay.variants import choose_variants

TRAIN = """\
import torch
torch.manual_seed(0)
table = torch.randn(17, 16, requires_grad=True)
optimizer = torch.optim.SGD([table], lr=0.1)
rows, weights = torch.randint(17, (512,)), torch.randn(512, 16)
for step in range(6):
    optimizer.zero_grad()
    loss = (table[rows] * weights).square().mean()
    loss.backward()
    optimizer.step()
    print("test loss", loss.item())
"""
PLAIN = """\
weight = 4.0
for step in range(3):
    weight = weight / 2
    print("test loss", weight)
"""


@dataclass(frozen=True)
class Told:
    """What the command printed, wrote as JSON, and left in the project."""

    out: str
    found: dict[str, Any]
    project: Path


@pytest.fixture(scope="module")
def told(tmp_path_factory, deviate_in, require) -> Told:  # type: ignore[no-untyped-def]
    """One call for all: two timed and two profiled runs of each mode."""
    require("torch")
    project = tmp_path_factory.mktemp("overhead")
    (project / "train.py").write_text(TRAIN)
    forms = ("--json", "out.json", "--csv", "out.csv", "--markdown", "out.md", "--latex", "out.tex")
    answer = deviate_in(project)("overhead", "train.py", "--runs", "2", "--profiled-runs", "2", *forms)
    assert answer.code == 0, answer.both
    return Told(answer.out, json.loads((project / "out.json").read_text()), project)


def results(told: Told, experiment: str) -> list[tuple[float, str, int]]:
    """Start, variant and replicate of every run, in order of time."""
    found = []
    for path in (told.project / ".deviate/experiments" / experiment / "runs").glob("*/attempt-*/result.json"):
        document, spec = json.loads(path.read_text()), json.loads((path.parents[1] / "spec.json").read_text())
        found.append((document["started"], spec["variant"], spec["replicate"]))
    return sorted(found)


@pytest.mark.slow
def test_both_modes_run_in_turn_and_the_profiled_runs_are_others(told: Told) -> None:
    timed, profiled = results(told, "train-overhead"), results(told, "train-overhead-profile")
    for runs in (timed, profiled):
        assert [replicate for _, _, replicate in runs] == [0, 0, 1, 1]
        assert {variant for _, variant, _ in runs[:2]} == {"impl", "control"}
    specs = [json.loads(path.read_text()) for path in told.project.glob(".deviate/experiments/*/runs/*/spec.json")]
    assert sum("profile" in dict(spec["capture"]) for spec in specs) == len(profiled) == 4
    seeds = {json.dumps(spec["seeds"], sort_keys=True) for spec in specs}
    assert len(seeds) == 1, "both modes do the same work"


@pytest.mark.slow
def test_the_factor_is_the_ratio_of_the_times_that_are_told(told: Told) -> None:
    assert (told.found["free"], told.found["held"]) == ("impl", "control")
    assert [it["quantity"] for it in told.found["factors"]] == ["run", "step", "kernels"]
    for it in told.found["factors"]:
        assert (len(it["free_s"]), len(it["held_s"])) == (1, 1), "of two runs the first does not count"
        assert it["factor"] == pytest.approx(it["held_s"][0] / it["free_s"][0])
        assert f"{it['factor']:.2f}x" in told.out
    rows = list(csv.DictReader((told.project / "out.csv").read_text().splitlines()))
    written = {(row["quantity"], row["variant"]): float(row["seconds"]) for row in rows if row["quantity"] != "kernel"}
    for it in told.found["factors"]:
        assert written[it["quantity"], "impl"] == it["free_s"][0]
        assert written[it["quantity"], "control"] == it["held_s"][0]


@pytest.mark.slow
def test_a_step_takes_the_mean_time_between_the_beginnings_of_steps(told: Told) -> None:
    [step] = [it for it in told.found["factors"] if it["quantity"] == "step"]
    means = []
    for path in (told.project / ".deviate/experiments/train-overhead/runs").glob("*/attempt-1/events-*.jsonl"):
        spec = json.loads((path.parents[1] / "spec.json").read_text())
        events = [json.loads(line) for line in path.read_text().splitlines()]
        times = [seconds for kind, *_, seconds in events if kind == "step"]
        if (spec["variant"], spec["replicate"]) == ("control", 1):
            means.append(statistics.fmean(later - earlier for earlier, later in itertools.pairwise(times)))
    assert step["held_s"] == pytest.approx(means)


@pytest.mark.slow
def test_operators_of_both_modes_stand_side_by_side(told: Told) -> None:
    profile = told.found["profile"]
    assert (profile["framework"], profile["device"], profile["window"]) == ("torch", "cpu", [1, 6])
    assert (profile["n_updates"], profile["n_free"], profile["n_held"]) == (5, 1, 1)
    by_name = {it["name"]: it for it in profile["kernels"]}
    assert by_name["aten::index"]["free_calls"] == by_name["aten::index"]["held_calls"] == 5
    assert 0 < len(by_name) <= 20
    assert profile["slowdown"] > 0
    for name in ("aten::index", "aten::_index_put_impl_"):
        assert name in told.out
        assert name.replace("_", r"\_") in (told.project / "out.tex").read_text()


@pytest.mark.slow
def test_the_page_asks_for_nothing_and_shows_every_kernel(told: Told) -> None:
    text = (told.project / ".deviate/reports/train-overhead/overhead.html").read_text()
    page = Page(text)
    assert [heading for level, heading in page.headings if level == 2] == ["Times", "Operators", "Provenance", "Data"]
    assert json.loads(page.blocks["deviate-data"]) == told.found
    assert text.count("<svg") == 1
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", text)
    for it in told.found["profile"]["kernels"]:
        assert it["name"] in text


@pytest.mark.slow
def test_the_percent_of_others_is_explained(told: Told) -> None:
    for text in (
        (told.project / "out.md").read_text(),
        (told.project / ".deviate/reports/train-overhead/overhead.html").read_text(),
    ):
        assert "746% is 7.46x" in text
        assert "left out" in text


@pytest.mark.slow
def test_the_same_command_runs_nothing_again_and_the_runs_are_on_record(told: Told, deviate_in) -> None:  # type: ignore[no-untyped-def]
    deviate = deviate_in(told.project)
    again = deviate("overhead", "train.py", "--runs", "2", "--profiled-runs", "2", "--json", "-", "-q")
    assert again.code == 0, again.both
    assert json.loads(again.out) == told.found
    listed = deviate("list").out
    assert "train-overhead " in listed
    assert "train-overhead-profile" in listed


def test_a_script_without_a_profiler_is_timed_and_the_reason_told(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "plain.py").write_text(PLAIN)
    answer = deviate_in(project)("overhead", "plain.py", "--runs", "2", "--json", "out.json", "-q")
    assert answer.code == 0, answer.both
    found = json.loads((project / "out.json").read_text())
    assert [it["quantity"] for it in found["factors"]] == ["run", "step"]
    assert "no framework with a profiler" in found["profile"]["unavailable"]
    assert "No kernel times" in (project / ".deviate/reports/plain-overhead/overhead.html").read_text()
    assert "no framework with a profiler" in answer.out


def test_two_modes_are_told_apart_by_what_they_do_to_kernels() -> None:
    for names in ("impl,control", "control,impl", "algo+impl,algo", "init,init+kernels"):
        free, held = modes_of(choose_variants(names.split(",")))
        assert "kernels" in free.varied
        assert "kernels" in held.held
    for names in ("impl", "impl,algo+impl", "control,algo", "as-is,control", "impl,algo,control"):
        with pytest.raises(InputError, match="free kernels"):
            modes_of(choose_variants(names.split(",")))


@pytest.mark.parametrize("window", ["3", "3:", "5:5", "7:2", "a:b"])
def test_a_window_that_is_none_is_refused(project: Path, deviate_in, window: str) -> None:  # type: ignore[no-untyped-def]
    (project / "plain.py").write_text(PLAIN)
    answer = deviate_in(project)("overhead", "plain.py", "--window", window)
    assert answer.code == 1
    assert f"--window {window} is no window" in answer.err
