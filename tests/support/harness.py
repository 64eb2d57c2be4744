"""Runs a script with the guest as a run would, with taps at places that the test names, and reads the events."""

import atexit
import compileall
import functools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import forked
from recorded import events_of

import deviate
from deviate import eventlog
from deviate.instrument.input_taps import InputTaps
from deviate.instrument.rewrite import instrument_text
from deviate.model.analysis import Loop, Site, Span

PACKAGE = Path(deviate.__file__).parent


def span_of(text: str, marked: str) -> tuple[Span, str]:
    """Where an expression stands, and the expression: what is between « and » in a passage, or all of it."""
    before, _, rest = marked.rpartition("«")
    expression, _, after = rest.partition("»")
    passage = before + expression + after
    assert text.count(passage) == 1, f"{passage!r} must stand once in the text"
    at = text.index(passage) + len(before)
    ahead = text[:at]
    line, column = ahead.count("\n") + 1, at - (ahead.rfind("\n") + 1)
    inside = expression.count("\n")
    end_column = column + len(expression) if not inside else len(expression) - expression.rfind("\n") - 1
    return Span(line, column, line + inside, end_column), expression


@dataclass(frozen=True)
class Result:
    """What a child left behind."""

    code: int
    stdout: str
    stderr: str
    events: list[list]
    work: Path

    def of(self, kind: str) -> list[list]:
        return [event[1:] for event in self.events if event[0] == kind]

    def values(self, site: int = 0) -> list:
        return [eventlog.number(event[4]) for event in self.of("value") if event[0] == site]


def copy_guest(folder: Path) -> None:
    """What a run finds on PYTHONPATH, without a manifest.

    The files are links to one copy with bytecode, for each of many children would compile its own. A run compiles the
    guest once for all its processes.
    """
    shutil.copytree(compiled_guest(), folder, copy_function=link, dirs_exist_ok=True)


@functools.cache
def compiled_guest() -> Path:
    """The copy that the tests of this process have in common; it goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="deviate-guest-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    guest = folder / "_deviate_guest"
    for part, name in (("guest", "runtime"), ("sinks", "sinks")):
        shutil.copytree(PACKAGE / part, guest / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("eventlog.py", "logs.py"):
        shutil.copy(PACKAGE / name, guest / name)
    shutil.copy(PACKAGE / "guest" / "sitecustomize.py", folder / "sitecustomize.py")
    (guest / "__init__.py").touch()
    compileall.compile_dir(folder, quiet=1)
    return folder


def link(source: str, target: str) -> None:
    """Link a file, or copy it where the two lie on different disks; one that is there from an earlier run goes."""
    Path(target).unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def taps_of(sites: Sequence[Site], loops: Sequence[Loop]) -> dict[str, dict[int, dict[str, object]]]:
    """The part of the guest's manifest that tells of sites and loops."""
    return {
        "sites": {s.id: {"file": s.file, "line": s.line, "form": s.form, "fields": s.fields} for s in sites},
        "loops": {
            loop.id: {
                "file": loop.file,
                "line": loop.line,
                "end_line": loop.end_line,
                "kind": loop.kind,
                "main": loop.is_main,
            }
            for loop in loops
        },
    }


class Child:
    """One script in a project folder of its own, with sites and loops added by the test."""

    def __init__(self, folder: Path, text: str, name: str = "train.py") -> None:
        self.folder, self.text, self.name = folder, text, name
        self.sites: list[Site] = []
        self.loops: list[Loop] = []
        self.files: dict[str, str] = {}
        self.adapters: dict[str, list[str]] = {}

    def tap(self, marked: str, **options: object) -> "Child":
        span, expression = span_of(self.text, marked)
        self.sites.append(Site(len(self.sites), self.name, span.line, span, expression, "print", **options))  # type: ignore[arg-type]
        return self

    def loop(self, marked: str, end_line: int, kind: str = "for", *, is_main: bool = True) -> "Child":
        span, _ = span_of(self.text, marked)
        self.loops.append(Loop(len(self.loops), self.name, span.line, end_line, kind, None, span, is_main))  # type: ignore[arg-type]
        return self

    def run(
        self,
        *arguments: str,
        python: str = sys.executable,
        command: tuple[str, ...] | None = None,
        seeds: dict[str, int] | None = None,
        controls: dict[str, str] | None = None,
        capture: dict[str, str] | None = None,
        environment: dict[str, str | None] | None = None,
        varied: Sequence[str] = (),
        weights: Sequence[str] | None = None,
        is_tapped: bool = True,
        is_cold: bool = False,
        watched: Sequence[int] | None = None,
    ) -> Result:
        """Run the script to its end.

        Args:
            watched: lines with a marker, for a run that taps inputs.
            is_cold: whether its frameworks are to be imported anew, as in the process of a user.
        """
        work = self.folder / "attempt-1" / "work" / "parent" / "project"
        guest = self.folder / "guest" / "_deviate_guest"
        originals = self.folder / "originals"
        for path in (work, originals):
            path.mkdir(parents=True, exist_ok=True)
        copy_guest(guest.parent)
        inputs = None if watched is None else InputTaps.of_texts([self.text])
        markers = list(enumerate(watched or ()))
        instrumented = instrument_text(self.text, self.sites, self.loops, inputs, markers)
        (originals / self.name).write_text(self.text, encoding="utf-8")
        (work / self.name).write_text(instrumented.text if is_tapped else self.text, encoding="utf-8")
        for name, text in self.files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text, encoding="utf-8")
        manifest = {
            "schema": 1,
            "root": str(self.folder / "original"),
            "originals": str(originals),
            "files": {self.name: {"edits": instrumented.edits}} if is_tapped else {},
            **taps_of(self.sites, self.loops),
            "adapters": self.adapters,
            **(
                {
                    "inputs": {
                        "watched": {
                            number: (self.name, dict(markers)[number], marker)
                            for number, marker in instrumented.watched.items()
                        }
                    }
                }
                if inputs
                else {}
            ),
        }
        (guest / "manifest.json").write_text(json.dumps(manifest))
        spec = self.folder / "spec.json"
        asked = {"seeds": seeds or {}, "controls": controls or {}, "capture": capture or {}, "varied": list(varied)}
        asked["weights"] = weights
        spec.write_text(json.dumps({"schema": 1, **asked}))
        variables = {
            **os.environ,
            "PYTHONPATH": str(guest.parent),
            "DEVIATE_RUN_DIR": str(self.folder / "attempt-1"),
            "DEVIATE_SPEC": str(spec),
            "DEVIATE_GUEST": str(guest.parent),
            "DEVIATE_WORK": str(work),
            "DEVIATE_ROOT": str(self.folder / "original"),
            **(environment or {}),
        }
        done = forked.run(
            command or (python, self.name, *arguments),
            work,
            {key: value for key, value in variables.items() if value is not None},
            (self.text, *self.files.values()),
            is_cold=is_cold,
        )
        events = events_of(self.folder / "attempt-1")
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode(), events, work)
