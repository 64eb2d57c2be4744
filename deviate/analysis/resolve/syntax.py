"""Parsing: from the text of a file to its concrete syntax tree, or one message that says why not and where."""

import ast
import io
import platform
import re
import warnings

import libcst as cst

from deviate.errors import InputError

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d": a problem of the script, which Python reports when it runs
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
            raise InputError(f"{file}:{line}: brackets are nested too deeply to be read", "Split the expression.")


def _too_deep(file: str) -> InputError:
    return InputError(f"{file}: expressions are nested too deeply to be read", "Split the deepest one.")


def _refusal(text: str, file: str, complaint: SyntaxError | None, error: Exception) -> InputError:
    """The message for a text that libcst cannot read."""
    python = platform.python_version()
    lines = io.StringIO(text, newline="").readlines()
    if complaint is None:
        line, column = _place(lines, error) or _first_unread(text)
        complaint_text = (
            f"valid Python {python}, but libcst {cst.LIBCST_VERSION}, which deviate reads scripts with, refuses it"
        )
        hint = "Write this statement in another way, or try a newer libcst."
        return InputError(f"{file}:{line}:{column}: {complaint_text}{_quote(lines, line)}", hint)
    place = _place(lines, error)
    if place is not None and _reads_up_to(lines, complaint.lineno or 1):  # newer syntax than the Python that refused it
        (line, column), reason = place, "invalid syntax"
    else:
        line, column, reason = complaint.lineno or 1, complaint.offset or 1, complaint.msg
    quoted = _quote(lines, line)
    hints = (hint for pattern, hint in HINTS if pattern.match(reason) or pattern.match(quoted.removeprefix(": ")))
    tried = f"tried as {python} and with the syntax up to {NEWEST}"
    return InputError(
        f"{file}:{line}:{max(column, 1)}: not valid Python ({tried}): {reason}{quoted}",
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


def _first_unread(text: str) -> tuple[int, int]:
    """Line and column (from 1) of the first top-level statement that libcst cannot read, though Python can."""
    for statement in ast.parse(text).body:
        source = ast.get_source_segment(text, statement) or ""
        try:
            cst.parse_module(source)
        except (cst.ParserSyntaxError, cst.CSTValidationError, cst.CSTLogicError):
            return statement.lineno, statement.col_offset + 1
    return 1, 1
