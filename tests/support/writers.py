"""Trackers that write files as a user's script makes them: in a process of their own, and without a network."""

import os
import subprocess
import sys
from pathlib import Path


def write(folder: Path, script: str, *arguments: str, code: int = 0, **variables: str) -> str:
    """Run a script in a folder; gives what it printed.

    Args:
        code: with which it is to end.
    """
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "MLFLOW_DISABLE_TELEMETRY": "true"}
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**os.environ, **quiet, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout
