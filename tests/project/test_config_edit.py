"""Rewriting changes what is wanted and keeps every other byte."""

import re
import tomllib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.errors import ToolError
from deviate.model.analysis import Place
from deviate.project.config import MetricConfig, parse
from deviate.project.config_edit import (
    Entry,
    Rewriting,
    comment,
    comment_out,
    item,
    key,
    pieces_of,
    rewrite,
    section_lines,
)

FILE = """\
# mine

[experiment]   # the run
runs = 7 # seven

# why loss
[metrics.loss]  # [the] loss
where   = "train.py:3"   # here
expression = "loss"
path = [
  "train.py:9", # from main
]
# still loss

# why acc
[metrics.'acc [%]']
where = "./train.py:5"

# late
[snapshot]
fresh = ["out/"]
# the end
"""


def rewritten(
    text: str,
    entries: Sequence[Entry],
    *,
    dropped: dict[str, str] | None = None,
    offered: Sequence[Entry] = (),
    statements: dict[Place, str] | None = None,
    main_loop: Place | None = None,
) -> str:
    wanted = Rewriting("train.py", main_loop, "Introduced.", entries, dropped or {}, offered, statements or {})
    return rewrite(text, wanted)


def listed(text: str) -> dict[str, MetricConfig]:
    return {section.name: section for section in parse(text, "deviate.toml").metrics or ()}


def kept(text: str, *but: str) -> list[Entry]:
    return [Entry(section, section) for name, section in listed(text).items() if name not in but]


def changed(section: MetricConfig, **changes: object) -> Entry:
    fields = {name: getattr(section, name) for name in section.__slots__}
    return Entry(MetricConfig(**{**fields, **changes}), section)  # type: ignore[arg-type]


NEW = Entry(MetricConfig("new", Place("train.py", 7), 'f("x")'), reason="called new")


def test_nothing_wanted_changes_nothing_but_the_name_of_the_script() -> None:
    assert rewritten(FILE, kept(FILE)) == FILE.replace("# seven\n", '# seven\ntrain = "train.py"\n')


def test_a_new_file_holds_all_in_order() -> None:
    text = rewritten(
        "", [NEW], offered=[Entry(MetricConfig("step"), reason="counter")], statements={Place("a.py", 3): "x = 1"}
    )
    assert re.sub(r"\n# Statements at .*\n", "\n# …\n", text) == (
        "# Introduced.\n"
        "\n"
        "[experiment]\n"
        'train = "train.py"\n'
        "\n"
        "[metrics.new]\n"
        "# called new\n"
        'where = "train.py:7"\n'
        "expression = 'f(\"x\")'\n"
        "\n"
        "# ---- Also reported, but not recorded. Uncomment a section to record it.\n"
        "\n"
        "# [metrics.step]\n"
        "# # counter\n"
        "\n"
        "# …\n"
        "[statements]\n"
        '"a.py:3" = "x = 1"\n'
    )


def test_only_the_values_that_change_are_touched() -> None:
    loss, acc = listed(FILE).values()
    entries = [changed(loss, where=Place("train.py", 4), direction="min"), Entry(acc, acc)]
    text = rewritten(FILE, entries)
    assert 'where   = "train.py:4"   # here\n' in text
    assert '  "train.py:9", # from main\n]\ndirection = "min"\n# still loss\n' in text
    back = text.replace("train.py:4", "train.py:3").replace('direction = "min"\n', "")
    assert back == rewritten(FILE, kept(FILE))


def test_a_key_that_is_taken_back_is_removed() -> None:
    text = '[metrics.a]\nwhere = "t.py:1"\nprimary = true # best\nmargin = 0.5\n[experiment]\ntrain = "train.py"\n'
    (section,) = listed(text).values()
    assert rewritten(text, [changed(section, is_primary=False)]) == text.replace("primary = true # best\n", "")


def test_names_change_in_the_header_and_can_be_exchanged() -> None:
    loss, acc = listed(FILE).values()
    text = rewritten(FILE, [changed(loss, name="acc [%]"), changed(acc, name="loss")])
    assert '[metrics."acc [%]"]  # [the] loss\nwhere   =' in text
    assert '# why acc\n[metrics.loss]\nwhere = "./train.py:5"\n' in text


def test_new_sections_come_after_the_metrics_and_the_comments_that_belong_to_them() -> None:
    text = rewritten(FILE, [*kept(FILE), NEW])
    before, _, after = text.partition("[metrics.new]")
    assert before.endswith('where = "./train.py:5"\n\n')
    assert after.endswith('"train.py:7"\nexpression = \'f("x")\'\n\n# late\n[snapshot]\nfresh = ["out/"]\n# the end\n')
    end = '[experiment]\ntrain = "train.py"\n[metrics.a]\nunit = "%"\n# of a\n'
    assert rewritten(end, [*kept(end), Entry(MetricConfig("b"))]) == end + "\n[metrics.b]\n"


def test_a_section_that_is_gone_stays_as_a_comment_with_the_reason() -> None:
    text = rewritten(FILE, kept(FILE, "loss"), dropped={"loss": "Gone:"})
    assert "# why loss\n# Gone:\n# [metrics.loss]  # [the] loss\n# where   = " in text
    assert "# ]\n# still loss\n" in text
    assert list(listed(text)) == ["acc [%]"]


@pytest.mark.parametrize(
    "text",
    [
        'metrics.a.unit = "%"\nmetrics.b.unit = "s"\n',
        'metrics = {a = {unit = "%"}, b = {unit = "s"}}\n',
        '[metrics]\na = {unit = "%"}\nb.unit = "s" # b\n',
        '[metrics.a]\nunit = "%"\n[snapshot]\nfresh = []\n[metrics.b]\nunit = "s"',
        '\n[ metrics . "a" ]\nunit = """\n[metrics.x]\n# %"""\n["metrics".b]\n# none\n',
    ],
)
def test_every_form_of_a_section_can_be_changed_and_commented_out(text: str) -> None:
    text = text.replace("\n# none", '\nunit = "s"')
    a, b = listed(text).values()
    entries = [changed(a, name="c d", margin=1.0), Entry(b, b)]
    assert listed(rewritten(text, entries)) == {entry.section.name: entry.section for entry in entries}
    left = rewritten(text, [Entry(b, b)], dropped={"a": "Gone."})
    assert list(listed(left)) == ["b"]
    assert re.search(r"^# .*unit = ", left, re.MULTILINE)


def test_a_chosen_main_loop_is_written_down_changed_and_taken_back() -> None:
    chosen = rewritten(FILE, kept(FILE), main_loop=Place("train.py", 9))
    assert 'runs = 7 # seven\ntrain = "train.py"\nmain_loop = "train.py:9"\n\n# why loss\n' in chosen
    assert parse(chosen, "deviate.toml").main_loop == Place("train.py", 9)
    moved = rewritten(chosen, kept(FILE), main_loop=Place("a.py", 1))
    assert moved == chosen.replace('train.py:9"\n\n#', 'a.py:1"\n\n#')
    assert rewritten(moved, kept(FILE)) == rewritten(FILE, kept(FILE))
    assert 'train = "train.py"\nmain_loop = "a.py:1"\n' in rewritten("", [NEW], main_loop=Place("a.py", 1))


def test_line_ends_are_kept() -> None:
    dos = FILE.replace("\n", "\r\n")
    text = rewritten(dos, [*kept(FILE), NEW], statements={Place("train.py", 3): "x"})
    assert text.count("\n") == text.count("\r\n")
    assert text.replace("\r\n", "\n") == rewritten(FILE, [*kept(FILE), NEW], statements={Place("train.py", 3): "x"})


def test_what_stood_at_places_is_replaced_as_a_whole_and_comments_stay() -> None:
    text = (
        '[statements] # by hand\n# mine\n"a.py:1" = "old"\n\n# after\n[metrics.a]\n[experiment]\ntrain = "train.py"\n'
    )
    new = rewritten(text, kept(text), statements={Place("a.py", 2): "new"})
    assert new == text.replace('"a.py:1" = "old"', '"a.py:2" = "new"')


def test_a_file_that_would_not_say_what_is_wanted_is_not_written() -> None:
    with pytest.raises(ToolError, match="is unchanged"):
        rewritten('[metrics.a]\nunit = "%"\n', [Entry(MetricConfig("a"))])


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
PLACES = st.builds(Place, st.sampled_from(["train.py", "a b/c.py"]), st.integers(1, 999))
SECTIONS = st.builds(
    MetricConfig,
    name=TEXTS,
    where=st.none() | PLACES,
    expression=st.none() | TEXTS,
    path=st.none() | st.lists(PLACES, min_size=1, max_size=3).map(tuple),
    label=st.none() | TEXTS,
    direction=st.sampled_from([None, "min", "none"]),
    aggregate=st.sampled_from(["last", "at:3"]),
    unit=st.sampled_from(["", "%", "'\\"]),
    role=st.sampled_from([None, "time"]),
    margin=st.none() | st.floats(0, 1e9),
)
LISTS = st.lists(SECTIONS, min_size=1, max_size=4, unique_by=lambda section: section.name)


@given(LISTS, LISTS, st.integers(0, 4))
def test_whatever_is_written_is_read_again(first: list[MetricConfig], then: list[MetricConfig], n_kept: int) -> None:
    text = rewritten("", [Entry(section) for section in first])
    assert listed(text) == {section.name: section for section in first}
    pairs = list(zip(then, first, strict=False))[:n_kept]
    entries = [Entry(section, was) for section, was in pairs] + [Entry(section) for section in then[len(pairs) :]]
    again = rewritten(text, entries, dropped={section.name: "Gone." for section in first[len(pairs) :]})
    assert listed(again) == {section.name: section for section in then}


def test_a_section_leaves_out_what_goes_without_saying() -> None:
    assert section_lines(MetricConfig("a", is_primary=True, path=(Place("a.py", 3),))) == [
        'path = ["a.py:3"]',
        "primary = true",
    ]


PIECES = """\
# above

[experiment] # run
then = [
  "a",
[0]
  ]

# about loss
[metrics."loss [0]"] # [x]
unit = '''
[metrics.no]
# no comment'''
# below

[ metrics . acc ]
"""


def test_pieces_begin_with_the_headers_alone() -> None:
    text = PIECES.replace("\n[0]\n  ]", "\n]")
    pieces = pieces_of(text)
    assert [piece.key for piece in pieces] == [(), ("experiment",), ("metrics", "loss [0]"), ("metrics", "acc")]
    assert "".join(piece.text + piece.gap for piece in pieces) == text
    assert pieces[1].gap == "\n# about loss\n"
    assert pieces[2].text.endswith("# no comment'''\n")
    assert pieces[2].gap == "# below\n\n"
    assert pieces[2].holds("metrics", "loss [0]", "unit")
    assert not pieces[2].holds("metrics", "acc")


def test_a_line_inside_a_value_begins_no_piece() -> None:
    text = "[a]\nx = [\n  [1],\n[2],\n]\n[b]\n"
    assert [piece.text for piece in pieces_of(text)] == ["[a]\nx = [\n  [1],\n[2],\n]\n", "[b]\n"]


@pytest.mark.parametrize(
    ("gap", "is_last", "parts"),
    [
        ("# mine\n\n# next\n", False, ("# mine\n", "\n# next\n")),
        ("# next\n", False, ("", "# next\n")),
        ("# mine\n", True, ("# mine\n", "")),
        ("\n", False, ("", "\n")),
    ],
)
def test_comments_belong_to_what_they_touch(gap: str, is_last: bool, parts: tuple[str, str]) -> None:  # noqa: FBT001
    (piece,) = pieces_of(f"[a]\nx = 1\n{gap}")
    assert piece.split_gap(is_last=is_last) == parts


@given(st.text(), st.text(min_size=1))
def test_names_and_values_come_back_as_they_were(value: str, name: str) -> None:
    value, name = (text.encode("utf-8", "ignore").decode() for text in (value, name))
    assert tomllib.loads(f"{key(name)} = {item(value).as_string()}\n") == {name: value}


@given(st.text())
def test_comments_are_nothing_but_comments(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert tomllib.loads(comment(text)) == {}
    assert tomllib.loads(comment(text, 20)) == {}


def test_commented_lines_keep_their_blank_ones() -> None:
    assert comment_out("[a]\n\nx = 1\n") == "# [a]\n\n# x = 1\n"
