"""The cures: sorted listings, a fixed clock, seeded entropy."""

from pathlib import Path

import pytest
from traced_inputs import inputs_of, script

ENTROPY = """\
import os, random, secrets, tempfile, uuid
print(os.urandom(4).hex(), uuid.uuid4(), secrets.token_hex(2), secrets.randbelow(10**9), random.SystemRandom().random())
print(random.Random().random(), random.random())
random.seed()
print(random.random(), flush=True)
child = os.fork()
if not child:
    print("child", os.urandom(2).hex(), random.random(), flush=True)
    os._exit(0)
os.wait()
print(os.urandom(2).hex(), len(os.urandom(0)), flush=True)
"""
CLOCK = """\
import datetime, os, sys, threading, time
sys.path.append(sys.argv[1])
import library
begin, ticks = time.time(), 0
while time.time() - begin < 5:
    ticks += 1
print(begin, ticks, time.strftime("%Y-%m-%d"), datetime.date.today().year, time.monotonic() > 0)
before = time.perf_counter()
time.sleep(0.01)
print(round(time.perf_counter() - before, 3))
print(library.real(), threading.Event().wait(0.01))
times = []
thread = threading.Thread(target=lambda: times.append(time.time()))
thread.start(); thread.join()
print(times)
"""


def outputs(folder: Path, text: str, controls: dict[str, str], *arguments: str) -> list[str]:
    printed = []
    for name in ("first", "second"):
        result = script(folder / name, text).run(*arguments, controls=controls, capture={"trace": "1"})
        assert (result.code, result.of("error")) == (0, []), result.stderr
        printed.append(result.stdout)
    return printed


def test_seeded_entropy_is_the_same_in_all_runs_and_differs_within_one(tmp_path: Path) -> None:
    first, second = outputs(tmp_path, ENTROPY, {"entropy": "seeded"})
    assert first == second
    assert len(set(first.split())) == len(first.split())


def test_without_the_cure_entropy_differs(tmp_path: Path) -> None:
    first, second = outputs(tmp_path, ENTROPY, {})
    assert not set(first.split()) & set(second.split()) - {"child", "0"}


@pytest.mark.requires("numpy")
def test_generators_of_numpy_without_a_seed_are_reached(tmp_path: Path) -> None:
    text = "from numpy.random import *\nprint(default_rng().random(), rand(), RandomState().rand())\n"
    first, second = outputs(tmp_path, text, {"entropy": "seeded"})
    assert first == second


def test_a_fixed_clock_is_the_same_in_all_runs_ends_loops_and_leaves_libraries_alone(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("import time\ndef real():\n    return time.time() > 1.7e9\n")
    first, second = outputs(tmp_path, CLOCK, {"clock": "fixed"}, str(tmp_path))
    assert first == second
    begin, ticks, *rest = first.split()
    assert (begin, rest) == (
        "1600000000.1", ["2020-09-13", "2020", "True", "0.11", "True", "False", "[1600000000.1]"]
    )  # fmt: skip
    assert 0 < int(ticks) <= 50


def test_sorted_listings_are_what_the_program_sees_and_what_is_recorded(tmp_path: Path) -> None:
    text = "import glob, os\nprint(os.listdir('.'), glob.glob('*'), [entry.name for entry in os.scandir('.')])\n"
    child = script(tmp_path, text)
    child.files.update(dict.fromkeys(("z.py", "b.py", "y.py"), ""))
    inputs = inputs_of(child, controls={"listing": "sorted"})
    assert {item.shown for item in inputs} == {"4 names: b.py, train.py, y.py, z.py"}
