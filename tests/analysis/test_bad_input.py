"""Whatever a file or a project holds: an answer, or one message with the place, the reason and what to do."""

import os
import platform
from pathlib import Path

import pytest
from installed import examine

from deviate.analysis.analyze import analyze
from deviate.analysis.resolve.source import LARGEST
from deviate.errors import InputError

LOOP = "for epoch in range(3):\n    loss = step()\n    print('loss', loss)\n"

NEWER = [
    "def f[T, *Ts, **P](x: T) -> T: return x\n",
    "class A[T: int]: pass\ntype B[T] = list[T]\n",
    "def f[T = int, *Ts = *tuple[int], **P = [int]](x): pass\n",
    "f'{d['a']} {f'{f'{1}'}'} {'\\n'.join(x)}'\n",
    "f'''{\nx # comment\n:>{10}}'''\n",
    "t'{x!r:{w}} {t'{y}'}'\n",
    "try:\n    pass\nexcept A, B:\n    pass\n",
    "try:\n    pass\nexcept* A, B:\n    pass\n",
    "match x, *y:\n    case {'a': [1, *_], **r} | A(b=C.d) if r: pass\n    case -1 | 1+2j | 'a' 'b' as z: pass\n",
    "def f():\n    for i in x:\n        try:\n            return 1\n        finally:\n            continue\n",
    "with (open(a) as b, open(c) as d,): pass\n",
    "def f(*args: *Ts): return a[*b], *c\n",
]


def refusal(folder: Path, content: bytes | str) -> InputError:
    script = folder / "train.py"
    script.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        analyze(script, folder)
    return caught.value


@pytest.mark.parametrize("text", NEWER)
def test_syntax_up_to_the_newest_is_read_by_any_python(tmp_path: Path, text: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(text + LOOP, encoding="utf-8")
    analysis = analyze(script, tmp_path)
    assert [metric.expression for metric in analysis.metrics] == ["loss"]
    assert analysis.main_loop is not None


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("x = 1\nif x\n    pass\n", "2:5", "expected ':': if x"),
        ("x = 1\ny = (1,\nz = 2\n", "2:5", "'(' was never closed"),
        ("x = 'abc\n", "1:5", "unterminated string literal"),
        ("if x:\n    y\n  z\n", "3:4", "unindent does not match"),
        ("if x:\n\ty\n        z\n", "3:1", "inconsistent use of tabs"),
        ("x\u00a0= 1\n", "1:2", "non-printable character U+00A0"),
        ("x = 5 5\n", "1:7", "invalid syntax: x = 5 5"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_versions_tried(
    tmp_path: Path, text: str, place: str, reason: str
) -> None:
    error = refusal(tmp_path, text)
    assert error.message.startswith(f"train.py:{place}: not valid Python (tried as {platform.python_version()} and")
    assert reason in error.message
    assert error.hint


@pytest.mark.parametrize("text", NEWER)
def test_a_mistake_behind_newer_syntax_is_told_where_it_stands(tmp_path: Path, text: str) -> None:
    line = text.count("\n") + 2
    assert refusal(tmp_path, f"{text}y = 1\nz = 5 5\n").message.startswith(f"train.py:{line}:7: ")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("print 'loss', loss", "Python 2"),
        ("raise ValueError, 'loss'", "Python 2"),
        ("x = 10L", "Python 2"),
        ("x = 0777", "Python 2"),
        ("def f((a, b)): pass", "Python 2"),
        ("x = x.cuda(async=True)", "Python 3.6"),
        ("%matplotlib inline", "IPython"),
        ("!pip install torch", "IPython"),
        ("<<<<<<< HEAD", "merge conflict"),
    ],
)
def test_other_languages_are_known_by_name(tmp_path: Path, line: str, word: str) -> None:
    error = refusal(tmp_path, f"x = 1\n{line}\n")
    assert error.message.startswith("train.py:2:")
    assert word in error.hint


def test_what_python_reads_and_the_parser_does_not_is_no_fault_of_the_script(tmp_path: Path) -> None:
    error = refusal(tmp_path, "x = 1\n(y): int = 2\n")
    assert error.message.startswith(f"train.py:2:4: valid Python {platform.python_version()}, but libcst ")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5_000 + ")" * 5_000,
        "x = a" + ".b" * 20_000,
        "x = a" + " and b" * 20_000,
        "x = " + "-" * 20_000 + "a",
        "x = " + "lambda: " * 20_000 + "a",
        "if a: b\n" + "elif a: b\n" * 20_000,
        "x = (" + "'a'\n" * 20_000 + ")",
        "x = [a" + " for a in b" * 20_000 + "]",
    ],
)
def test_what_is_nested_beyond_reason_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).hint


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"# coding: rot13\nx = 1\n", "train.py:1: cannot be decoded"),
        (b"# coding: nonsense\n", "train.py:1: "),
        (b"# coding: unicode_escape\nx = '\\ud800'\n", "not a text"),
        (b"x = 1\ny = '\xff'\n", "train.py:2:6: a byte that is no utf-8 text"),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", "train.py:2:6: a byte that is no ascii text"),
        ("x = 1\n".encode("utf-16"), "null bytes"),
        (b"x = 1\n" * (LARGEST // 6 + 1), "too large to be analysed"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, word: str) -> None:
    error = refusal(tmp_path, content)
    assert word in error.message
    assert error.hint


def test_links_in_a_circle_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to(tmp_path / "b.py")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    os.mkfifo(tmp_path / "pipe.py")
    for name, word in (("a.py", "cannot read a.py"), ("pipe.py", "a device or a pipe")):
        with pytest.raises(InputError, match=word):
            analyze(tmp_path / name, tmp_path)


def project(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / "train.py"


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": "from a import step\n", "a.py": "from b import *\n", "b.py": "from a import *\nimport train\n"},
        {"train.py": "from train import step\nfrom train import *\nimport train as step\n"},
        {"train.py": "from .. import x\nfrom ....a.b import step\nfrom . import train\n"},
        {
            "train.py": "from missing import *\nfrom a.b import step\n",
            "a/__init__.py": "from . import c\nfrom .b import *\n",
        },
        {"train.py": "from a import step\n", "a.py": "print 'old'\n"},
        {"train.py": "from a import step\n", "a.py": b"# coding: latin-1\ndef step():\n    return x['\xff']\n"},
        {"train.py": "from a import step\n", "a.py": b"x = '\xff'\n"},
        {"train.py": "from a import step\n", "a.py": b"\0"},
        {
            "train.py": "from a import step\n",
            "a/__init__.py": "from a import step\nfrom a.a import step\n",
            "a/a.py": "",
        },
        {"train.py": "class A(B): pass\nclass B(A): pass\nstep = A().step\nstep = step\n"},
        {"train.py": "step = step_\nstep_ = step\ndef f(step: step = step): return f(step=f)\nf(f)\n"},
        {"train.py": "class step: pass\nstep: step\n"},
        {"train.py": "import sys\nsys.path.insert(0, '../..')\nsys.path.append(None)\nfrom a import step\n"},
    ],
    ids=lambda files: files["train.py"][:30].partition("\n")[0],
)
def test_imports_that_lead_nowhere_or_in_a_circle_leave_the_rest(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    script = project(tmp_path, files)
    script.write_bytes(script.read_bytes() + LOOP.encode())
    analysis = analyze(script, tmp_path)
    assert [metric.expression for metric in analysis.metrics] == ["loss"]
    assert analysis.main_loop is not None


def test_a_folder_that_links_to_itself_is_followed_no_further(tmp_path: Path) -> None:
    script = project(
        tmp_path, {"train.py": f"from a.a.a.a.b import *\nfrom a.b import step\n{LOOP}", "a/b.py": "x = 1\n"}
    )
    (tmp_path / "a" / "a").symlink_to(tmp_path / "a")
    (tmp_path / "b.py").symlink_to(tmp_path / "b.py")
    assert len(analyze(script, tmp_path).metrics) == 1


def test_functions_that_all_call_each_other_are_answered(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(20)]
    text = "".join(
        f"def {name}(x):\n    print('loss', x)\n    {'; '.join(f'{other}(x)' for other in names)}\n" for name in names
    )
    assert not examine(project(tmp_path, {"train.py": text})).fault
    assert not examine(project(tmp_path, {"train.py": f"{text}for epoch in range(3):\n    f0(epoch)\n"})).fault


def test_tables_that_loops_take_apart_are_answered(tmp_path: Path) -> None:
    table = str([[number, number + 1, number + 2] for number in range(12)])
    names = [f"table_{number}" for number in range(4)]
    text = "".join(f"{name} = {table}\n" for name in names) + (
        "def show(tables):\n"
        "    for i, rows in enumerate(tables):\n"
        "        for j, (a, b, c) in enumerate(rows):\n"
        "            print('[%02d-%03d] %.4f %d' % (i, j, a, pow(a, b - 1, c)))\n"
        f"show([{', '.join(names)}])\n"
    )
    assert not examine(project(tmp_path, {"train.py": text})).fault


def test_twenty_thousand_lines_are_read(tmp_path: Path) -> None:
    parts = "".join(f"def f{number}(x):\n    y = x + {number}\n    return y\n\n" for number in range(5_000))
    script = project(tmp_path, {"train.py": parts + LOOP})
    (metric,) = analyze(script, tmp_path).metrics
    assert metric.line == 20_003


UNREADABLE = {
    "broken.py": b"def f(:\n",
    "latin.py": b'name = "caf\xe9"\n',
    "later.py": b"\n\n\nname = 'caf\xe9'\n",
    "nothing.py": b"x = 1\0\n",
    "generated.py": b"x = 1\n" * (LARGEST // 6 + 1),
}


def test_files_that_cannot_be_read_are_passed_by_with_a_notice(tmp_path: Path) -> None:
    for name, content in UNREADABLE.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "reports.py").write_text("def on_epoch(w):\n    print(f'val accuracy {1 - w:.3f}')\n")
    imports = "".join(f"import {name.removesuffix('.py')}\n" for name in UNREADABLE)
    (tmp_path / "train.py").write_text(f"{imports}{LOOP}")
    analysis = analyze(tmp_path / "train.py", tmp_path, is_whole=True)
    assert [metric.name for metric in analysis.metrics] == ["loss"]
    assert [metric.name for metric in analysis.unreached] == ["val_accuracy"]
    assert len(analysis.notices) == len(UNREADABLE)
    for name, reason in [
        ("broken.py:1:7", "not valid Python"),
        ("latin.py:1:12", "a byte that is no utf-8 text"),
        ("later.py:4:12", "a byte that is no utf-8 text"),
        ("nothing.py", "null bytes"),
        ("generated.py", "too large to be analysed"),
    ]:
        (notice,) = (text for text in analysis.notices if text.startswith(f"not followed: {name}"))
        assert reason in notice


def test_files_that_nothing_imports_are_passed_by(tmp_path: Path) -> None:
    for name, content in UNREADABLE.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "train.py").write_text(LOOP)
    analysis = analyze(tmp_path / "train.py", tmp_path, is_whole=True)
    assert analysis.notices == ()
    assert analysis.files[0] == "train.py"
