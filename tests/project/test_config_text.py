"""Changes of the text of `deviate.toml` keep every other byte."""

import dataclasses
import re
import tomllib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.errors import ToolError
from deviate.model.analysis import Place
from deviate.project.config import MetricConfig, parse
from deviate.project.config_text import (
    ConfigText,
    comment,
    comment_out,
    item,
    key,
    pieces_of,
    section_lines,
    section_text,
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


def listed(text: str) -> dict[str, MetricConfig]:
    return {section.name: section for section in parse(text, "deviate.toml").metrics or ()}


def rest(text: str, *without: str) -> list[MetricConfig]:
    return [section for name, section in listed(text).items() if name not in without]


def extended(text: str, sections: Sequence[MetricConfig], reason: str = "") -> str:
    document = ConfigText(text)
    document.insert([section_text(section, reason) for section in sections])
    return document.listing([*rest(text), *sections])


def without(text: str, *names: str) -> str:
    document = ConfigText(text)
    for name in names:
        document.comment_out(name, "Gone:")
    return document.listing(rest(text, *names))


def remembering(text: str, statements: dict[Place, str]) -> str:
    document = ConfigText(text)
    document.remember(statements)
    return document.listing(rest(text))


def changed(text: str, *table: str, **values: str | list[str]) -> str:
    document = ConfigText(text)
    document.set(table, values)
    names = [name for name in listed(text) if name in table]
    sections = {
        **listed(text),
        **{name: dataclasses.replace(listed(text)[name], where=Place("train.py", 4)) for name in names},
    }
    return document.listing(sections.values())


NEW = MetricConfig("new", Place("train.py", 7), 'f("x")')


def test_an_unchanged_file_keeps_every_byte() -> None:
    assert ConfigText(FILE).listing(rest(FILE)) == FILE


def test_a_new_file_has_its_sections_separated_by_blank_lines() -> None:
    text = extended("", [NEW, MetricConfig("b")], "called new")
    assert text == (
        '[metrics.new]\n# called new\nwhere = "train.py:7"\nexpression = \'f("x")\'\n\n[metrics.b]\n# called new\n'
    )


def test_only_the_values_that_change_are_touched() -> None:
    assert changed(FILE, "metrics", "loss", where="train.py:4") == FILE.replace("train.py:3", "train.py:4")
    assert changed(FILE, "experiment", train="train.py") == FILE.replace("# seven\n", '# seven\ntrain = "train.py"\n')
    assert changed(FILE, "experiment") == FILE


def test_new_sections_come_after_the_metrics_and_the_comments_that_belong_to_them() -> None:
    before, _, after = extended(FILE, [NEW]).partition("[metrics.new]")
    assert before.endswith('where = "./train.py:5"\n\n')
    assert after.endswith('"train.py:7"\nexpression = \'f("x")\'\n\n# late\n[snapshot]\nfresh = ["out/"]\n# the end\n')
    end = '[experiment]\ntrain = "train.py"\n[metrics.a]\nunit = "%"\n# of a\n'
    assert extended(end, [MetricConfig("b")]) == end + "\n[metrics.b]\n"


def test_a_section_that_is_gone_stays_as_a_comment_with_the_reason() -> None:
    text = without(FILE, "loss")
    assert "# why loss\n# Gone:\n# [metrics.loss]  # [the] loss\n# where   = " in text
    assert "# ]\n# still loss\n" in text


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
    assert list(listed(changed(text, "metrics", "a", where="train.py:4"))) == ["a", "b"]
    left = without(text, "a")
    assert re.search(r"^# .*unit = ", left, re.MULTILINE)
    assert listed(without(left, "b")) == {}


def test_line_ends_are_kept() -> None:
    dos = FILE.replace("\n", "\r\n")
    text = extended(dos, [NEW])
    assert text.count("\n") == text.count("\r\n")
    assert text.replace("\r\n", "\n") == extended(FILE, [NEW])


def test_statements_are_replaced_as_a_whole_and_comments_stay() -> None:
    text = '[statements] # by hand\n# mine\n"a.py:1" = "old"\n\n# after\n[metrics.a]\n'
    assert remembering(text, {Place("a.py", 2): "new"}) == text.replace('"a.py:1" = "old"', '"a.py:2" = "new"')
    added = remembering("[metrics.a]\n", {Place("a.py", 3): "x = 1"})
    assert re.fullmatch(r'\[metrics\.a\]\n\n# Statements at .*\n\[statements\]\n"a\.py:3" = "x = 1"\n', added)


def test_a_text_that_does_not_list_the_metrics_is_refused() -> None:
    with pytest.raises(ToolError, match="is unchanged"):
        ConfigText('[metrics.a]\nunit = "%"\n').listing([MetricConfig("a")])


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


@given(LISTS, st.integers(0, 4))
def test_whatever_is_written_is_read_again(sections: list[MetricConfig], n_gone: int) -> None:
    text = extended("", sections)
    assert listed(text) == {section.name: section for section in sections}
    left = without(text, *(section.name for section in sections[:n_gone]))
    assert listed(left) == {section.name: section for section in sections[n_gone:]}


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
    assert [piece.text.partition("\n")[0] for piece in pieces] == [
        "",
        "[experiment] # run",
        '[metrics."loss [0]"] # [x]',
        "[ metrics . acc ]",
    ]
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
