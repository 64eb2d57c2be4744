"""Source files: read with their encoding, parsed with libcst, every expression with its exact span."""

import ast
import io
import platform
import re
import stat
import tokenize
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst.metadata import CodePosition

from deviate.analysis.resolve.positions import Ranges
from deviate.base.decisions import log_decision
from deviate.base.notebooks import notebook_script, set_aside_text
from deviate.errors import InputError
from deviate.model.analysis import Span
from deviate.model.places import is_notebook, place_text

# ---------------------------------------------------------------- parsing
# The text of a file becomes a concrete syntax tree, or one message that says why not and where.

NEWEST = "3.14"
"""The newest Python whose syntax libcst reads, whatever Python deviate runs on."""

DEEPEST = 200
"""Maximum nesting of brackets for the native parser, whose stack is finite; Python has the same limit."""

MOST_TERMS = 5000
"""Maximum number of terms in a chain of `and` and `or`: a flat list to Python, nested to libcst."""

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
CODE = re.compile(
    r"#[^\n]*"
    r"|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    r"|\"(?:[^\\\n\"]|\\.)*\"|'(?:[^\\\n']|\\.)*'"
    r"|[()\[\]{}]",
    re.DOTALL,
)
"""Comments and strings, which are skipped, and brackets."""

PLACE = re.compile(r"error at (\d+):(\d+)")
"""In a message of libcst: the position of the token after the one it could not read."""

TOP_LEVEL = re.compile(r"[^\s#)\]}]")
"""The first character of a line that begins a top-level statement."""

HINTS = (
    (
        re.compile(
            r"Missing parentheses in call to|Function parameters cannot be parenthesized|.*leading zeros"
            r"|(print|exec)\s+[^\s=.(\[]|raise\s+[\w.]+\s*,|.*(`[^`]+`|<>|\b\d+[lL]\b|\bur['\"])"
        ),
        "This is Python 2: convert the script to Python 3 first, for example with 2to3.",
    ),
    (
        re.compile(r".*\basync\s*[=,)]|.*\.async\b"),
        "This is Python 3.6 or older, where async was a name: rename it.",
    ),
    (
        re.compile(r"[%!]|.*\?$"),
        "This is a command of IPython or Jupyter: remove the line, a script runs without it.",
    ),
    (re.compile(r"<{7}|={7}|>{7}"), "Resolve the merge conflict."),
    (re.compile(r".*(tabs|dedent|unindent|unexpected indent)"), "Indent the lines alike, with spaces."),
)
"""Signs of an older or another language, in Python's message or in the line itself."""


def parse(text: str, file: str) -> cst.Module:
    """Parse the text of a file.

    Python's own parser comes first: it is fast, has better messages, and refuses input that would overflow the stack of
    libcst's. Newer syntax is left to libcst.

    Raises:
        InputError: the text is no Python; with line, column and the versions tried.
    """
    _refuse_depth(text, file)
    complaint = _complaint(text, file)
    try:
        return cst.parse_module(text)
    except RecursionError:
        raise _too_deep(file) from None
    except (cst.ParserSyntaxError, cst.CSTValidationError, cst.CSTLogicError, UnicodeError) as error:
        raise _refusal(text, file, complaint, error) from None


def _complaint(text: str, file: str) -> SyntaxError | None:
    """The error of the Python that deviate runs on."""
    try:
        with warnings.catch_warnings(action="ignore"):  # "\\d": a problem of the script, which Python reports later
            tree = ast.parse(text)
    except SyntaxError as error:
        return error
    except ValueError as error:  # a lone surrogate, from a peculiar encoding
        raise InputError(f"{file}: not a text: {error}", "Save the file as UTF-8.") from None
    except (RecursionError, MemoryError):
        raise _too_deep(file) from None
    if len(re.findall(r"\b(?:and|or)\b", text)) > MOST_TERMS:
        chains = (node for node in ast.walk(tree) if isinstance(node, ast.BoolOp))
        if any(len(chain.values) > MOST_TERMS for chain in chains):
            raise _too_deep(file)
    return None


def _refuse_depth(text: str, file: str) -> None:
    """Refuse nesting that would overflow the native parser's stack, which cannot be caught; Python does too."""
    if text.count("(") + text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for match in CODE.finditer(text):
        bracket = match[0]
        depth += (bracket in OPENING) - (bracket in CLOSING)
        if depth > DEEPEST:
            line = text.count("\n", 0, match.start()) + 1
            raise InputError(
                f"{place_text(file, line)}: brackets are nested too deeply to be read", "Split the expression."
            )


def _too_deep(file: str) -> InputError:
    return InputError(f"{file}: expressions are nested too deeply to be read", "Split the deepest one.")


def _refusal(text: str, file: str, complaint: SyntaxError | None, error: Exception) -> InputError:
    """The message for a text that libcst cannot read."""
    python = platform.python_version()
    lines = io.StringIO(text, newline="").readlines()
    if complaint is None:
        line, column = _place(lines, error) or (1, 1)
        complaint_text = (
            f"valid Python {python}, but libcst {cst.LIBCST_VERSION}, which deviate reads scripts with, refuses it"
        )
        hint = "Write this statement in another way, or try a newer libcst."
        return InputError(f"{place_text(file, line, column)}: {complaint_text}{_quote(lines, line)}", hint)
    place = _place(lines, error)
    if place is not None and _reads_up_to(lines, complaint.lineno or 1):  # newer syntax than the Python that refused it
        (line, column), reason = place, "invalid syntax"
    else:
        line, column, reason = complaint.lineno or 1, complaint.offset or 1, complaint.msg
    quoted = _quote(lines, line)
    hints = (
        hint for pattern, hint in HINTS if pattern.match(reason.rstrip("?")) or pattern.match(quoted.removeprefix(": "))
    )
    tried = f"tried as {python} and with the syntax up to {NEWEST}"
    return InputError(
        f"{place_text(file, line, max(column, 1))}: not valid Python ({tried}): {reason}{quoted}",
        next(hints, "Correct the line."),
    )


def _quote(lines: list[str], line: int) -> str:
    quoted = lines[line - 1].strip()[:80] if line <= len(lines) else ""
    return f": {quoted}" if quoted else ""


def _place(lines: list[str], error: Exception) -> tuple[int, int] | None:
    """Line and column (from 1) of the end of the token that libcst could not read, if in its message."""
    match = PLACE.search(str(error))
    if match is None:
        return None
    line, column = int(match[1]), int(match[2])
    before = [*lines[: line - 1], *(text[:column] for text in lines[line - 1 : line])]
    while len(before) > 1 and not before[-1].strip():
        before.pop()
    return len(before), max(len(before[-1].rstrip()), 1)


def _reads_up_to(lines: list[str], line: int) -> bool:
    """Whether libcst can read the file up to the end of the top-level statement that a line belongs to."""
    end = next((number for number in range(line, len(lines)) if TOP_LEVEL.match(lines[number])), len(lines))
    try:
        cst.parse_module("".join(lines[:end]))
    except (cst.ParserSyntaxError, cst.CSTValidationError, cst.CSTLogicError):
        return False
    return True


# ---------------------------------------------------------------- files

LARGEST = 4_000_000
"""Maximum file size in bytes: a million take some two seconds to parse, and no script is longer."""


FORM_FEEDS = re.compile(r"^[ \t]*\f[ \t\f]*", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One file of the project: its text (without byte order mark) and its concrete syntax tree.

    Attributes:
        file: name relative to the project root, with forward slashes.
        notice: what of the file is not part of the text, a sentence; empty for nothing.
    """

    file: str
    text: str
    tree: cst.Module
    notice: str = ""

    @cached_property
    def lines(self) -> list[str]:
        return io.StringIO(self.text, newline="").readlines()

    @cached_property
    def ranges(self) -> Ranges:
        """Positions in the text without form feeds before statements, which libcst takes for indentation."""
        return Ranges(self.tree, without_form_feeds(self.text))

    def line(self, node: cst.CSTNode) -> int:
        return self.ranges.start(node).line

    def start(self, node: cst.CSTNode) -> CodePosition:
        return self._shift(self.ranges.start(node))

    def end(self, node: cst.CSTNode) -> CodePosition:
        return self._shift(self.ranges.end(node))

    def _shift(self, place: CodePosition) -> CodePosition:
        shift = self._shifts.get(place.line)
        return place if shift is None else CodePosition(place.line, place.column + shift)

    @cached_property
    def _shifts(self) -> Mapping[int, int]:
        """Columns missing from each line because form feeds before its statement were left out."""
        if "\f" not in self.text:
            return {}
        plain = io.StringIO(without_form_feeds(self.text), newline="").readlines()
        # A last line of form feeds alone is no line of the plain text; no code stands on it.
        pairs = enumerate(zip(self.lines, plain, strict=False), 1)
        return {line: len(printed) - len(other) for line, (printed, other) in pairs if len(printed) != len(other)}

    def span(self, node: cst.CSTNode) -> Span:
        """The span of an expression, without redundant parentheses but with those it needs as an argument."""
        first, last = node, node
        if isinstance(node, cst.Tuple | cst.GeneratorExp | cst.Yield) and node.lpar:
            first, last = node.lpar[0], node.rpar[-1]
        start, end = self.start(first), self.end(last)
        return Span(start.line, start.column, end.line, end.column)

    def between(self, span: Span) -> str:
        """The text of a span."""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        first, *middle, last = self.lines[span.line - 1 : span.end_line]
        return first[span.column :] + "".join(middle) + last[: span.end_column]

    def code(self, node: cst.CSTNode) -> str:
        """An expression as it is spelled, on one line."""
        text = self.between(self.span(node))
        if "\n" not in text and "\r" not in text:
            return text
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
        except SyntaxError:
            return " ".join(text.split())


def read_source(path: Path, file: str) -> SourceFile:
    """Read and parse a file.

    Args:
        file: its name relative to the project root, for messages.

    Raises:
        InputError: it is missing, not text, or no Python; with line and column where they are known.
    """
    content = _read(path, file)
    notice = ""
    if is_notebook(file):
        notebook = notebook_script(content, file)
        text, notice = notebook.text, set_aside_text(file, notebook.set_aside)
    else:
        text = _decode(content, file)
    log_decision("analysis", "%s is parsed", file)
    return SourceFile(file, text, parse(without_form_feeds(text), file), notice)


def without_form_feeds(text: str) -> str:
    """The text without form feeds before statements, after which Python restarts counting the indentation."""
    return FORM_FEEDS.sub(lambda match: match[0].rpartition("\f")[2], text) if "\f" in text else text


def _read(path: Path, file: str) -> bytes:
    if path.is_dir():
        raise InputError(f"{file} is a folder, not a script", "Name the training script itself.")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # reading from a pipe could block forever
            raise InputError(f"{file} is a device or a pipe, not a file", "Save the script in a file.")
        if status.st_size > LARGEST and not is_notebook(file):  # a notebook is large by its pictures
            raise InputError(
                f"{file} has {status.st_size / 1e6:.1f} MB: too large to be analysed (at most {LARGEST / 1e6:.0f} MB)",
                "Move the data that it holds to a file of their own.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"no such script: {file}", "Give the path of the training script.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot read {file}: {reason}", "Check the path and its permissions.") from None


def _decode(content: bytes, file: str) -> str:
    if b"\0" in content:
        raise InputError(f"{file} holds null bytes: not a text file", "Give a Python script, saved as UTF-8.")
    encoding, text, complaint = "utf-8", "", None
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:  # of bytes that are no UTF-8 as well, which decoding describes better
        complaint = str(error)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{place_text(file, line, column)}: a byte that is no {encoding} text",
            "Name the encoding in the first line, e.g. # -*- coding: latin-1 -*-, or save the file as UTF-8.",
        ) from None
    except (LookupError, UnicodeError) as error:  # no encoding of texts, or an empty one
        complaint = str(error)
    if complaint is not None:
        raise InputError(
            f"{place_text(file, 1)}: cannot be decoded: {complaint}",
            "Correct the coding line or save the file as UTF-8.",
        )
    return text
