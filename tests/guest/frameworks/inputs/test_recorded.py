"""What enters a program is recorded, for the line of the project that asked for it, and equal in equal runs."""

import os
import tempfile
from pathlib import Path
from zlib import crc32

import pytest
from traced_inputs import Input, inputs_of, script

from deviate.diverge.findings import VOLATILE

ALL = """\
import datetime, glob, http.server, os, pathlib, random, secrets, sys, tempfile, threading, time, uuid, urllib.request
outside, times = sys.argv[1], lambda: (os.path.getmtime("train.py"), os.path.getctime("train.py"), os.stat("train.py"))
os.listdir(outside)
list(os.scandir(outside))
glob.glob(outside + "/*")
list(pathlib.Path(outside).iterdir())
list(pathlib.Path(outside).glob("*"))
list(os.walk(outside))
os.path.exists(outside + "/none"), pathlib.Path(outside).is_dir(), os.path.getsize(outside + "/b"), times()
open(outside + "/b").read()
os.environ.get("SETS"), os.getenv("SETS"), "SETS" in os.environ, os.environ.get("SETS_TOKEN"), os.getenv("PWD")
time.time(), time.perf_counter_ns(), time.localtime(), time.strftime("%Y"), datetime.date.today()
os.getpid(), threading.get_ident()
uuid.uuid4(), secrets.token_hex(4), random.SystemRandom().random(), os.urandom(3), random.seed()
os.makedirs("runs/" + time.strftime("%H%M%S")), os.listdir("runs")
with tempfile.TemporaryDirectory() as folder:
    os.listdir(tempfile.gettempdir()), os.path.exists(folder)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"answer")
    def log_message(self, *words): pass
server = http.server.socketserver.TCPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.handle_request); thread.start()
urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_address[1]).read()
thread.join()
"""
CALLS = [
    ("listing", 3), ("listing", 4), ("listing", 5), ("listing", 6), ("listing", 7), ("listing", 8),
    ("file-state", 9), ("file-state", 2), ("file", 10), ("environment", 11), ("clock", 12), ("process-id", 13),
    ("entropy", 14), ("clock", 15), ("listing", 15), ("listing", 17), ("file-state", 17), ("network", 24),
]  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Input]]:
    """The inputs of two runs with other work copies, temporary folders, secrets and working folders."""
    outside = tmp_path_factory.mktemp("outside")
    for name in ("b", "a"):
        (outside / name).write_text(name)
    inputs = []
    for name in ("first", "second"):
        folder = tmp_path_factory.mktemp(name)
        (folder / "temporary").mkdir()
        variables = {"TMPDIR": str(folder / "temporary"), "SETS": "1", "SETS_TOKEN": name, "PWD": name}
        inputs.append(inputs_of(script(folder, ALL), str(outside), environment=variables))
    return inputs


def test_each_source_is_recorded_at_its_line(runs: list[list[Input]]) -> None:
    assert list(dict.fromkeys((item.source, item.line) for item in runs[0])) == CALLS
    clocks = [item.call for item in runs[0] if item.source == "clock" and item.line == 12]
    assert clocks == ["time.time()", "time.perf_counter_ns()", "time.localtime()", "time.strftime()", "time.time()"]
    assert len([item for item in runs[0] if item.source == "entropy"]) == 5


def test_equal_runs_have_equal_inputs_but_for_clocks_process_numbers_and_entropy(runs: list[list[Input]]) -> None:
    first, second = ([item for item in run if item.source not in VOLATILE] for run in runs)
    assert [(item.source, item.digest, item.line) for item in first] == [
        (item.source, item.digest, item.line) for item in second
    ]
    assert {item.source for item in runs[0]} - {item.source for item in first} == {"clock", "process-id", "entropy"}


def test_a_listing_shows_its_first_names_and_the_others_are_paths_and_answers(runs: list[list[Input]]) -> None:
    shown = {(item.source, item.line): item.shown for item in runs[0]}
    assert shown["listing", 3] in {"2 names: a, b", "2 names: b, a"}
    assert shown["network", 24].startswith("6 bytes")
    assert shown["file", 10].startswith("1 bytes")


def test_of_a_secret_only_its_presence_is_recorded(runs: list[list[Input]]) -> None:
    variables = {item.call: item.shown for item in runs[0] if item.source == "environment"}
    assert variables == {"os.environ['SETS']": "1", "os.environ['SETS_TOKEN']": "set"}


LEFT = """\
import json, os, sys
left = sys.argv[1]
if os.path.exists(left):
    start = json.load(open(left))
rate = os.environ.get("SETS", "0.1")
json.dump([rate], open(left, "w"))
again = json.load(open(left))
"""


def test_a_file_that_an_earlier_run_left_and_a_changed_variable_differ(tmp_path: Path) -> None:
    left = str(tmp_path / "left.json")
    first = inputs_of(script(tmp_path / "1", LEFT), left)
    second = inputs_of(script(tmp_path / "2", LEFT), left, environment={"SETS": "0.2"})
    assert [(item.source, item.shown, item.line) for item in first] == [
        ("file-state", "False", 3), ("environment", "not set", 5)
    ]  # fmt: skip
    sources = [(item.source, item.line) for item in second]
    assert sources == [("file-state", 3), ("file", 4), ("environment", 5)]
    assert {item.digest for item in first}.isdisjoint(item.digest for item in second)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no file system that lists by creation")
def test_another_order_of_the_same_names_differs_and_is_shown(tmp_path: Path) -> None:
    listings = []
    for number, names in enumerate(("abc", "bca")):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            for name in names:
                Path(folder, name).touch()
            listings += inputs_of(script(tmp_path / str(number), "import os, sys\nos.listdir(sys.argv[1])\n"), folder)
    assert listings[0].digest != listings[1].digest
    assert sorted(listings[0].shown) == sorted(listings[1].shown)
    assert listings[0].shown != listings[1].shown


LIBRARY = """\
import os, time
def load(folder):
    time.time(), os.getpid(), os.environ.get("SETS"), os.path.exists(folder)
    return sorted(os.listdir(folder))
def deep():
    import missing_until_now
"""
CALLER = """\
import os, sys
sys.path.append(sys.argv[1])
import library
library.load(".")
library.deep()
if not os.fork():
    os.listdir(".")
    os._exit(0)
os.wait()
"""


def test_of_libraries_only_listings_count_of_imports_and_forked_processes_nothing(tmp_path: Path) -> None:
    packages = tmp_path / "lib"
    packages.mkdir()
    (packages / "library.py").write_text(LIBRARY)
    (packages / "missing_until_now.py").write_text("import os\nos.listdir('.')\n")
    inputs = inputs_of(script(tmp_path / "1", CALLER), str(packages))
    assert [(item.source, item.call, item.line) for item in inputs] == [("listing", "os.listdir('.')", 4)]


THREADS = """\
import os, threading
def ask(first):
    for number in range(first, 600, 4):
        os.path.exists("train.py" if number % 7 else str(number))
threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
"""


def test_what_threads_ask_at_a_place_adds_up_to_the_same_in_any_order(tmp_path: Path) -> None:
    inputs = inputs_of(script(tmp_path, THREADS))
    total = sum(item.digest or 0 for item in inputs) % 2**32
    assert total == (514 * crc32(b"True") + 86 * crc32(b"False")) % 2**32
    assert len(inputs) < 250


UNCHANGED = """\
import copy, os, pickle, shutil, threading, time
from pathlib import Path
class Timer:
    clock, names = time.perf_counter, os.listdir
Timer().clock()
Timer().names(".")
for function in (time.time, os.listdir, os.scandir, os.stat, os.getpid, threading.get_ident):
    assert pickle.loads(pickle.dumps(function)) is function and copy.deepcopy(function) is function
    print(repr(function), function.__name__, function.__doc__)
for function in (os.path.exists, os.path.isdir, Path.exists):
    assert pickle.loads(pickle.dumps(function)) is function
print(os.scandir in os.supports_fd, os.stat in os.supports_dir_fd, shutil.rmtree.avoids_symlink_attacks)
for function, value in ((time.time, 1), (os.listdir, "no"), (os.environ.__getitem__, "NO"), (os.path.getsize, "no")):
    try:
        function(value)
    except Exception as error:
        print(type(error), error)
"""


def test_patched_functions_look_and_behave_like_the_originals(tmp_path: Path) -> None:
    results = [
        script(tmp_path / name, UNCHANGED).run(capture=capture)
        for name, capture in (("with", {"trace": "1"}), ("without", {}))
    ]
    assert [item.code for item in results] == [0, 0], results[0].stderr
    assert results[0].stdout == results[1].stdout


def test_without_a_trace_nothing_is_patched(tmp_path: Path) -> None:
    text = "import os, time\nprint(type(os.listdir) is type(time.time) is type(len), hasattr(os.stat, '__wrapped__'))\n"
    assert script(tmp_path, text).run().stdout == "True False\n"


EARLY = "import pathlib, glob, os, sys\nlist(pathlib.Path('.').iterdir()), list(pathlib.Path('.').glob('*'))\n"


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_modules_that_were_imported_earlier_are_patched_too(version: str, tmp_path: Path, interpreters) -> None:  # type: ignore[no-untyped-def]
    packages = tmp_path / "lib" / f"python{version}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "early.pth").write_text("import pathlib, glob\n")
    variables = {"PYTHONUSERBASE": str(tmp_path)}
    child = script(tmp_path / "1", EARLY)
    inputs = inputs_of(child, python=interpreters(version), environment=variables)
    assert {(item.source, item.line) for item in inputs} == {("listing", 2)}
    assert len(inputs) >= 2
