"""Taps into a source text: insertions within lines, so that every line keeps its number and every comment its place."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from deviate.errors import ToolError
from deviate.model import Loop, Site, Span

LOG = "__deviate_log__"
LOOP = "__deviate_loop__"
WHILE = "__deviate_while__"
FORMAT = "__deviate_format__"

BOOTSTRAP = (
    '__import__("builtins").__dict__.get("__deviate_log__") or exec("import builtins as b, os, sys\\n'
    "g = os.environ.get('DEVIATE_GUEST', '')\\n"
    "try:\\n sys.path.insert(0, g); import _deviate_guest.runtime as r; r.start()\\n"
    "except Exception:\\n pass\\n"
    "finally:\\n g in sys.path and sys.path.remove(g)\\n"
    "if not hasattr(b, '__deviate_log__'):\\n b.__deviate_log__ = lambda i, v, l=None: v; "
    'b.__deviate_loop__ = lambda i: lambda v: v; b.__deviate_while__ = b.__deviate_format__ = lambda i, v: v\\n", {})'
)
"""Loads the guest where sitecustomize did not, and makes every tap an identity where there is no guest.

An expression, so that it defines no name in the module; joined to a statement of the file."""


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A text with taps.

    Attributes:
        edits: (line, column in the instrumented line, characters gained there), in order; the guest maps the
            columns of tracebacks back with them. A negative gain is a deletion.
    """

    text: str
    edits: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `removed` characters at (line, column) of the original by `inserted`.

    `order` sorts the edits of one place: ends before beginnings, inner ends first, outer beginnings first; of equal
    spans, the one that was given first is outermost.
    """

    line: int
    column: int
    removed: int
    inserted: str
    order: tuple[int, int, int] = (0, 0, 0)


def instrument_text(text: str, sites: Sequence[Site], loops: Sequence[Loop]) -> Instrumented:
    """Put a tap around every site and loop, and the bootstrap before the first statement that runs.

    Raises:
        ToolError: the result is no Python any more, or the lines moved; nothing may be run from it then.
    """
    lines = list(io.StringIO(text, newline=""))  # str.splitlines breaks at form feeds, Python does not
    edits = [edit for site in sites if site.form != "format" for edit in _site_edits(site, lines)]
    edits += _format_edits(sites)
    edits += [edit for loop in loops if loop.kind != "managed" for edit in _loop_edits(loop)]
    if edits:
        edits = _bootstrap_edits(text, lines) + edits
    instrumented = _apply(lines, edits)
    _check(text, instrumented.text)
    return instrumented


def _wrap(span: Span, before: str, after: str) -> list[Edit]:
    if (span.line, span.column) == (
        span.end_line,
        span.end_column,
    ):  # an empty tuple: libcst places it in its parentheses
        return [Edit(span.line, span.column, 0, before + after)]
    return [
        Edit(span.line, span.column, 0, before, (1, -span.end_line, -span.end_column)),
        Edit(span.end_line, span.end_column, 0, after, (0, -span.line, -span.column)),
    ]


def _site_edits(site: Site, lines: Sequence[str]) -> list[Edit]:
    end = f"), {site.label})" if site.label else "))"
    tap = _wrap(site.span, f"{LOG}({site.id}, (", end)
    return tap if site.form == "value" else _shown_edits(site, lines, tap)


def _shown_edits(site: Site, lines: Sequence[str], tap: list[Edit]) -> list[Edit]:
    """`{acc = :.4f}` prints its own text, so the text moves before the field: `acc = {tap(acc):.4f}`.

    Left untapped where that cannot be done within the line, or where the text would need other quotes.
    """
    span = site.span
    line = lines[span.line - 1]
    start = len(line[: span.column].rstrip(" \t"))
    end = span.end_column
    while end < len(line) and line[end] in " \t":
        end += 1
    if span.line != span.end_line or line[start - 1 : start] != "{" or line[end : end + 1] != "=":
        return []
    end += 1
    while end < len(line) and line[end] in " \t":
        end += 1
    shown = line[start:end]
    if line[end : end + 1] not in ("}", ":", "!") or any(mark in shown for mark in "'\"\\"):
        return []
    literal = shown.replace("{", "{{").replace("}", "}}")
    representation = "!r" if line[end] == "}" else ""
    return [
        Edit(span.line, start - 1, 0, literal),
        *tap,
        Edit(span.line, span.end_column, end - span.end_column, representation, (1, 0, 0)),
    ]


def _format_edits(sites: Sequence[Site]) -> list[Edit]:
    """One tap around each `"…".format`, whatever the number of its fields that are recorded."""
    ids: dict[Span, list[int]] = {}
    for site in sites:
        if site.form == "format":
            ids.setdefault(site.span, []).append(site.id)
    return [
        edit
        for span, numbers in ids.items()
        for edit in _wrap(span, f"{FORMAT}(({', '.join(map(str, numbers))},), (", "))")
    ]


def _loop_edits(loop: Loop) -> list[Edit]:
    if loop.kind == "for":  # called in two steps, so that what iterates is asked for its iterator by the script itself
        return _wrap(loop.span, f"{LOOP}({loop.id})((", "))")
    return _wrap(loop.span, f"{WHILE}({loop.id}, (", "))")


def _bootstrap_edits(text: str, lines: Sequence[str]) -> list[Edit]:
    """The bootstrap before the first statement that runs, after docstring and `__future__`.

    Definitions are passed over, for they run no tap; the body of a `try` or a class is entered, for it runs at once;
    in the header of a loop or a branch the bootstrap stands inside the expression that is evaluated first.
    """
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    body: list[cst.CSTNode] = list(wrapper.module.body)
    if wrapper.module.get_docstring() is not None:
        body = body[1:]
    while body:
        statement = body.pop(0)
        if isinstance(statement, cst.SimpleStatementLine) and not _is_future_import(statement):
            line = positions[statement.body[0]].start.line
            indent = len(lines[line - 1]) - len(lines[line - 1].lstrip(" \t\f"))  # libcst miscounts form feeds
            return [Edit(line, indent, 0, BOOTSTRAP + "; ", (1, -(10**9), 0))]
        if isinstance(statement, cst.Try | cst.ClassDef):
            body = [*statement.body.body, *body]
        first = _evaluated_first(statement)
        if first is not None:
            place = positions[first]
            span = Span(place.start.line, place.start.column, place.end.line, place.end.column)
            return _wrap(span, f"({BOOTSTRAP}, (", "))[1]")
    return []


def _evaluated_first(statement: cst.CSTNode) -> cst.BaseExpression | None:
    """The expression in the header of a compound statement that Python evaluates before any other."""
    match statement:
        case cst.If() | cst.While():
            return statement.test
        case cst.For():
            return statement.iter
        case cst.With():
            return statement.items[0].item
        case cst.Match():
            return statement.subject
        case cst.FunctionDef(decorators=[first, *_]):
            return first.decorator
    return None


def _is_future_import(statement: cst.SimpleStatementLine) -> bool:
    first = statement.body[0]
    return (
        isinstance(first, cst.ImportFrom) and isinstance(first.module, cst.Name) and first.module.value == "__future__"
    )


def _apply(lines: Sequence[str], edits: Sequence[Edit]) -> Instrumented:
    """Apply the edits line by line and note what each line gained where."""
    by_line: dict[int, list[tuple[int, Edit]]] = {}
    for index, edit in enumerate(edits):
        by_line.setdefault(edit.line, []).append((index if edit.order[0] else -index, edit))
    texts = list(lines)
    gains: list[tuple[int, int, int]] = []
    for number in sorted(by_line):
        line, done, parts, column = lines[number - 1], 0, [], 0
        for _, edit in sorted(by_line[number], key=lambda pair: (pair[1].column, pair[1].order, pair[0])):
            kept = line[done : edit.column]
            parts += [kept, edit.inserted]
            column += len(kept)
            gains.append((number, column, len(edit.inserted) - edit.removed))
            column += len(edit.inserted)
            done = edit.column + edit.removed
        texts[number - 1] = "".join([*parts, line[done:]])
    return Instrumented("".join(texts), tuple(gains))


def _check(original: str, instrumented: str) -> None:
    if original.count("\n") != instrumented.count("\n"):
        raise ToolError("instrumentation moved a line", "report this script to the authors of deviate")
    try:
        cst.parse_module(instrumented)
    except cst.ParserSyntaxError as error:
        raise ToolError(f"instrumentation broke the syntax: {error.message} at line {error.raw_line}") from error
