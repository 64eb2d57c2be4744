"""Inserts taps into source text within lines, so that line numbers and comments are preserved."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from deviate.errors import ToolError
from deviate.instrument.edits import Edit, Parsed, split_lines, wrap
from deviate.instrument.input_taps import CALLEE, ORDER, RAN, WRITE, InputTaps, input_edits
from deviate.model.analysis import Loop, Site, Span, TapForm

LOG = "__deviate_log__"
LOOP = "__deviate_loop__"
WHILE = "__deviate_while__"
AROUND: dict[TapForm, str] = {
    "format": "__deviate_format__",
    "mapping": "__deviate_mapping__",
    "call": "__deviate_call__",
    "meter": "__deviate_meter__",
}
"""Taps that all sites of one span share, by form."""
IN_TWO_STEPS = ("call", "meter")
"""Pattern of a tapped call. The tap receives the arguments and returns a callable, which the script itself calls with
`()`: no frame of deviate is between the script and the function, and each argument is evaluated once."""

BOOTSTRAP = (
    '__import__("builtins").__dict__.get("__deviate_log__") or exec("import builtins as b, os, sys\\n'
    "g = os.environ.get('DEVIATE_GUEST', '')\\n"
    "try:\\n sys.path.insert(0, g); import _deviate_guest.runtime as r; r.start()\\n"
    "except Exception:\\n pass\\n"
    "finally:\\n g in sys.path and sys.path.remove(g)\\n"
    "if not hasattr(b, '__deviate_log__'):\\n from functools import partial as p; "
    "b.__deviate_log__ = lambda i, v, l=None: v; b.__deviate_loop__ = lambda i: lambda v: v; "
    "b.__deviate_while__ = b.__deviate_format__ = b.__deviate_mapping__ = b.__deviate_log__; "
    'b.__deviate_call__ = b.__deviate_meter__ = lambda i, f, l=None: p(p, f)\\n", {})'
)
"""Loads the guest where sitecustomize did not, and makes every tap an identity where there is no guest.

An expression, so that it defines no name in the module; joined to a statement of the file."""
INPUT_BOOTSTRAP = BOOTSTRAP.replace(
    '\\n", {})',
    f'; {" = ".join(f"b.{tap}" for tap in (ORDER, CALLEE, WRITE))} = lambda v: v; b.{RAN} = lambda i, v: v\\n", {{}})',
)
"""The bootstrap of a file with taps of inputs."""


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A source text with taps.

    Attributes:
        edits: (line, column in the instrumented line, characters gained there), in order; the guest maps the
            columns of tracebacks back with them. A negative gain is a deletion.
        watched: number of the marker of each watched line that has one; lines of one statement share it.
    """

    text: str
    edits: tuple[tuple[int, int, int], ...]
    watched: Mapping[int, int] = field(default_factory=dict)


def instrument_text(
    text: str,
    sites: Sequence[Site],
    loops: Sequence[Loop],
    inputs: InputTaps | None = None,
    watched: Sequence[tuple[int, int]] = (),
) -> Instrumented:
    """Insert a tap at every site and loop, and the bootstrap before the first executed statement.

    A managed loop has no tap, but its file has to load the guest that records it.

    Args:
        inputs: for runs that are traced: what is tapped besides.
        watched: number and line of hazards, of which such runs record whether they are executed.

    Raises:
        ToolError: the result is no Python any more, the lines moved, or what a site names as called is not called;
            nothing may be run from it then.
    """
    lines = split_lines(text)
    edits = [edit for site in sites if site.form not in AROUND for edit in _site_edits(site, lines)]
    shared = _sites_by_tap(sites)
    edits += [edit for (span, form), ours in shared.items() for edit in _shared_edits(span, form, ours)]
    edits += [edit for loop in loops if loop.kind != "managed" for edit in _loop_edits(loop)]
    marked: dict[int, int] = {}
    if sites or loops or inputs is not None:
        parsed = Parsed(text, lines)
        bootstrap = BOOTSTRAP
        if inputs is not None:
            more, marked = input_edits(parsed, lines, inputs, watched)
            edits += more
            bootstrap = INPUT_BOOTSTRAP if more else BOOTSTRAP
        if edits or loops:
            edits = _bootstrap_edits(parsed, bootstrap) + edits
        edits += _call_edits([span for span, form in shared if form in IN_TWO_STEPS], parsed)
    instrumented = _apply(lines, edits, marked)
    _check(text, instrumented.text)
    return instrumented


def _site_edits(site: Site, lines: Sequence[str]) -> list[Edit]:
    tap = wrap(site.span, f"{LOG}({site.id}, (", _end(site))
    return tap if site.form == "value" else _shown_edits(site, lines, tap)


def _shown_edits(site: Site, lines: Sequence[str], tap: list[Edit]) -> list[Edit]:
    """Edits for `{acc = :.4f}`, which prints its own text: it is moved before the field, `acc = {tap(acc):.4f}`.

    Not tapped if that is impossible within the line, or if the text would need other quotes.
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
    field = line[start:end]
    if line[end : end + 1] not in ("}", ":", "!") or any(mark in field for mark in "'\"\\"):
        return []
    literal = field.replace("{", "{{").replace("}", "}}")
    representation = "!r" if line[end] == "}" else ""
    return [
        Edit(span.line, start - 1, 0, literal),
        *tap,
        Edit(span.line, span.end_column, end - span.end_column, representation, (1, 0, 0)),
    ]


def _sites_by_tap(sites: Sequence[Site]) -> dict[tuple[Span, TapForm], list[Site]]:
    """Sites grouped by tap: the fields of a `"…".format` share one."""
    by_tap: dict[tuple[Span, TapForm], list[Site]] = {}
    for site in sites:
        if site.form in AROUND:
            by_tap.setdefault((site.span, site.form), []).append(site)
    return by_tap


def _shared_edits(span: Span, form: TapForm, sites: Sequence[Site]) -> list[Edit]:
    ids = ", ".join(str(site.id) for site in sites)
    return wrap(span, f"{AROUND[form]}(({ids},), (", _end(sites[0]))


def _end(site: Site) -> str:
    return f"), {site.label})" if site.label else "))"


def _call_edits(callees: Sequence[Span], parsed: Parsed) -> list[Edit]:
    """The call `()` of the second step; added last, as everything else that ends there is inside of it."""
    if not callees:
        return []
    calls = {parsed.span(node.func): parsed.span(node) for node in parsed.positions if isinstance(node, cst.Call)}
    edits = []
    for callee in callees:
        if callee not in calls:
            raise ToolError(
                f"no call at line {callee.line}, column {callee.column}",
                "report this script to the authors of deviate",
            )
        call = calls[callee]
        edits.append(Edit(call.end_line, call.end_column, 0, "()", (0, -call.line, -call.column)))
    return edits


def _loop_edits(loop: Loop) -> list[Edit]:
    if loop.kind == "for":  # called in two steps, so that the script itself requests the iterator
        return wrap(loop.span, f"{LOOP}({loop.id})((", "))")
    return wrap(loop.span, f"{WHILE}({loop.id}, (", "))")


def _bootstrap_edits(parsed: Parsed, bootstrap: str) -> list[Edit]:
    """Insert the bootstrap before the first executed statement, after docstring and `__future__`.

    If only definitions are executed, it is appended to docstring or `__future__`, or else inserted in each function.
    """
    body = list(parsed.module.body)
    head = [body[0]] if parsed.module.get_docstring() is not None else []
    head += [statement for statement in body if _is_future_import(statement)]
    edits = _before_first([statement for statement in body if statement not in head], parsed, bootstrap)
    if not edits and head and isinstance(head[-1], cst.SimpleStatementLine):
        place = parsed.span(head[-1].body[-1])
        return [Edit(place.end_line, place.end_column, 0, f"; {bootstrap}")]
    return edits or [
        edit for function in _functions(body) for edit in _before_first(_without_docstring(function), parsed, bootstrap)
    ]


def _functions(body: Sequence[cst.CSTNode]) -> Iterator[cst.FunctionDef]:
    for statement in body:
        if isinstance(statement, cst.FunctionDef):
            yield statement
        elif isinstance(statement, cst.ClassDef):
            yield from _functions(statement.body.body)


def _without_docstring(definition: cst.FunctionDef | cst.ClassDef) -> list[cst.CSTNode]:
    return list(definition.body.body[definition.get_docstring() is not None :])


def _before_first(body: list[cst.CSTNode], parsed: Parsed, bootstrap: str) -> list[Edit]:
    """Insert the bootstrap before the first executed statement in a list; empty if there is none.

    The body of a function is skipped, as it runs no tap yet; bodies of `try` and classes are entered, as they run at
    once; in the header of a compound statement, the bootstrap is inserted in the expression evaluated first.
    """
    while body:
        statement = body.pop(0)
        if isinstance(statement, cst.SimpleStatementLine | cst.BaseSmallStatement):
            place = parsed.span(statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement)
            return [Edit(place.line, place.column, 0, bootstrap + "; ", (1, -(10**9), 0))]
        first = _evaluated_first(statement)
        if first is not None:
            return wrap(parsed.span(first), f"({bootstrap}, (", "))[1]")
        if isinstance(statement, cst.Try):
            body = [*statement.body.body, *body]
        if isinstance(statement, cst.ClassDef):
            body = [*_without_docstring(statement), *body]
    return []


def _evaluated_first(statement: cst.CSTNode) -> cst.BaseExpression | None:
    """The expression in the header of a compound statement that is evaluated first."""
    match statement:
        case cst.If() | cst.While():
            return statement.test
        case cst.For():
            return statement.iter
        case cst.With():
            return statement.items[0].item
        case cst.Match():
            return statement.subject
        case cst.FunctionDef(decorators=[first, *_]) | cst.ClassDef(decorators=[first, *_]):
            return first.decorator
        case cst.ClassDef(bases=[first, *_]) | cst.ClassDef(keywords=[first, *_]):
            return first.value
        case cst.FunctionDef(params=cst.Parameters(posonly_params=a, params=b, kwonly_params=c)):
            return next((parameter.default for parameter in (*a, *b, *c) if parameter.default), None)
    return None


def _is_future_import(statement: cst.CSTNode) -> bool:
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return (
        isinstance(first, cst.ImportFrom) and isinstance(first.module, cst.Name) and first.module.value == "__future__"
    )


def _apply(lines: Sequence[str], edits: Sequence[Edit], watched: Mapping[int, int]) -> Instrumented:
    """Apply the edits line by line, and record how columns shift in each line."""
    by_line: dict[int, list[tuple[int, Edit]]] = {}
    for index, edit in enumerate(edits):
        by_line.setdefault(edit.line, []).append((index if edit.order[0] else -index, edit))
    texts = list(lines)
    gains: list[tuple[int, int, int]] = []
    for number in sorted(by_line):
        line, done, parts, column = lines[number - 1], 0, [], 0
        for _, edit in sorted(by_line[number], key=lambda pair: (pair[1].column, pair[1].order, pair[0])):
            untouched = line[done : edit.column]
            parts += [untouched, edit.inserted]
            column += len(untouched)
            gains.append((number, column, len(edit.inserted) - edit.removed))
            column += len(edit.inserted)
            done = edit.column + edit.removed
        texts[number - 1] = "".join([*parts, line[done:]])
    return Instrumented("".join(texts), tuple(gains), watched)


def _check(original: str, instrumented: str) -> None:
    if original.count("\n") != instrumented.count("\n"):
        raise ToolError("instrumentation moved a line", "report this script to the authors of deviate")
    try:
        cst.parse_module(instrumented)
    except cst.ParserSyntaxError as error:
        raise ToolError(
            f"instrumentation broke the syntax: {error.message} at line {error.raw_line}",
            "report this script to the authors of deviate",
        ) from error
