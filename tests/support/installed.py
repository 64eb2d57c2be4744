"""Files of the packages that are installed here, as input for the analyzer, and what must hold of its answers."""

import ast
import functools
import io
import json
import shutil
import signal
import sysconfig
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from deviate.analysis.analyze import analyze
from deviate.analysis.document import to_document
from deviate.analysis.resolve.source import read_source
from deviate.errors import InputError
from deviate.instrument.rewrite import AROUND, instrument_text
from deviate.model.analysis import Analysis

PACKAGES = Path(sysconfig.get_path("purelib"))
STANDARD = Path(sysconfig.get_path("stdlib"))
CALLEES = tuple(form for form in AROUND if form != "mapping")
"""Forms of taps whose span is what is called."""

LIMIT = 20.0
"""Seconds of processor time for one file: not a measurement, but the end of what would never end."""

LARGEST = 150_000
"""Bytes of the longest file: a few of the packages' files are tables of megabytes."""


@dataclass(frozen=True)
class Answer:
    """What came of one file.

    Attributes:
        fault: what must not be: a traceback, or a promise that was not kept; empty when all is well.
        refusal: the message of an `InputError`; empty when the file was analysed.
    """

    path: Path
    fault: str = ""
    refusal: str = ""
    n_sites: int = 0
    n_metrics: int = 0
    n_files: int = 0


@functools.cache
def installed_files(count: int) -> list[Path]:
    """Files of as many packages as there are, taken in turns; in each package, those that print or log come first."""
    packages: dict[str, list[Path]] = {}
    for folder, names in ((PACKAGES, "*"), (STANDARD, "test"), (STANDARD, "lib2to3")):
        for package in sorted(folder.glob(names)):
            files = [path for path in sorted(package.rglob("*.py")) if 0 < path.stat().st_size <= LARGEST]
            packages[package.name] = sorted(files, key=_prints_nothing)
    turns = zip_longest(*packages.values())
    return [path for turn in turns for path in turn if path is not None][:count]


def _prints_nothing(path: Path) -> bool:
    content = path.read_bytes()
    return not any(word in content for word in (b"print(", b"log.", b"logger.", b"logging."))


def _too_long(*_: object) -> NoReturn:
    raise TimeoutError(f"more than {LIMIT} s of processor time")


def examine(script: Path) -> Answer:
    """Analyse a script with its folder as the project."""
    return _examine(script, script.parent, script)


def examine_alone(path: Path) -> Answer:
    """Analyse a copy of a file in a project of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / path.name
        shutil.copyfile(path, script)
        return _examine(script, Path(folder), path)


def examine_in_place(path: Path) -> Answer:
    """Analyse a file where it is installed, with all that is installed beside its package as its project."""
    return _examine(path, PACKAGES if path.is_relative_to(PACKAGES) else STANDARD, path)


def _examine(script: Path, root: Path, path: Path) -> Answer:
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        analysis = analyze(script, root)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        _check(analysis)
    except InputError as error:
        fault = "" if error.hint else "a refusal without advice"
        if is_python(path.read_bytes()) and "but libcst" not in error.message:
            fault = f"Python compiles it, and yet: {error.message}"
        return Answer(path, fault, error.message)
    except Exception:  # noqa: BLE001 - a traceback is what is looked for, and it is told with the file's name
        return Answer(path, fault=traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return Answer(path, "", "", len(analysis.sites), len(analysis.metrics), len(analysis.files))


def _check(analysis: Analysis) -> None:
    json.dumps(to_document(analysis))
    names = [metric.name for metric in analysis.metrics]
    assert len(set(names)) == len(names), f"metrics of one name: {names}"
    assert {metric.site for metric in analysis.metrics} <= {None, *(site.id for site in analysis.sites)}
    assert analysis.main_loop is None or analysis.main_loop in analysis.loops
    for file in {item.file for item in (*analysis.sites, *analysis.loops)}:
        _check_file(file, analysis)


def _check_file(file: str, analysis: Analysis) -> None:
    """Spans give their expressions back; the text with taps compiles and keeps its lines."""
    source = read_source(analysis.root / file, file)
    sites = [site for site in analysis.sites if site.file == file]
    for site in sites:
        text = source.between(site.span)
        tree = parsed(f"({text}\n)()" if site.form in CALLEES else text)
        is_part = site.form in AROUND or ast.dump(tree) in map(ast.dump, ast.walk(parsed(site.expression)))
        assert is_part, f"{file}:{site.line}: {text!r} for {site.expression!r}"
    tapped = instrument_text(source.text, sites, [loop for loop in analysis.loops if loop.file == file]).text
    assert len(io.StringIO(tapped).readlines()) == len(io.StringIO(source.text).readlines())
    if is_python(source.text):
        assert is_python(tapped), f"{file}: with taps it does not compile"


def parsed(expression: str) -> ast.expr:
    """The tree of an expression, laid out in any way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(f"({expression}\n)", mode="eval").body


def is_python(text: str | bytes) -> bool:
    """Whether this Python compiles a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "file", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
