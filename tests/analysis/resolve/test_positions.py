"""Positions are those of libcst's PositionProvider, and of the text where libcst loses a part of it."""

from pathlib import Path

import libcst as cst
import pytest
from installed import installed_files
from libcst.metadata import MetadataWrapper, PositionProvider

from deviate.analysis.resolve.positions import Ranges
from deviate.analysis.resolve.source import read_source
from deviate.analysis.resolve.tree import walk
from deviate.errors import InputError

LAYOUT = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Newline)


def differences(tree: cst.Module, text: str) -> list[str]:
    expected = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    ranges = Ranges(tree, text)
    return [
        f"{type(node).__name__} {where} {ranges[node]}"
        for node, where in expected.items()
        if not isinstance(node, LAYOUT) and ranges[node] != where
    ]


@pytest.mark.slow
def test_every_node_of_installed_files_has_the_range_that_libcst_gives_it() -> None:
    n_compared = 0
    for path in installed_files(1_020)[::40]:
        try:
            source = read_source(path, path.name)
        except InputError:
            continue
        if source.tree.code == source.text:  # else libcst counts what it has lost as not there
            assert differences(source.tree, source.text) == [], path
            n_compared += 1
    assert n_compared > 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "x = 1",
        "# only a comment",
        "if x:\n    y\n    # end",
        "def f(a, /, b=(1), *c, d: int = 2, **e) -> (int): return (a), [b], {**e}\n",
        "x = ((a, b)); y = (yield); z = ((i) for i in (j)); (a)[(1):(2)] = ('b' f'{c!r:>{d}}')\n",
        "@a.b\n@c\nclass D[T: int = str](E, metaclass=F): 'doc'\n",
        "try:\n  pass\nexcept (A, B) as e: pass\nelse: pass\nfinally:\n  with (a) as b, c: pass\n",
        "match (x):\n  case {'a': [1, *_], **r} | A(b=1) if c: pass\n",
        "async def f():\n  async for x in y: await (z)\n  return [a async for b in c if d]\n",
        "x = '''a\r\nb'''; y = 2\r\nz = 3\r",
        "if x: a\nelif y: b\nelse: c\nfor i in ((1, 2)): pass\nelse: d\nwhile (a): b",
    ],
)
def test_every_kind_of_syntax_has_the_ranges_that_libcst_gives(text: str) -> None:
    assert differences(cst.parse_module(text), text) == []


@pytest.mark.parametrize(
    "text",
    [
        "\f\nx = 1\n\fprint(a)\n",
        "\\\nprint(a)\n",
        "def f():\n    x\n\f    \n\f    print(a)\n",
        "x = 1\n    \\\n\nprint(a)",
    ],
)
def test_what_libcst_loses_before_a_statement_does_not_move_it(text: str) -> None:
    tree = cst.parse_module(text)
    call = next(node for node in walk(tree) if isinstance(node, cst.Call))
    where = Ranges(tree, text)[call]
    before = text[: text.index("print")]
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1)
    assert (where.start.line, where.start.column, where.end.line, where.end.column) == (line, column, line, column + 8)


def test_a_last_line_of_a_form_feed_alone_moves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("x = 1\n\fprint(x)\n\f")
    source = read_source(path, path.name)
    (call,) = (node for node in walk(source.tree) if isinstance(node, cst.Call))
    assert source.between(source.span(call)) == "print(x)"
