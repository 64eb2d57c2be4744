"""What the report says about where runs part, and about what was not captured."""

import dataclasses
import html

from experiments import scored
from studies import equal, noisy_run, spread, study, usual, variant

from deviate.report.document import Code
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.parts.divergence import divergence_section
from deviate.stats.judge import judge


def broken(**changes: object) -> list[object]:
    runs = [noisy_run(0, (50.0, 93.0), "one", **changes), noisy_run(1, (50.0, 93.00000000000001), "two", **changes)]
    return [variant("control", runs)]


def test_runs_that_are_equal_are_said_to_be() -> None:
    view = divergence_section(study(*usual()))
    row = next(it for it in view.tables[0].rows if it.label == "control")
    assert [cell.text for cell in row.cells] == ["5", "bitwise equal", "none", "none", "none", "equal", "equal"]
    assert view.reasons == ()


def test_the_first_difference_is_told_to_the_last_bit() -> None:
    view = divergence_section(study(*broken()))
    assert view.items == (
        "control: test_acc differs first at main-loop step 1: 93.0 in replicate 0, 93.00000000000001 in replicate 1.",
    )
    (row,) = view.tables[0].rows
    assert row.cells[2].text == "main-loop step 1"
    assert row.cells[4].text == "93.0 and 93.00000000000001"
    assert "everything is held, so no run should differ" in row.note


def test_where_control_parts_the_command_that_finds_the_line_can_be_copied() -> None:
    findings = study(*broken())
    (command,) = divergence_section(findings).of(Code)
    assert command.text == "deviate diverge train.py -- --network small"
    assert f'<pre class="source">{command.text}</pre>' in render(build_report(findings), "html")
    assert divergence_section(study(*usual())).of(Code) == ()


def test_that_command_has_the_flags_under_which_the_runs_were_made() -> None:
    (held,) = broken()
    flags = ("--env", "GREETING=two words", "--seed", "3", "--warn-only")
    findings = study(dataclasses.replace(held, flags=flags))  # type: ignore[type-var]
    (command,) = divergence_section(findings).of(Code)
    told = "deviate diverge train.py --env 'GREETING=two words' --seed 3 --warn-only -- --network small"
    assert command.text == told
    assert html.escape(command.text, quote=False) in html.unescape(render(build_report(findings), "html"))


def test_what_is_known_to_break_repeatability_stands_beside_the_difference() -> None:
    view = divergence_section(study(*broken(operations=("aten::cumsum_cuda",))))
    assert "used without a deterministic version: aten::cumsum_cuda (replicates 0–1)" in view.tables[0].rows[0].note


def test_weights_that_differ_where_metrics_agree_are_told() -> None:
    runs = [noisy_run(0, (50.0,), "one"), noisy_run(1, (50.0,), "two")]
    (row,) = divergence_section(study(variant("control", runs))).tables[0].rows
    assert row.cells[5].text == "differ"
    assert "metrics are equal at every step, final weights are not" in row.note


def test_a_value_that_one_run_lacks_is_nothing() -> None:
    runs = [noisy_run(0, (50.0, 93.0), "same"), noisy_run(1, (50.0,), "same")]
    view = divergence_section(study(variant("control", runs)))
    assert "93.0 in replicate 0, nothing in replicate 1" in view.items[0]


def test_a_variant_that_varies_something_is_no_fault() -> None:
    view = divergence_section(study(spread("algo", [93.0, 93.5]), equal("control", 2)))
    row = next(it for it in view.tables[0].rows if it.label == "algo")
    assert row.note.startswith("varied here: init, shuffle")
    assert row.note.endswith("runs are meant to differ")


def test_without_control_it_tells_the_command() -> None:
    findings = study(spread("algo+impl", [93.0, 93.5]))
    assert "deviate run … --variants control" in divergence_section(findings).reasons[0]


def test_one_run_of_control_proves_nothing() -> None:
    view = divergence_section(study(equal("control", 1)))
    assert "The control variant has fewer than two completed runs" in view.reasons[0]
    assert view.tables[0].rows[0].cells[1].text == "not compared: fewer than two completed runs"


def test_imported_runs_are_not_blamed() -> None:
    view = divergence_section(judge([dataclasses.replace(scored("a", [1.0, 2.0]), imported=("a.csv",))]))
    assert view.tables == ()
    assert "Imported runs" in view.reasons[0]
