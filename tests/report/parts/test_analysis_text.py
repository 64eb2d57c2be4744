import dataclasses
from pathlib import Path

import pytest

from deviate.model.analysis import (
    Analysis,
    Hazard,
    Loop,
    Metric,
    Rejected,
    RejectionReason,
    SeedCall,
    SideEffect,
    Span,
)
from deviate.model.plan import SelectedMetric, Selection
from deviate.report.forms.registry import render
from deviate.report.parts.analysis_text import analysis_document

LOOP = Loop(0, "train.py", 40, 61, "for", "epoch", Span(40, 13, 40, 22), is_main=True)
ACC = Metric(0, "test_acc", "correct / total", "train.py", 61, "print", "quality", "max", ("named with correct",), 0)
TIME = Metric(
    1, "time", "end - begin", "train.py", 61, "print", "time", "min", ("difference of two clock readings",), 1
)
ANALYSIS = Analysis(
    Path("project"),
    "train.py",
    LOOP,
    (LOOP,),
    (ACC, TIME),
    (Rejected("lr", "train.py", 60, RejectionReason.SETTING, "read from the optimizer", 2),),
    (),
    (SeedCall("torch.manual_seed", "args.seed", "train.py", 12),),
    ("best.pt",),
    ("train.py",),
)
SELECTION = Selection((SelectedMetric("accuracy", ACC, "quality", "max"),))


def render_analysis(
    analysis: Analysis, selection: Selection, width: int, *, is_explained: bool = False, is_whole: bool = False
) -> str:
    document = analysis_document(analysis, selection, is_explained=is_explained, is_whole=is_whole)
    return render(document, "terminal", width=width)


def test_the_table_shows_what_is_recorded_and_why() -> None:
    assert render_analysis(ANALYSIS, SELECTION, 120) == (
        "Script     train.py\n"
        "Main loop  train.py:40  for epoch\n"
        "\n"
        "Metrics    1 selected of 2 found, reported by: print 2 (--explain shows the evidence)\n"
        "  metric    line  expression       role     better  why\n"
        "  accuracy  61    correct / total  quality  higher  named with correct\n"
        "  (time)    61    end - begin      time     lower   not selected in deviate.toml\n"
        "\n"
        "Result     accuracy is expected to lead; the first run decides. Another: --metric NAME.\n"
        "\n"
        "Reported, but no metrics    1, by reason (--all shows each)\n"
        "  setting:\n"
        "      lr (60)\n"
        "\n"
        "Hazards    none found\n"
        "\n"
        "Seed       train.py:12  torch.manual_seed(args.seed)\n"
        "Writes     best.pt  (start empty in each run)\n"
    )


def test_each_rejected_value_is_shown_with_its_own_reason_on_request() -> None:
    text = render_analysis(ANALYSIS, SELECTION, 120, is_whole=True)
    assert (
        "Reported, but no metrics    1\n"
        "  expression  line  why not\n"
        "  lr          60    setting: read from the optimizer\n"
    ) in text


def test_rejected_values_come_by_reason_with_near_misses_first_and_long_lists_cut() -> None:
    settings = [
        Rejected(f"args.s{number}", "train.py", number, RejectionReason.SETTING, f"read {number}", None)
        for number in range(12)
    ]
    counters = [Rejected("epoch", file, 3, RejectionReason.LOOP_COUNTER, file) for file in ("train.py", "lib/a.py")]
    miss = Rejected("x", "train.py", 5, RejectionReason.UNMARKED, "", 9)
    text = render_analysis(dataclasses.replace(ANALYSIS, rejected=(*settings, *counters, miss)), SELECTION, 80)
    assert (
        "Reported, but no metrics    15, by reason (--all shows each)\n"
        "  nothing marks it as a measurement:\n"
        "      x (5)\n"
        "  setting:\n"
        "      args.s0 (0), args.s1 (1), args.s2 (2), args.s3 (3), args.s4 (4), args.s5\n"
        "      (5), args.s6 (6), args.s7 (7), and 4 more\n"
        "  counter:\n"
        "      epoch (3, lib/a.py:3)\n"
    ) in text


HAZARDS = (
    *(Hazard("file-order", "data.py", line, "glob(p)", "names come in any order") for line in range(1, 7)),
    Hazard("ctc-loss", "train.py", 20, "nn.CTCLoss(\x1b[31m)", "the gradient adds in no fixed order"),
)


def test_hazards_come_by_kind_with_their_first_places() -> None:
    text = render_analysis(dataclasses.replace(ANALYSIS, hazards=HAZARDS), SELECTION, 80)
    assert (
        "Hazards    7, by kind (--all shows each)\n"
        "  file-order  6  data.py:1, data.py:2, data.py:3, data.py:4, and 2 more\n"
        "  ctc-loss    1  20\n"
        "\n"
        "Seed "
    ) in text


def test_each_hazard_is_shown_with_what_happens_on_request() -> None:
    analysis = dataclasses.replace(ANALYSIS, hazards=HAZARDS)
    wide = render_analysis(analysis, SELECTION, 120, is_whole=True)
    assert (
        "Hazards    7\n"
        "  hazard      line       expression    what happens\n"
        "  file-order  data.py:1  glob(p)       names come in any order\n"
    ) in wide
    assert "  ctc-loss    20         nn.CTCLoss()  the gradient adds in no fixed order\n" in wide
    narrow = render_analysis(analysis, SELECTION, 60, is_whole=True)
    assert "  ctc-loss    20         nn.CTCLoss()  the gradient adds in\n" in narrow


def test_the_file_is_shown_where_it_is_not_the_script() -> None:
    elsewhere = dataclasses.replace(ACC, file="lib/test.py", direction=None, sink="logging")
    text = render_analysis(dataclasses.replace(ANALYSIS, metrics=(elsewhere, TIME)), Selection(()), 120)
    assert "  (test_acc)  lib/test.py:61  correct / total  quality  unknown " in text
    assert "  (time)      61              end - begin      time     lower " in text
    assert "reported by: logging 1, print 1" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_asked(width: int) -> None:
    long = Metric(2, "n" * 50, "e" * 90, "train.py", 9, "print", "quality", None, ("a reason " * 20,), 3)
    analysis = Analysis(Path("p"), "s" * 40, None, (), (ACC, long), ANALYSIS.rejected, ())
    text = render_analysis(analysis, Selection((SelectedMetric("m" * 50, long, "quality", None),)), width)
    assert max(map(len, text.splitlines())) <= width
    assert "none found" in text


def test_control_codes_of_the_script_do_not_reach_the_terminal() -> None:
    evil = Metric(0, "m", "f('\x1b[31m')", "train.py", 1, "print", "quality", None, ("x\x07y",), 0)
    analysis = Analysis(Path("p"), "train.py", None, (), (evil,), (), ())
    text = render_analysis(analysis, Selection(()), 100)
    assert all(character.isprintable() or character == "\n" for character in text)


def test_loops_that_may_be_meant_are_listed_with_reasons() -> None:
    other = dataclasses.replace(
        LOOP, line=70, variable="step", is_main=False, evidence=("trains: f() at 71", "counts steps")
    )
    text = render_analysis(dataclasses.replace(ANALYSIS, alternatives=(other,) * 5), SELECTION, 100)
    assert text.count("or maybe   train.py:70  for step  (trains: f() at 71)\n") == 3


def test_nothing_found_is_said() -> None:
    text = render_analysis(Analysis(Path("p"), "train.py", None, (), (), (), ()), Selection(()), 100)
    assert "Metrics    none found\nNext       print the result" in text
    assert "no call that seeds was found" in text


def test_on_a_narrow_screen_cells_are_broken_between_words() -> None:
    text = render_analysis(ANALYSIS, SELECTION, 60)
    assert "  accuracy  61    correct /    quality  higher  named with\n" in text
    assert "                  total                         correct\n" in text


def test_side_effects_come_by_kind_each_with_its_places() -> None:
    effects = [SideEffect("upload", "wandb.save", "train.py", line) for line in range(70, 76)]
    effects += [SideEffect("absolute-path", "/data/out", "log.py", 3)]
    analysis = dataclasses.replace(ANALYSIS, side_effects=tuple(effects))
    text = render_analysis(analysis, SELECTION, 120)
    assert (
        "Outside    7, reach beyond the work copy of a run\n"
        "  absolute-path  /data/out (log.py:3)\n"
        "  upload         wandb.save (train.py:70, train.py:71, train.py:72, train.py:73, and 2 more)\n"
    ) in text
