"""Files of a record when several processes write them, or one that dies."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deviate.errors import InUseError
from deviate.records import files
from deviate.records.files import lock_folder

HOLD = """
import sys, time
from pathlib import Path
from deviate.records.files import lock_folder
with lock_folder(Path(sys.argv[1]), waits=False):
    print("locked", flush=True)
    time.sleep(60)
"""


def hold(folder: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    return process


def test_a_lock_tells_who_has_it_and_is_free_when_its_holder_is_killed(tmp_path: Path) -> None:
    with hold(tmp_path / "base") as other:
        with pytest.raises(InUseError, match=f"process {other.pid}"), lock_folder(tmp_path / "base", waits=False):
            pass
        other.kill()
    with lock_folder(tmp_path / "base", waits=False):
        assert (tmp_path / "base" / ".lock").read_text() == str(os.getpid())


def test_a_short_change_waits_for_the_lock(tmp_path: Path) -> None:
    with hold(tmp_path) as other:
        began = time.monotonic()
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -9 {other.pid}"])
        with killer, lock_folder(tmp_path, waits=True):
            assert time.monotonic() - began > 0.2


def test_who_has_the_lock_and_has_not_said_so_yet_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "NAMELESS_S", 300)
    lock = tmp_path / ".lock"
    with hold(tmp_path) as other:
        lock.write_text("")
        namer = threading.Timer(0.2, lock.write_text, [str(other.pid)])
        namer.start()
        with pytest.raises(InUseError, match=f"process {other.pid}"), lock_folder(tmp_path, waits=False):
            pass
        namer.join()
        lock.write_text("")
        killer = threading.Timer(0.2, other.kill)
        killer.start()
        with lock_folder(tmp_path, waits=False):
            assert lock.read_text() == str(os.getpid())
        killer.join()
