"""Runs a scene with one side and says what it left."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from scripts.sameness.commands import Scene
from scripts.sameness.environments import Side
from scripts.sameness.outcomes import Folder, Outcome, outcome, timeless

SERVER = Path(__file__).with_name("server.py")
LIMIT_S = 300
"""A command that takes longer is ended, and counts as ended by a signal."""


class Forked:
    """The process that forks commands of a side; one command, or one batch, at a time."""

    def __init__(self, side: Side, environment: dict[str, str], moment: float) -> None:
        self.side = side
        self.environment = environment
        self.moment = moment
        self.process = subprocess.Popen(
            [side.python, SERVER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def play(self, scene: Scene, folder: Folder) -> list[Outcome]:
        """What each line of a scene left, in a folder that holds its project."""
        groups = [scene.lines] if scene.is_batch else [(line,) for line in scene.lines]
        outcomes = []
        for lines in groups:
            with tempfile.TemporaryDirectory() as streams:
                calls = [_call(line, Path(streams), index) for index, line in enumerate(lines)]
                ended = self._cold(calls, folder.path) if scene.is_cold else self._forked(calls, folder.path)
                changes = folder.changes()
                for index, called in enumerate(calls):
                    code = _read(called["code"]).decode() or f"none: its process ended with {ended}"
                    is_last = index == len(calls) - 1
                    left = outcome(code, _read(called["out"]), _read(called["err"]), changes if is_last else {})
                    outcomes.append(timeless(left) if scene.has_runs else left)
        return outcomes

    def _forked(self, calls: list[dict[str, Any]], folder: Path) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"folder": str(folder), "calls": calls, "moment": self.moment, "limit_s": LIMIT_S}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def _cold(self, calls: list[dict[str, Any]], folder: Path) -> int:
        code = 0
        for called in calls:
            with open(called["out"], "wb") as out, open(called["err"], "wb") as err:  # noqa: PTH123 - texts, as JSON has them
                process = subprocess.Popen(
                    [self.side.deviate, *called["words"]],
                    cwd=folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(LIMIT_S)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            Path(called["code"]).write_text(str(code), encoding="utf-8")
        return code

    def end(self) -> None:
        """It ends when nobody can ask any more."""
        self.process.communicate()


def _call(line: str, streams: Path, index: int) -> dict[str, Any]:
    names = {name: str(streams / f"{index}.{name}") for name in ("out", "err", "code")}
    return {"words": shlex.split(line), **names}


def _read(path: str) -> bytes:
    return Path(path).read_bytes() if Path(path).exists() else b""


def played(scene: Scene, folder: Folder, sides: tuple[Forked, Forked]) -> list[tuple[Outcome, Outcome]]:
    """What both sides left of each line: one after the other at the same path, for paths are printed."""
    outcomes = []
    for side in sides:
        outcomes.append(side.play(scene, folder))
        folder.mend()
    old, new = outcomes
    return list(zip(old, new, strict=True))
