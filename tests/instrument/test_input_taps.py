"""Traced runs have further taps: where items are taken, hashes, clocks and writes of threads; others have none."""

import pytest

from deviate.instrument.input_taps import InputTaps
from deviate.instrument.rewrite import INPUT_BOOTSTRAP, instrument_text

PLAIN = InputTaps(has_threads=False, is_compiled=False)


def tapped(text: str, taps: InputTaps = PLAIN, *watched: int) -> str:
    """The text below the first line, which has the bootstrap, with short names of the taps."""
    result = instrument_text(f"import os\n{text}\n", [], [], taps, [(line, line + 1) for line in watched]).text
    assert result.startswith(INPUT_BOOTSTRAP) or result == f"import os\n{text}\n"
    return result.partition("\n")[2].removesuffix("\n").replace("__deviate_", "").replace("__(", "(")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in s: pass", "for x in order((s)): pass"),
        ("y = [x for x in f(a) for z in x.all if z]", "y = [x for x in order((f(a))) for z in order((x.all)) if z]"),
        ("a, *b = [*c, d] = s", "a, *b = [*c, d] = order((s))"),
        ("f(*s, [*t], k=list(u))", "f(*order((s)), [*order((t))], k=list(order((u))))"),
        ("x = np.array(s | t, int)", "x = np.array(order((s | t)), order((int)))"),
        ("x = s.pop() + d.pop(0)", "x = order((s)).pop() + d.pop(0)"),
        ("def g():\n    yield from s", "def g():\n    yield from order((s))"),
        ("x = sorted(s, key=len) + sorted(list(s))", "x = sorted(order((s)), key=len) + sorted(list(s))"),
        ("x = {y for y in s} | set(y for y in s)", "x = {y for y in s} | set(y for y in s)"),
        ("for i in range(3): list(zip([1], 'ab'))", "for i in range(3): list(zip([1], 'ab'))"),
        ("x = hash(a) + id(b) + c.hash(d)", "x = callee((hash))(a) + callee((id))(b) + c.hash(d)"),
        ("x = datetime.now(tz)", "x = callee((datetime.now))(tz)"),
        ("print(f'{[x for x in s]} {[x for x in s]=}')", "print(f'{[x for x in order((s))]} {[x for x in s]=}')"),
        ("with f(*s) as (a, *b): pass", "with f(*order((s))) as (a, *b): pass"),
        ("@f(*s)\ndef g(x: list(s) = list(t)): pass", "@f(*s)\ndef g(x: list(s) = list(order((t)))): pass"),
        ("for x in s: list(t)  # deviate: ignore", "for x in s: list(t)  # deviate: ignore"),
    ],
)
def test_items_are_tapped_where_they_are_taken_in_order(text: str, expected: str) -> None:
    assert tapped(text) == expected


THREADED = """def f(xs, k):
    own = []
    own.append(k)
    xs.append(k); self.all[k] = k, k
    self.total += k; k += 1
    def g():
        nonlocal k
        k += own.append(k)"""


def test_writes_to_objects_that_threads_share_are_tapped() -> None:
    lines = tapped(THREADED, InputTaps(has_threads=True, is_compiled=False)).splitlines()
    assert [line.strip() for line in lines[2:5]] == [
        "own.append(k)",
        "xs.append(write((k))); self.all[k] = write((k, k))",
        "self.total += write((k)); k += 1",
    ]
    assert lines[-1].strip() == "k += write((own.append(write((k)))))"
    assert tapped(THREADED) == THREADED


@pytest.mark.parametrize(
    ("line", "has_threads", "is_compiled"),
    [
        ("import os, threading as t\n", True, False),
        ("    from concurrent.futures import Future\n", True, False),
        ("from numba import njit\n", False, True),
        ("import mythreading  # threading, numba\n", False, False),
    ],
)
def test_imports_tell_what_can_be_tapped(line: str, *, has_threads: bool, is_compiled: bool) -> None:
    assert InputTaps.of_texts(["x = 1\n", line]) == InputTaps(has_threads, is_compiled)


def test_functions_compiled_from_bytecode_are_left_alone() -> None:
    text = "@njit\ndef f(s):\n    return list(s)\n@jit\ndef g(s): return list(s)\ndef h(s): return list(s)\nq = fast(h)"
    assert tapped(text).splitlines()[2:6] == [
        "    return list(s)",
        "@jit",
        "def g(s): return list(order((s)))",
        "def h(s): return list(order((s)))",
    ]
    assert tapped(text, InputTaps(has_threads=False, is_compiled=True)) == text


def test_lines_are_marked_in_the_first_of_the_smallest_statements_around_them() -> None:
    text = "if a:\n    f(b,\n      c)\nelif d: return_ = e; g()\ndel x\nfor y in z: pass"
    expected = (
        "if a:\n    ran(3, (f(b,\n      c)))\nelif ran(4, (d)): return_ = e; g()\ndel x\n"
        "for y in ran(6, (order((z)))): pass"
    )
    assert tapped(text, PLAIN, 3, 4, 5, 6) == expected
    watched = [(line, line + 1) for line in (3, 4, 5, 6)]
    assert instrument_text(f"import os\n{text}\n", [], [], PLAIN, watched).watched == {3: 3, 4: 4, 6: 6}


def test_functions_that_a_compiler_may_read_have_no_markers() -> None:
    text = "def f(a):\n    return g(a)\nx = f(1)"
    taps = InputTaps.of_texts(["import tensorflow as tf\n"])
    assert tapped(text, taps, 2, 3) == "def f(a):\n    return g(a)\nx = ran(3, (f(1)))"


def test_a_file_with_nothing_to_tap_stays_as_it_is() -> None:
    assert tapped("x = 1") == "x = 1"


def test_lines_of_one_statement_share_a_marker() -> None:
    text = "import os\nx = [\n  a,\n  b,\n]\n"
    result = instrument_text(text, [], [], PLAIN, [(0, 3), (1, 4)])
    assert result.text.count("__deviate_ran__(") == 1
    assert result.watched == {0: 0, 1: 0}
