"""Whoever looks at the source of an instrumented file sees the original."""

from pathlib import Path

from harness import Child

CRASH = """\
import traceback
def f(x):
    return 1.0 / x
for i in (2, 1, 0):
    try:
        print("é", f(i), i)
    except ZeroDivisionError:
        traceback.print_exc()
        raise
"""


def test_inspect_shows_the_original_also_after_the_cache_was_cleared(tmp_path: Path) -> None:
    text = "import inspect, linecache\ndef f(x):\n    print(x)\nlinecache.clearcache()\nprint(inspect.getsource(f))\n"
    assert Child(tmp_path, text).tap("print(«x»)").run().stdout == "def f(x):\n    print(x)\n\n"


def test_tracebacks_are_those_of_the_original(tmp_path: Path) -> None:
    child = Child(tmp_path, CRASH).tap("f(i)").tap("f(i), «i»)").tap("1.0 / x").loop("(2, 1, 0)", 9)
    on, off = child.run(), child.run(is_tapped=False)
    assert on.stderr == off.stderr
    assert (on.code, on.stdout) == (off.code, off.stdout)
    assert "return 1.0 / x" in on.stderr


def test_an_iterable_that_fails_shows_no_frame_of_the_guest(tmp_path: Path) -> None:
    child = Child(tmp_path, "def g():\n    yield 1\n    raise ValueError('x')\nfor i in g():\n    print(i)\n").loop(
        "in «g()»:", 5
    )
    on, off = child.run(), child.run(is_tapped=False)
    assert on.stderr == off.stderr
