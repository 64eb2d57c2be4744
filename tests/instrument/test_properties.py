"""Whatever a program is and whatever is tapped in it: its tree and what it does stay, and values are recorded right."""

import ast
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import copy_guest, taps_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sources import sources
from tapping import Program, Spot, sites_of, statements, untapped
from tapping import watched as watched_program

from deviate.instrument.input_taps import InputTaps
from deviate.instrument.rewrite import instrument_text
from deviate.model.analysis import Loop, Site

CHECKS = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # to shrink a program takes minutes and tells little more
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


class Worker:
    """A process that runs one program after another."""

    def __init__(self, folder: Path) -> None:
        copy_guest(folder / "guest")
        (folder / "work").mkdir()
        script = Path(__file__).parents[1] / "support" / "tap_worker.py"
        self.process = subprocess.Popen(
            [sys.executable, script, folder / "guest", folder / "work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        text: str,
        sites: list[Site] | None = None,
        loops: list[Loop] | None = None,
        watched: dict[int, tuple[str, int, int]] | None = None,
    ) -> dict[str, Any]:
        taps = {**taps_of(sites or [], loops or []), "watched": watched or {}}
        manifest = {"originals": "", "files": {}, **taps} if sites is not None else None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"text": text, "manifest": manifest}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    made = Worker(tmp_path_factory.mktemp("worker"))
    yield made
    made.process.communicate()


class Tapped:
    """A program with the spots and loops that are tapped, by number."""

    def __init__(self, program: Program, spots: dict[int, Spot], loops: dict[int, Any]) -> None:
        self.program, self.spots, self.loops = program, spots, loops

    def __repr__(self) -> str:
        return f"{self.program.text}\n{[(k, it.form, it.span) for k, it in self.spots.items()]}\n{self.made_loops}"

    @property
    def sites(self) -> list[Site]:
        return list(sites_of(self.spots))

    @property
    def made_loops(self) -> list[Loop]:
        return [self.program.loop(number, node, is_main=number == 0) for number, node in self.loops.items()]

    @property
    def text(self) -> str:
        return instrument_text(self.program.text, self.sites, self.made_loops).text

    @property
    def text_of_traced_run(self) -> str:
        """The text with taps of inputs as well, and a marker in every line that can have one."""
        lines = [(line, line) for line in range(1, self.program.text.count("\n") + 2)]
        taps = InputTaps(has_threads=True, is_compiled=False)
        return instrument_text(self.program.text, self.sites, self.made_loops, taps, lines).text


@st.composite
def tapped(draw: st.DrawFn, *, forms: bool = True) -> Tapped:
    """A program and a choice of taps; without `forms`, values alone."""
    program = Program(draw(sources()))
    chosen = draw(st.lists(st.sampled_from(program.spots), min_size=1, max_size=25, unique_by=lambda spot: spot.span))
    loops = draw(st.lists(st.sampled_from(list(program.loops)), max_size=6, unique=True)) if program.loops else []
    spots = {}
    for number, spot in enumerate(chosen):
        options = ["value", spot.form] + ["meter"] * (spot.form == "call") if spot.form != "shown" else ["shown"]
        form = draw(st.sampled_from(options)) if forms else "value"
        spots[number] = dataclasses.replace(spot, form=form)
    if not forms:
        heads = {program.span(getattr(loop, "iter", None) or loop.test) for loop in loops}
        spots = {
            number: spot for number, spot in spots.items() if chosen[number].form != "shown" and spot.span not in heads
        }
    return Tapped(program, spots, dict(enumerate(loops)))


@CHECKS
@given(it=tapped())
def test_text_tree_and_behaviour_stay(worker: Worker, it: Tapped) -> None:
    assert_unchanged(worker, it, it.text, {})


@pytest.mark.slow
@CHECKS
@given(it=tapped())
def test_text_tree_and_behaviour_stay_in_traced_runs(worker: Worker, it: Tapped) -> None:
    lines = range(1, it.program.text.count("\n") + 2)
    assert_unchanged(worker, it, it.text_of_traced_run, {line: ("train.py", line, line) for line in lines})


def assert_unchanged(worker: Worker, it: Tapped, result: str, watched: dict[int, tuple[str, int, int]]) -> None:
    original = it.program.text
    assert untapped(result) == ast.dump(ast.parse(original))
    assert result.count("\n") == original.count("\n")
    assert statements(ast.parse(result)) == statements(ast.parse(original))
    plain, with_guest, without_guest = (
        worker.run(original),
        worker.run(result, it.sites, it.made_loops, watched),
        worker.run(result),
    )
    for run in (with_guest, without_guest):
        assert (run["stdout"], run["raised"], run["guests"]) == (plain["stdout"], plain["raised"], 0)
    assert [event for event in with_guest["events"] if event[0] == "error"] == []


@CHECKS
@given(it=tapped(forms=False))
def test_values_are_recorded_once_in_order_and_at_the_steps_of_their_loops(worker: Worker, it: Tapped) -> None:
    run = worker.run(it.text, it.sites, it.made_loops)
    reference = worker.run(watched_program(it.program, it.spots, it.loops))
    assert run["stdout"] == reference["stdout"]
    recorded = [event for event in run["events"] if event[0] == "value" and event[6] is None]
    for number, spot in it.spots.items():
        seen = [(value, steps) for site, value, steps in reference["seen"] if site == number and value is not None]
        here = [event for event in recorded if event[1] == number]
        assert [event[5] if isinstance(event[5], str) else repr(event[5]) for event in here] == [
            value for value, _ in seen
        ]
        own = {
            n for n, loop in it.loops.items() if it.program.loops[loop] is spot.frame and loop not in spot.conditions
        }
        steps = [dict(zip(event[3][::2], event[3][1::2], strict=True)) for event in here]
        assert [{str(loop): step for loop, step in at.items() if loop in own} for at in steps] == [at for _, at in seen]
