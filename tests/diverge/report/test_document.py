"""The document of where two runs part: the answer on one screen, and every form of what stands behind it."""

import csv
import dataclasses
import difflib
import io
import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import NASTY, controls
from markup import Page
from papers import compiled_table
from partings import CASES, growing, operation, parted, place, spoken
from rich.cells import cell_len
from schemas import schema_flaws

from deviate import __version__
from deviate.diverge.findings import CodeLine, Confirmation, DivergenceFindings, Growth, Ulps
from deviate.diverge.report.answer import N_LINES, headline
from deviate.diverge.report.document import diverge_document
from deviate.diverge.report.words import size
from deviate.report.forms.registry import RENDERERS
from deviate.report.forms.registry import render as render_form
from deviate.report.parts.divergence import diverge_command

PATH = "the program took a different path in the forward pass"
FOLDER = Path(__file__).parents[1] / "golden"
HOW = "DEVIATE_GOLDEN=write pytest tests/diverge/report/test_document.py writes it anew"
FILES = {
    "screens.txt": lambda: _screens(120),
    "screens-80.txt": lambda: _screens(80),
    "backward.md": lambda: render(CASES["backward"](), "markdown"),
    "backward.tex": lambda: render(CASES["backward"](), "latex"),
    "backward.html": lambda: _bare(render(CASES["backward"](), "html")),
    "inputs.md": lambda: render(CASES["inputs"](), "markdown"),
    "ranks.json": lambda: render(CASES["ranks"](), "json"),
}


def render(found: DivergenceFindings, form: str, **surface: Any) -> str:
    return render_form(diverge_document(found), form, **surface)


def _screens(width: int) -> str:
    """Of every case, under its name."""
    return "\n".join(f"# {name}\n{render(make(), 'terminal', width=width)}" for name, make in CASES.items())


def _bare(page: str) -> str:
    """Without figures, data, style and script."""
    page = re.sub(r"(<svg\b[^>]*>).*?</svg>", r"\1…</svg>", page, flags=re.DOTALL)
    page = re.sub(r"(<(style|script)\b[^>]*>).*?(</\2>)", r"\1…\3", page, flags=re.DOTALL)
    return re.sub(r"(base64,|sha256-)[\w+/=]+", r"\1…", page)


@pytest.mark.parametrize("name", FILES)
def test_what_is_written_is_what_was_looked_at(name: str) -> None:
    made, path = FILES[name]().replace(__version__, "VERSION"), FOLDER / name
    if os.environ.get("DEVIATE_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(made, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    difference = difflib.unified_diff(kept.splitlines(), made.splitlines(), "kept", "made", n=1, lineterm="")
    assert list(difference)[:40] == [], HOW


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("case", CASES)
def test_every_answer_fits_on_one_screen(case: str, width: int) -> None:
    lines = render(CASES[case](), "terminal", width=width).splitlines()
    assert len(lines) <= N_LINES
    assert [line for line in lines if cell_len(line) > width and "deviate diverge" not in line] == []


@pytest.mark.parametrize("case", CASES)
def test_every_form_tells_the_first_words_of_the_answer(case: str) -> None:
    found = CASES[case]()
    answer = diverge_document(found).answer
    assert answer is not None
    assert render(found, "terminal").startswith(f"{answer.word} ")
    for form in ("html", "markdown"):
        assert answer.word in render(found, form)
    assert answer.tone == {True: "good", False: "bad", None: "neutral"}[found.is_equal]


@pytest.mark.parametrize("case", CASES)
def test_documents_are_as_the_schema_says(case: str) -> None:
    assert list(schema_flaws(render(CASES[case](), "json"), "diverge")) == []


def test_a_document_names_the_first_difference_by_itself() -> None:
    document = json.loads(render(CASES["backward"](), "json"))
    assert (document["first"]["rung"], document["first"]["name"]) == ("operations", "aten.index_put.default")
    assert document["first"] == document["rungs"][-1]["difference"]
    assert json.loads(render(CASES["equal"](), "json"))["first"] is None


def screen(found: DivergenceFindings) -> dict[str, str]:
    """Points of the answer by label, as one line each."""
    answer = diverge_document(found).answer
    assert answer is not None
    return {it.label: f"{it.text} {it.code}".strip() for it in answer.points}


def test_what_was_tried_in_vain_is_no_proof() -> None:
    assert {"Proof", "Tried"}.isdisjoint(screen(parted()))
    tried = Confirmation("with one thread", is_equal=False, n_steps=9, what="loss still differs")
    told = screen(parted(confirmations=(tried,)))
    assert told["Tried"] == "with one thread: loss still differs"
    assert "Proof" not in told


def test_what_one_run_alone_does_is_named_with_what_the_other_does() -> None:
    found = CASES["another_way"]()
    other = dataclasses.replace(found.rungs[-1], difference=operation(phase="program", only_in=1, instead=""))
    told = screen(dataclasses.replace(found, rungs=(other,)))
    assert "only in run 1; run 2 has nothing instead" in told["Operation"]
    ended = dataclasses.replace(
        other, difference=operation(phase="program", only_in=1, instead="its process ended", is_other_gone=True)
    )
    assert "only in run 1; run 2: its process ended" in screen(dataclasses.replace(found, rungs=(ended,)))["Operation"]


@pytest.mark.parametrize(
    ("during", "told"), [("forward", PATH), ("order", "the program took a different path, which changed the order of")]
)
def test_the_headline_of_another_way_tells_what_it_made_differ(during: str, told: str) -> None:
    found = CASES["another_way"]()
    *higher, last = found.rungs
    way = dataclasses.replace(last, difference=operation(phase="program", only_in=2, more={"during": during}))
    headed = headline(dataclasses.replace(found, rungs=(*higher, way)))
    assert headed.startswith(f"at update 3 (main-loop step 0): {told}")


def test_processes_that_are_compared_though_they_did_not_train_are_counted_among_the_ranks() -> None:
    found = CASES["ranks"]()
    several = dataclasses.replace(found, ranks=2)
    rung = next(it for it in reversed(found.rungs) if it.difference is not None)
    more = tuple(dataclasses.replace(rung.by_rank[0], rank=rank) for rank in range(3))
    rungs = tuple(dataclasses.replace(it, by_rank=more) if it is rung else it for it in found.rungs)
    text = " ".join(render(dataclasses.replace(several, rungs=rungs), "terminal").split())
    assert "rank 1 of 3 diverged first" in text


def test_two_other_ranks_are_told_with_their_differences() -> None:
    text = " ".join(render(CASES["ranks"](), "terminal").split())
    assert "rank 1 of 4 diverged first; rank 0 at update 3 (main-loop step 0), gradient of module.fc.weight" in text


@pytest.mark.parametrize(
    ("ulps", "told"),
    [
        (Ulps(37, 2, 9, 0.1, 0.5, "float64[9]"), "up to 37 ulps of float64 in 2 of 9 elements (relative 0.50)"),
        (Ulps(0, 2, 9, 0.0, 0.0, "float32[9]"), "only signs of zero or bits of NaN in 2 of 9 elements"),
        (Ulps(None, 2, 9, math.inf, math.inf, "float32[9]"), "finite in one run only in 2 of 9 elements"),
        (Ulps(None, 2, 9, 3.0, 1.0, "int64[9]"), "int64: at most 3 in 2 of 9 elements"),
        (Ulps(1, 1, 1, 1e-16, 2e-16, "float64"), "1 ulp of float64 (relative 2.0e−16)"),
    ],
)  # fmt: skip
def test_sizes_are_told_in_ulps_or_by_what_they_are(ulps: Ulps, told: str) -> None:
    assert size(ulps) == told


@pytest.mark.parametrize(
    ("command", "variant", "flags", "told"),
    [
        (("/usr/bin/python3", "a b.py", "-x"), "control", "", "deviate diverge 'a b.py' -- -x"),
        (("train.py",), "as-is", "", "deviate diverge train.py --variant as-is"),
        (("python", "t.py"), "impl", "--variant control", "deviate diverge t.py --variant control"),
        (("torchrun", "t.py"), "control", "--env A=1", "deviate diverge --env A=1 -- torchrun t.py"),
        (("python", "-m", "pkg"), "control", "", "deviate diverge -- python -m pkg"),
        (("python", "t.py", "--api-key", "abcdefg"), "control", "", "deviate diverge t.py -- --api-key '[redacted]'"),
    ],
)  # fmt: skip
def test_a_command_can_be_copied(command: tuple[str, ...], variant: str, flags: str, told: str) -> None:
    assert diverge_command(command, variant, flags) == told


def test_the_figure_draws_both_runs_and_the_difference_on_logarithmic_axes() -> None:
    page = render(CASES["backward"](), "html")
    both, difference = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    texts = re.findall(r">([^<>]+)</text>", both + difference)
    assert {"loss", "difference of loss", "run 1", "run 2", "update"} <= set(texts)
    assert {"1e−7", "0"} <= set(texts)
    assert 'class="series-2"' in difference
    assert "stroke-dasharray" in both


def test_runs_whose_loss_never_differs_have_one_figure() -> None:
    page = render(CASES["equal"](), "html")
    assert "difference of loss" not in page


def test_values_that_are_no_numbers_are_drawn_as_gaps_and_kept_in_the_data() -> None:
    first, second = (2.0, math.inf, 1.0, math.nan), (2.0, 1.0, math.nan, math.nan)
    gaps = (0.0, math.inf, math.nan, math.nan)
    odd = Growth("loss", "update", (0, 1, 2, 3), gaps, first, second)
    found = parted(growth=(odd,))
    assert "<svg" in render(found, "html")
    assert list(schema_flaws(render(found, "json"), "diverge")) == []
    table = list(csv.reader(io.StringIO(render(found, "csv"))))
    assert table[2] == ["loss", "update", "1", "inf", "1.0", "inf"]


def test_a_quantity_of_one_step_or_of_large_numbers_is_drawn() -> None:
    one = Growth("loss", "update", (0,), (1.0,), (1e300,), (2e300,))
    many = dataclasses.replace(growing(n=5000), name="other")
    page = render(parted(growth=(one, many)), "html")
    figures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(figures) == 4
    assert len(figures[3]) < 60_000, "lines are thinned"


def test_the_source_shows_the_lines_around_each_place_once() -> None:
    page = Page(render(CASES["backward"](), "html"))
    assert len(page.of("mark")) == 2
    (section,) = [it for it in diverge_document(CASES["backward"]()).sections if it.key == "source"]
    (excerpt,) = section.blocks
    assert [line.number for line in excerpt.lines if line.is_marked] == ["41", "43"]
    apart = dataclasses.replace(place(41), line=400, from_line=396, file="other.py")
    several = parted(operation(more={"called": apart}))
    (section,) = [it for it in diverge_document(several).sections if it.key == "source"]
    assert len(section.blocks) == 2


def test_a_line_that_could_not_be_read_is_told_by_its_number() -> None:
    found = parted(operation(place=CodeLine("train.py", 7), more={}), causes=())
    assert screen(found)["Line"] == "train.py:7"
    assert "No source line" in render(found, "html")


@pytest.mark.parametrize("seconds", [0.0, 31.4])
def test_a_sheet_is_the_same_text_each_time(seconds: float) -> None:
    rungs = tuple(dataclasses.replace(it, wall_time_s=seconds) for it in CASES["backward"]().rungs)
    found = dataclasses.replace(CASES["backward"](), rungs=rungs)
    assert render(found, "html") == render(found, "html")


@pytest.mark.parametrize("form", sorted(RENDERERS))
@pytest.mark.parametrize("turn", [0, 11, 23])
def test_no_form_obeys_what_a_script_brings(turn: int, form: str) -> None:
    texts = [*NASTY.values()]
    found = spoken([*texts[turn:], *texts[:turn]])
    text = render(found, form)
    assert text.encode()
    assert not controls(text)
    if form == "html":
        assert _tags(text) == _tags(render(spoken(["word"]), "html"))
    if form == "json":
        assert list(schema_flaws(text, "diverge")) == []
    if form == "markdown":
        outside = re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$", "", text)
        assert not re.search(r"(?<!\\)(?:<\w|@\w|\]\()", re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", outside))


def _tags(page: str) -> set[tuple[str, tuple[str, ...]]]:
    """Elements outside of figures by name, with the names of their attributes."""
    return {(tag, tuple(own)) for tag, own in Page(re.sub(r"(?s)<svg.*?</svg>", "", page)).elements}


@pytest.mark.parametrize("make", [CASES["backward"], CASES["nothing"], lambda: spoken([*NASTY.values()])])
def test_the_tables_compile(
    make: Callable[[], DivergenceFindings], tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("pdflatex")
    assert compiled_table(render(make(), "latex"), tmp_path).error == ""


@pytest.mark.parametrize("width", [80, 120])
def test_words_of_any_length_leave_the_answer_on_its_screen(width: int) -> None:
    assert len(render(spoken(["many words " * 300, "x" * 3000]), "terminal", width=width).splitlines()) <= N_LINES


def test_a_command_that_the_terminal_breaks_takes_the_room_of_other_lines() -> None:
    words = tuple(f"--option-{number}=value" for number in range(7))
    found = dataclasses.replace(
        CASES["recorded"](), command=("train.py", *words), notes=("many words " * 60, "other words " * 40)
    )
    lines = render(found, "terminal", width=80).splitlines()
    assert any(cell_len(line) > 80 for line in lines)
    assert sum(max(1, math.ceil(cell_len(line) / 80)) for line in lines) <= N_LINES


@pytest.mark.parametrize("apart", [1.2e-7, 3e-5, 0.7, 12.0])
def test_an_axis_of_powers_of_ten_has_numbers_however_little_the_difference_grows(apart: float) -> None:
    calm = Growth("loss", "update", (0, 1), (apart, 1.1 * apart), (1.0, 1.0), (1.0 + apart, 1.0 + 1.1 * apart))
    _, figure = re.findall(r"<svg.*?</svg>", render(parted(growth=(calm,)), "html"), flags=re.DOTALL)
    powers = {f"1e−{n}" for n in range(4, 9)} | {"0.1", "1", "10", "100", "0.01"}
    assert len(powers & set(re.findall(r">([^<>]+)</text>", figure))) >= 2
