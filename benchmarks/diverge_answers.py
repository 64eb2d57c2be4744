"""Runs `deviate diverge` on a script in a new folder, and reads its answer."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

MEMORY = Path("/dev/shm")
SHARED = "SHARED"
"""In arguments of a script: a folder outside of the project, in memory where the system has such a file system."""


def parse_options(description: str | None) -> argparse.Namespace:
    """The options of a table of scripts."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="rows that contain this word")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--answers", type=Path)
    return parser.parse_args()


def is_chosen(options: argparse.Namespace, *cells: str) -> bool:
    """Whether `--only` chooses a row with these cells."""
    return str(options.only).lower() in " ".join(cells).lower()


class Answer(NamedTuple):
    """What the command answered.

    Attributes:
        code: exit code. text: standard output and errors.
        document: of `--json`; empty if there is none.
        seconds: of the whole command.
    """

    code: int
    text: str
    document: dict[str, Any]
    seconds: float


def diverge(
    files: Sequence[Path],
    *,
    flags: Sequence[str] = (),
    launcher: Sequence[str] = (),
    arguments: Sequence[str] = (),
    n_threads: int = 1,
) -> Answer:
    """Run the first of these files twice, in a copy of all of them, and compare the runs.

    Args:
        flags: of `deviate diverge`. launcher: words before the script, such as those of torchrun.
        arguments: of the script; `SHARED` becomes a folder of this call.
        n_threads: of the libraries that compute.
    """
    with (
        tempfile.TemporaryDirectory() as scratch,
        tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as shared,
    ):
        folder = Path(scratch).resolve() / "project"
        folder.mkdir()
        for file in files:
            (folder / file.name).write_bytes(file.read_bytes())
        words = [sys.executable, "-m", "deviate", "diverge", *flags, "-q", "--json", "out.json"]
        words += ["--", *launcher, files[0].name] if launcher else [files[0].name, "--"]
        words += [word.replace(SHARED, shared) for word in arguments]
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "OMP_NUM_THREADS": str(n_threads),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        began = time.monotonic()
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        out = folder / "out.json"
        document = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
        return Answer(done.returncode, done.stdout + done.stderr, document, seconds)
