"""Pieces of a TOML file together are the file, and each is whole by itself."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.project.toml_text import comment, commented, item, key, pieces_of

FILE = """\
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
    text = FILE.replace("\n[0]\n  ]", "\n]")
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
    assert commented("[a]\n\nx = 1\n") == "# [a]\n\n# x = 1\n"
