"""`deviate doctor --report` names versions and no person, and is written even where everything is broken."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.cli.defect_report import defect_report

TITLES = ["Versions", "Interpreter of the script", "Plug-ins", "deviate.toml", "Variables that are set, by name"]


def parts_of(text: str) -> dict[str, str]:
    """The parts of a report by title."""
    parts = re.findall(r"^### (.*?)\n\n(`{3,})text\n(.*?)\n\2\n", text, re.MULTILINE | re.DOTALL)
    return {title: body for title, _, body in parts}


def test_a_report_has_what_matters_and_nothing_of_a_person(
    tmp_path: Path, experiment: Path, add_run: Callable[..., Path], bare: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"HOME": "/home/turing", "USER": "turing", "OMP_NUM_THREADS": "7", "HOSTNAME": "enigma"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef")
    attempt = add_run(0, "", "crashed")
    (attempt / "stderr.log").write_text(
        f'  File "{tmp_path}/net.py", line 3\nOSError: /home/turing/key 0123456789abcdef turing@enigma ```\n', "utf-8"
    )
    (tmp_path / "deviate.toml").write_text('[experiment]\ncommand = "python net.py --token=abc"\n', encoding="utf-8")
    text = defect_report(bare, tmp_path, timeout_s=60, defect=lambda: "KeyError: 'turing'", experiment="base")
    parts = parts_of(text)
    assert list(parts) == [*TITLES, "Latest defect", "Experiment"]
    for private in ("turing", "enigma", "0123456789abcdef", str(tmp_path), 'abc"'):
        assert private not in text
    assert f"CPython {'.'.join(map(str, sys.version_info[:3]))}" in parts["Versions"]
    assert re.search(r"\bnumpy \d", parts["Versions"])
    assert "python: 3." in parts["Interpreter of the script"]
    assert parts["deviate.toml"].startswith('[experiment]\ncommand = "python net.py --token=[redacted]')
    assert {"OMP_NUM_THREADS", "WANDB_API_KEY"} <= set(parts["Variables that are set, by name"].split("\n"))
    assert "=" not in parts["Variables that are set, by name"]
    assert parts["Latest defect"] == "KeyError: 'USER'"
    assert 'File "PROJECT/net.py", line 3\nOSError: … [redacted] [address] ```' in parts["Experiment"]


def test_a_broken_environment_is_what_a_report_says_part_by_part(tmp_path: Path) -> None:
    """Records cannot be read, the file is a folder, and neither git nor the interpreter of the script is there."""
    (tmp_path / "broken").mkdir()
    for module in ("msgspec", "numpy", "libcst"):
        (tmp_path / f"broken/{module}.py").write_text("raise ImportError('half installed')", encoding="utf-8")
    (tmp_path / "deviate.toml").mkdir()
    (tmp_path / ".deviate/defects").mkdir(parents=True)
    (tmp_path / ".deviate/defects/a.txt").write_bytes(b"\xff\xfe")
    done = subprocess.run(
        [sys.executable, "-m", "deviate", "doctor", "--report", "--python", "none-such", "--experiment", "base"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "broken"), "PATH": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    parts = parts_of(done.stdout)
    assert "git: cannot be started: No such file or directory" in parts["Versions"]
    assert parts["Interpreter of the script"].startswith("not available: InputError: no interpreter none-such")
    assert parts["deviate.toml"].startswith("not available: IsADirectoryError: ")
    assert parts["Latest defect"].startswith("not available: UnicodeDecodeError: ")
    assert parts["Experiment"] == "not available: ImportError: half installed"
