import dataclasses

import pytest

from deviate.model.diagnosis import Concern, Control, Diagnosis, Framework, Interpreter, Machine
from deviate.report.forms.registry import render
from deviate.report.parts.doctor_text import diagnosis_document

FACTORS = ("init", "shuffle", "augment", "dropout", "split", "other", "kernels", "autotune", "precision", "hash")
NO = Control("dropout", "no", "nothing tells what a key is for", "draw through named streams")
CONTROLS = tuple(NO if factor == "dropout" else Control(factor, "yes") for factor in FACTORS)
JAX = Framework(
    "jax",
    "works",
    version="0.10.2",
    build="jaxlib 0.10.2, jax-cuda13-plugin 0.10.2, jax-cuda13-pjrt 0.10.2, libtpu of the year before last",
    devices=("CPU", "gpu NVIDIA L4"),
    controls=CONTROLS,
    limits=(Concern("sessions", "nothing is promised for them", "run eagerly"),),
    tried=("XLA takes the flag",),
)
DIAGNOSIS = Diagnosis(
    Interpreter("python", "/home/somebody/venv/bin/python", "3.12.1"),
    Machine(
        "Linux x86_64", "Some Processor of 2.50GHz", ("avx", "avx2"), 8, 4, 2.5, ("NVIDIA L4 (driver 570)",), "Docker"
    ),
    (
        JAX,
        Framework("optax", "works", version="0.2", rests_on="jax"),
        Framework(
            "torch", "broken", version="2.13.0", fault="importing it failed: ImportError", advice="install it anew"
        ),
        Framework("keras", "absent"),
    ),
    (Concern("XLA_FLAGS=--a", "takes back what holds the kernels", "unset XLA_FLAGS"),),
    2.0,
)


def render_diagnosis(diagnosis: Diagnosis, width: int, *, is_coloured: bool = False) -> str:
    return render(diagnosis_document(diagnosis), "terminal", width=width, is_coloured=is_coloured)


@pytest.mark.parametrize("width", [40, 60, 72, 80, 100, 120, 200])
def test_no_line_is_wider_than_asked_for(width: int) -> None:
    assert max(map(len, render_diagnosis(DIAGNOSIS, width).splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_everything_is_told_at_any_width(width: int) -> None:
    text = " ".join(render_diagnosis(DIAGNOSIS, width).split())
    for told in (
        "/home/somebody/venv/bin/python · Python 3.12.1",
        "4 of 8 CPUs, 2.5 CPUs' worth of time",
        "NVIDIA L4 (driver 570)",
        "libtpu of the year before last",
        "optax: as jax",
        "not installed: keras",
        "dropout: no nothing tells what a key is for → draw through named streams",
        "sessions nothing is promised for them → run eagerly",
        "broken importing it failed: ImportError → install it anew",
        "jax · XLA takes the flag",
        "XLA_FLAGS=--a takes back what holds the kernels → unset XLA_FLAGS",
    ):
        assert told in text


def test_a_row_has_an_answer_for_each_factor() -> None:
    lines = render_diagnosis(DIAGNOSIS, 120).splitlines()
    streams = lines.index(next(line for line in lines if line.split()[:1] == ["init"]))
    assert lines[streams].split() == list(FACTORS[:6])
    assert lines[streams + 1].split() == ["jax", "yes", "yes", "yes", "no", "yes", "yes"]
    assert lines[streams + 2].split() == list(FACTORS[6:])


def test_factors_with_the_same_reason_are_told_together() -> None:
    also = tuple(
        dataclasses.replace(NO, factor=item.factor) if item.factor == "init" else item for item in JAX.controls
    )
    text = render_diagnosis(dataclasses.replace(DIAGNOSIS, frameworks=(dataclasses.replace(JAX, controls=also),)), 120)
    assert "jax · init, dropout: no" in text
    assert text.count(NO.why) == 1


def test_a_broken_framework_has_no_row_of_answers() -> None:
    table = (
        render_diagnosis(DIAGNOSIS, 120).partition("What deviate can control here")[2].partition("Not controlled")[0]
    )
    assert "torch" not in table


def test_colour_comes_only_where_asked_for_and_changes_no_letter() -> None:
    plain, coloured = render_diagnosis(DIAGNOSIS, 80), render_diagnosis(DIAGNOSIS, 80, is_coloured=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31mno\x1b[0m" in coloured
    for code in ("\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_control_codes_of_others_do_not_reach_the_terminal() -> None:
    odd = Framework("torch", "broken", fault="ImportError: \x1b[2Jgone", advice="install it anew")
    assert "\x1b" not in render_diagnosis(dataclasses.replace(DIAGNOSIS, frameworks=(odd,)), 80)


def test_a_machine_without_hazards_is_told_to_have_none() -> None:
    assert "none found" in render_diagnosis(dataclasses.replace(DIAGNOSIS, hazards=()), 80)


def test_an_interpreter_that_is_too_old_is_told_with_its_hazard_alone() -> None:
    text = render_diagnosis(dataclasses.replace(DIAGNOSIS, machine=None, frameworks=()), 80)
    assert text.splitlines()[0].startswith("Interpreter")
    assert "Hazards" in text
