"""Shows the original text of instrumented files to inspect, to compilers that read source, and in tracebacks."""

from __future__ import annotations

import io
import os
import sys
from types import CodeType, TracebackType

from .adapter_context import AdapterContext
from .annotations import Any, Iterable
from .project import GuestProject

MODULES = ("linecache", "traceback")

GUEST = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def install(module: Any, context: AdapterContext) -> None:
    """Patch the two standard-library modules through which source text is looked up."""
    if module.__name__ == "linecache":
        _fill(module, context.project)
        return
    _leave_out(module)
    if hasattr(module, "_get_code_position"):
        _map_columns(module, context.project)


def show_originals(project: GuestProject) -> None:
    """Print uncaught exceptions and compiler warnings in Python, since the C code for them reads the file itself.

    Warnings are printed by Python as soon as `warnings` is imported.
    """
    import warnings  # noqa: F401

    plain = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        try:
            import traceback

            lines = traceback.format_exception(kind, error, trace) if _touches(trace, project) else []
            text = "".join(_with_guesses(lines, kind, error, trace))
        except Exception:
            text = ""
        if text and sys.stderr is not None:
            sys.stderr.write(text)
        else:
            plain(kind, error, trace)

    sys.excepthook = excepthook


def _with_guesses(
    lines: list[str], kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> list[str]:
    """The lines with "Did you mean: …", which only C code adds in Python 3.10 and 3.11."""
    guessed = [index for index, line in enumerate(lines) if line.startswith(("NameError: ", "AttributeError: "))]
    if not guessed or not (3, 10) <= sys.version_info < (3, 12):
        return lines
    stderr, sys.stderr = sys.stderr, io.StringIO()
    try:
        sys.__excepthook__(kind, error, trace)
        shown_lines = sys.stderr.getvalue().splitlines(True)
    finally:
        sys.stderr = stderr
    for index in guessed:
        start = lines[index].rstrip("\n") + ". Did you mean: "
        lines[index] = next((line for line in shown_lines if line.startswith(start)), lines[index])
    return lines


def _fill(linecache: Any, project: GuestProject) -> None:
    """Cache the original text of instrumented files, also when the cache was cleared or checked (by AutoGraph)."""
    update = linecache.updatecache
    entries: dict[str, tuple[int, None, list[str], str]] = {}
    for name in project.edits:
        with open(os.path.join(project.originals, *name.split("/")), "rb") as file:
            raw = file.read()
        lines = _decode(raw)
        for path in project.names(name):
            entries[path] = (len(raw), None, lines, path)  # entries without a time stamp are not compared with the file

    def updatecache(filename: str, module_globals: dict[str, Any] | None = None) -> Any:
        if filename not in entries:
            return update(filename, module_globals)
        linecache.cache[filename] = entries[filename]
        return entries[filename][2]

    linecache.updatecache = updatecache
    linecache.cache.update(entries)


def _decode(raw: bytes) -> list[str]:
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    text = io.TextIOWrapper(io.BytesIO(raw), encoding, line_buffering=True).read()
    lines = text.splitlines(True) if "\f" not in text else list(io.StringIO(text))
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _map_columns(traceback: Any, project: GuestProject) -> None:
    """Map columns back: from Python 3.11 on, tracebacks mark columns in UTF-8 bytes, which taps have shifted."""
    original = traceback._get_code_position
    edits: dict[str, dict[int, list[tuple[int, int]]]] = {}

    def _get_code_position(code: CodeType, instruction_index: int) -> tuple[int | None, ...]:
        line, end_line, column, end_column = original(code, instruction_index)
        name = project.place(code)
        if name is None or name not in project.edits:
            return line, end_line, column, end_column
        if name not in edits:
            edits[name] = _in_bytes(project, name)
        return line, end_line, _move_column(edits[name], line, column), _move_column(edits[name], end_line, end_column)

    traceback._get_code_position = _get_code_position


def _in_bytes(project: GuestProject, name: str) -> dict[int, list[tuple[int, int]]]:
    """The edits of a file by line, with columns in bytes of the instrumented line."""
    import linecache

    lines = linecache.getlines(os.path.join(project.work, *name.split("/")))
    by_line: dict[int, list[tuple[int, int]]] = {}
    for line, column, gain in project.edits[name]:
        edits = by_line.setdefault(line, [])
        gained = sum(earlier for _, earlier in edits)
        ahead = lines[line - 1][: column - gained].encode("utf-8")
        edits.append((len(ahead) + gained, gain))
    return by_line


def _move_column(by_line: dict[int, list[tuple[int, int]]], line: int, column: int | None) -> int | None:
    if column is None:
        return None
    gained = 0
    for start, gain in by_line.get(line, ()):
        if start < column:
            gained += min(gain, column - start)
    return column - gained


def _touches(trace: TracebackType | None, project: GuestProject) -> bool:
    while trace is not None:
        code = trace.tb_frame.f_code
        if project.place(code) in project.edits or _is_own(code):
            return True
        trace = trace.tb_next
    return False


def _is_own(code: CodeType) -> bool:
    return os.path.abspath(code.co_filename).startswith(GUEST)


def _leave_out(traceback: Any) -> None:
    """Remove frames of the guest from tracebacks and stacks, so that wrapped functions seem to be called directly."""
    summary = traceback.StackSummary
    name = "_extract_from_extended_frame_gen" if hasattr(summary, "_extract_from_extended_frame_gen") else "extract"
    original = getattr(summary, name).__func__

    def extract(klass: Any, /, frame_gen: Iterable[Any], **options: Any) -> Any:
        return original(klass, (entry for entry in frame_gen if not _is_own(entry[0].f_code)), **options)

    setattr(summary, name, classmethod(extract))
