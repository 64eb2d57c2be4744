"""What is shown fits the screen and holds no control codes of the script's."""

import io
from pathlib import Path

from rich.console import Console, RenderableType

from deviate.model.analysis import Analysis, Loop, Metric, Place, Rejected, RejectionReason, Span
from deviate.project.config import MetricConfig
from deviate.project.review_items import Item, show_item, show_loop, show_misses, show_summary

LOOP = Loop(0, "train.py", 2, 9, "for", "epoch", Span(2, 13, 2, 22), is_main=True)
LONG = Metric(
    0, "n" * 70, "f('\x1b[31m') + " + "e" * 90, "train.py", 3, "print", "quality", None, ("why " * 60,), 0,
    (Place("lib/other.py", 2),),
)  # fmt: skip


def shown(what: RenderableType) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=80).print(what)
    return stream.getvalue().splitlines()


def analysis(root: Path, loop: Loop | None = LOOP) -> Analysis:
    (root / "train.py").write_text(
        "import x\nfor epoch in range(3):\n    print('\x1b[31m',\n        f(x)\n    )\n    y()\n"
    )
    return Analysis(root, "train.py", loop, (), (LONG,), (), ())


def test_no_line_is_wider_than_the_screen_and_all_is_printable(tmp_path: Path) -> None:
    item = Item(MetricConfig("n" * 70, unit="%", is_primary=True, margin=0.25), LONG)
    outcome = analysis(tmp_path)
    for what in (show_item(item, 1, 2, outcome), show_summary([item], outcome), show_loop(outcome)):
        lines = shown(what)
        assert max(map(len, lines)) <= 80
        assert all(line.isprintable() for line in lines)
    text = " ".join(" ".join(shown(show_item(item, 1, 2, outcome))).split())
    for words in ("1/2", "recorded", "direction unknown", "unit %", "primary", "margin 0.25", "lib/other.py:2"):
        assert words in text


def test_a_statement_of_several_lines_is_shown_whole_and_without_the_next(tmp_path: Path) -> None:
    text = "\n".join(shown(show_item(Item(MetricConfig("a"), LONG), 1, 1, analysis(tmp_path))))
    assert "f(x)" in text
    assert "y()" not in text


def test_a_script_without_a_loop_is_told(tmp_path: Path) -> None:
    assert "none found" in " ".join(shown(show_loop(analysis(tmp_path, None))))
    assert "for epoch in range(3):" in " ".join(shown(show_loop(analysis(tmp_path))))


def test_long_lists_are_cut_with_the_key_for_the_rest() -> None:
    misses = [
        Rejected(f"value_{number}", "train.py", number, RejectionReason.COUNTER, "a value", number)
        for number in range(1, 20)
    ]
    lines = shown(show_misses(misses, 12))
    assert any("value_12 " in line for line in lines)
    assert not any("value_13 " in line for line in lines)
    assert "show all 19" in " ".join(lines)
    assert "show" not in " ".join(shown(show_misses(misses, None)))
