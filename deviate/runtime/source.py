"""Instrumented files show their original text: to inspect, to compilers that read source, and in tracebacks."""

import io
import os
import sys

MODULES = ("linecache", "traceback")

HERE = os.path.dirname(os.path.abspath(__file__))


def attach(module, guest):
    """Adapter of the two modules of the standard library through which source text is looked up."""
    if module.__name__ == "linecache":
        _fill(module, guest.project)
    elif hasattr(module, "_get_code_position"):
        _map_columns(module, guest.project)


def show_originals(project):
    """Uncaught exceptions are printed by C code, which reads the file itself: print them in Python instead."""
    plain = sys.excepthook

    def excepthook(kind, error, trace):
        try:
            mine = _touches(trace, project)
        except Exception:
            mine = False
        if not mine:
            return plain(kind, error, trace)
        import traceback

        traceback.print_exception(kind, error, _peeled(trace))

    sys.excepthook = excepthook


def _fill(linecache, project):
    """Answer for instrumented files, also when the cache is cleared or told to look again (AutoGraph does)."""
    update = linecache.updatecache
    entries = {}
    for name in project.edits:
        with open(os.path.join(project.originals, *name.split("/")), "rb") as file:
            raw = file.read()
        lines = _decoded(raw)
        for path in project.names(name):
            entries[path] = (len(raw), None, lines, path)  # without a time stamp it is never checked against the file

    def updatecache(filename, module_globals=None):
        if filename not in entries:
            return update(filename, module_globals)
        linecache.cache[filename] = entries[filename]
        return entries[filename][2]

    linecache.updatecache = updatecache
    linecache.cache.update(entries)


def _decoded(raw):
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    text = io.TextIOWrapper(io.BytesIO(raw), encoding, line_buffering=True).read()
    lines = text.splitlines(True) if "\f" not in text else list(io.StringIO(text))
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _map_columns(traceback, project):
    """From Python 3.11 on a traceback marks columns (UTF-8 bytes): take off what the taps gained."""
    original = traceback._get_code_position

    def _get_code_position(code, instruction_index):
        line, end_line, column, end_column = original(code, instruction_index)
        name = project.place(code)
        edits = project.edits.get(name) if name else None
        if not edits:
            return line, end_line, column, end_column
        return line, end_line, _moved(edits, line, column), _moved(edits, end_line, end_column)

    traceback._get_code_position = _get_code_position


def _moved(edits, line, column):
    """Column without the taps before it. Exact in lines of ASCII text; in others the marks may be off by the width."""
    if column is None:
        return None
    gained = 0
    for where, start, gain in edits:
        if where == line and start < column:
            gained += min(gain, column - start) if gain > 0 else gain
    return column - gained


def _touches(trace, project):
    while trace is not None:
        if project.place(trace.tb_frame.f_code) in project.edits:
            return True
        trace = trace.tb_next
    return False


def _peeled(trace):
    """The traceback up to the first frame of the guest."""
    frames = []
    while trace is not None:
        if os.path.dirname(os.path.abspath(trace.tb_frame.f_code.co_filename)) == HERE:
            break
        frames.append(trace)
        trace = trace.tb_next
    peeled = None
    for entry in reversed(frames):
        peeled = type(entry)(peeled, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return peeled
