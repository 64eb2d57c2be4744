"""A script on the whole way, from the analysis to the records: what its run leaves, with taps, without, and plainly."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planned import execute, plan
from recorded import events_of

from deviate import eventlog
from deviate.analysis.analyze import analyze
from deviate.instrument.snapshot import freeze
from deviate.model.plan import Selection
from deviate.records.layout import snapshot_folder
from deviate.records.plans import Plan, VariantPlan, create_experiment
from deviate.replay.variants import find_variant


@dataclass(frozen=True)
class Left:
    """What a run leaves for others to see; files by their path in the project, sources with taps left out."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


@dataclass(frozen=True)
class Recorded:
    """What a run left, and what was recorded in it.

    Attributes:
        values: numbers by the expression that was reported, or the name a framework gave them, in order.
        steps: loop counters beside each of them, by loop line.
        written: paths outside the work copy that were written.
    """

    left: Left
    values: dict[str, list[object]]
    steps: dict[str, list[dict[int, int]]]
    written: list[str]

    @property
    def stdout(self) -> str:
        return self.left.stdout.decode()

    @property
    def stderr(self) -> str:
        return self.left.stderr.decode()


@dataclass(frozen=True)
class Replayed:
    """A project that lies in `root`, its command, and the script that the command runs."""

    root: Path
    script: str = "train.py"
    command: tuple[str, ...] = ()
    cwd: str = "."

    @property
    def words(self) -> tuple[str, ...]:
        return self.command or (sys.executable, os.path.relpath(self.script, self.cwd))

    def write(self, files: Mapping[str, str | bytes]) -> "Replayed":
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def run(self, *, is_tapped: bool = True, variant: str = "as-is") -> Recorded:
        """One run, in a folder that is made anew, so that all runs work in the same place."""
        folder = self.root.parent.parent / "experiment"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        found = analyze(self.root / self.script, self.root)
        snapshot = freeze(found, snapshot_folder(folder), cwd=self.cwd, is_tapped=is_tapped)
        defined = find_variant(variant)
        variants = (VariantPlan(variant, 1, defined),)
        create_experiment(
            folder,
            Plan("x", 0.0, self.root, self.words, self.cwd, 0, snapshot.sources_hash, variants, Selection(())),
        )
        specs = plan(snapshot, command=self.words, cwd=self.cwd, variant=defined, runs=1, seed=0)
        (outcome,) = execute(specs, snapshot, folder)
        events = events_of(outcome.folder)
        assert not [event for event in events if event[0] == "error"]
        expressions = {it.id: it.fields[0] if it.form in {"format", "mapping"} else it.expression for it in found.sites}
        lines = {loop.id: loop.line for loop in found.loops}
        values: dict[str, list[object]] = {}
        steps: dict[str, list[dict[int, int]]] = {}
        for kind, *event in events:
            if kind == "value":
                values.setdefault(expressions[event[0]], []).append(eventlog.number(event[4]))
                around = dict(zip(event[2][::2], event[2][1::2], strict=True))
                steps.setdefault(expressions[event[0]], []).append({lines[key]: at for key, at in around.items()})
            elif kind == "named":
                values.setdefault(event[0], []).append(eventlog.number(event[4]))
        work = outcome.folder / "work" / self.root.parent.name / self.root.name
        left = self._left(
            json.loads((outcome.folder / "result.json").read_bytes())["exit_code"],
            (outcome.folder / "stdout.log").read_bytes(),
            (outcome.folder / "stderr.log").read_bytes(),
            work,
        )
        written = [str(event[1]) for event in events if event[0] == "write"]
        return Recorded(left, values, steps, written)

    def run_plainly(self) -> Left:
        """The user's own run, without any of us, in the place of the last work copy."""
        (work,) = (self.root.parent.parent / "experiment").glob(
            f"runs/*/*/work/{self.root.parent.name}/{self.root.name}"
        )
        shutil.rmtree(work)
        shutil.copytree(self.root, work, symlinks=True)
        done = subprocess.run(
            list(self.words),
            cwd=work / self.cwd,
            env={key: value for key, value in os.environ.items() if not key.startswith("DEVIATE_")},
            capture_output=True,
            check=False,
        )
        return self._left(done.returncode, done.stdout, done.stderr, work)

    def _left(self, code: int | None, stdout: bytes, stderr: bytes, work: Path) -> Left:
        files = {
            path.relative_to(work).as_posix(): path.read_bytes()
            for path in sorted(work.rglob("*"))
            if path.is_file() and not {"__pycache__", ".git"} & set(path.relative_to(work).parts)
        }
        for source in (self.script, *(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py"))):
            files.pop(source, None)
        return Left(code, stdout, stderr, files)


def compared(project: Replayed) -> Recorded:
    """The run with taps, after it was found to leave what a plain run leaves.

    A run without taps lies between the two: it has the guest alone. tests/examples/test_fidelity.py compares it.
    """
    on = project.run()
    assert on.left == project.run_plainly(), "a run in as-is is not the plain run"
    return on


def script(
    root: Path, text: str | bytes, files: Mapping[str, str | bytes] | None = None, **options: object
) -> Recorded:
    """`compared` for a project of one script, and data beside it."""
    project = Replayed(root, **options)  # type: ignore[arg-type]
    return compared(project.write({project.script: text, **(files or {})}))


def commands(root: Path, *words: Sequence[str]) -> None:
    """Run commands that make a project what it is."""
    for command in words:
        subprocess.run(command, cwd=root, check=True, capture_output=True)
