"""Runs of a script that uses both libraries, by the command line. The package must be installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def run_deviate(folder, *words):
    path = os.pathsep.join(filter(None, [str(HERE / "library"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "120"}
    command = [sys.executable, "-m", "deviate", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def test_everything_is_found_and_nothing_left_out(tmp_path):
    plugins = json.loads(run_deviate(tmp_path, "plugins", "--format", "json"))
    of_this_package = [plugin for plugin in plugins if plugin["module"].startswith("deviate_lab.")]
    assert len(of_this_package) == 6
    assert [plugin["problem"] for plugin in of_this_package] == [""] * 6


def test_values_and_weights_of_runs_are_recorded(tmp_path):
    shutil.copy(HERE / "train.py", tmp_path)
    words = ["--runs", "2", "--variants", "control", "--executor", "launcher", "--option", "command=nice -n 1"]
    printed = run_deviate(tmp_path, "run", "train.py", "--python", sys.executable, "--name", "t", *words)
    # The sink recorded the metric, and the adapter took over the seed and hashed the weights.
    assert "identical, 2 runs bitwise equal (1 quality metric and final weights)" in printed
