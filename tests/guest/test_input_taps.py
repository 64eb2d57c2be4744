"""The taps of traced runs record what enters a program, and leave it as it is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Child, Result

from deviate.guest.observers.inputs import MOST_AT_PLACE, MOST_LINES

SCRIPT = '''"""Comments are numbers of lines."""

import datetime, enum, os, pathlib, random, threading, time
class Node:
    def __init__(self, data): self.data = data
class Slotted:
    __slots__ = ("size", "empty")
    def __init__(self, size): self.size = size
class Keyed:
    def __hash__(self): return hash("key")
class Color(enum.Enum):
    RED, BLUE, GREEN = range(3)
def hashed(hash): return hash("text")
words = {"fig", "kiwi", "lime", "pear"}
paths = {pathlib.Path(os.getcwd(), name) for name in words}
print("order", "|".join(words))  # 16
print("nodes", [node.data for node in {Node(k) for k in range(3)}])  # 17
first, *rest = {Slotted(1), Slotted(2)}  # 18
for path in paths: pass  # 19
list({object(), object()}); [*{Color.RED, Color.BLUE}]  # 20
sorted(list(words)); list({3, 1, 2}); {word for word in words}; print(sorted([1], key=abs))  # 21
print("hash", hash("a"), hash(1), hashed(len), hash(Keyed()))  # 22
print(hash(object()) == id(None))  # 23
words.pop()  # 24
zone = datetime.timezone.utc
print("clock", datetime.datetime.now(zone), time.time())  # 26
def f(): return 0
results, totals = [], {}
def work(k):
    results.append(k)  # 30
    totals["k"] = object()  # 31
work(-1)
for k in range(2):
    thread = threading.Thread(target=work, args=(k,), name="worker %d" % k)
    thread.start(); thread.join()
for _ in range(1000): list(words)  # 36
if words: f()  # 37
else: f()  # 38
pid = os.fork()
if pid == 0:
    f()  # 41
    os._exit(0)
os.waitpid(pid, 0)
f()  # 44
'''


@dataclass(frozen=True)
class Traced:
    """A run with taps of inputs.

    Attributes:
        inputs: source, call, whether it can be compared, and shown value of each input, by line.
        watched, ran: lines, of all processes.
    """

    result: Result
    inputs: dict[int, list[tuple[str, str, bool, str]]]
    watched: set[int]
    ran: set[int]

    def at(self, line: int) -> tuple[str, str, bool, str]:
        (event,) = self.inputs[line]
        return event


def traced(folder: Path, text: str, watched: Sequence[int] = (), **options: object) -> Traced:
    result = Child(folder, text).run(capture={"trace": "1"}, watched=watched, **options)  # type: ignore[arg-type]
    assert (result.code, result.of("error")) == (0, []), result.stderr
    inputs: dict[int, list[tuple[str, str, bool, str]]] = {}
    begun: set[int] = set()
    ran: set[int] = set()
    for path in (folder / "attempt-1" / "artifacts").glob("trace-*.jsonl"):
        lines: dict[int, int] = {}
        for kind, *items in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if kind == "start":
                begun |= {line for _, line in items[1].get("watched", ())}
            elif kind == "place":
                lines[items[0]] = items[2]
            elif kind == "input":
                source, call, digest, shown, place, more = items
                assert "thread" not in more, "it would be compared in any order"
                inputs.setdefault(lines[place], []).append((source, call, digest is not None, shown))
            elif kind == "ran":
                ran.add(lines[items[0]])
    return Traced(result, inputs, begun, ran)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return traced(tmp_path_factory.mktemp("inputs"), SCRIPT, [37, 38, 41, 44], controls={"clock": "fixed"})


def test_orders_of_sets_are_recorded_where_items_are_taken(run: Traced) -> None:
    order = next(line for line in run.result.stdout.splitlines() if line.startswith("order"))
    listed = ", ".join(repr(word) for word in order.split()[1].split("|"))
    assert run.at(16) == ("set-order", "set of str", True, f"4 items: {listed}")
    assert {run.at(line)[1] for line in (17, 18, 19)} == {"set of Node", "set of Slotted", "set of PosixPath"}
    assert "Node(data=0)" in run.at(17)[3]
    assert "Slotted(size=1)" in run.at(18)[3]
    assert "'./fig'" in run.at(19)[3]
    assert run.at(24)[:3] == ("set-order", "set of str", True)


def test_objects_that_cannot_be_told_apart_are_in_the_order_of_their_addresses(run: Traced) -> None:
    by_address, of_enum = run.inputs[20]
    assert by_address == ("address", "set of object", False, "a set of 2 object objects, ordered by address")
    assert of_enum[:2] == ("set-order", "set of Color")


def test_orders_that_are_the_same_in_each_run_or_do_not_matter_are_no_inputs(run: Traced) -> None:
    assert 21 not in run.inputs


def test_hashes_of_texts_and_addresses_are_recorded(run: Traced) -> None:
    value = next(line for line in run.result.stdout.splitlines() if line.startswith("hash")).split()[1]
    assert run.inputs[22][0] == ("hash", "hash('a')", True, value)
    assert [event[1] for event in run.inputs[22]] == ["hash('a')", "hash(Keyed)"]
    assert [event[:3] for event in run.inputs[23]] == [
        ("address", "hash(object)", False),
        ("address", "id()", False),
    ]


def test_dates_are_read_from_the_fixed_clock(run: Traced) -> None:
    assert "clock 2020-09-13 12:26:40.100000+00:00 1600000000.2" in run.result.stdout
    assert [event[:2] for event in run.inputs[26]] == [("clock", "datetime.now()"), ("clock", "time.time()")]


def test_writes_of_threads_are_recorded_in_their_order(run: Traced) -> None:
    assert [event[3] for event in run.inputs[30]] == ["worker 0: 0", "worker 1: 1"]
    assert [event[3] for event in run.inputs[31]] == ["worker 0", "worker 1"]


def test_a_place_that_is_evaluated_often_is_sampled(run: Traced) -> None:
    assert len(run.inputs[36]) == 201
    assert run.inputs[36][-1][3] == f"{(1000 - 200) // 64} values"


def test_watched_lines_are_recorded_as_executed_also_in_a_forked_process(run: Traced) -> None:
    assert (run.watched, run.ran) == ({37, 38, 41, 44}, {37, 41, 44})


def test_a_watched_line_that_runs_after_the_last_input_that_is_recorded_counts_as_executed(tmp_path: Path) -> None:
    n_places = MOST_LINES // MOST_AT_PLACE
    calls = "    os.getppid()\n" * n_places
    text = f"import os\nfor _ in range({MOST_AT_PLACE}):\n{calls}print(os.getppid())\n"
    run = traced(tmp_path, text, [3 + n_places])
    assert len(run.inputs) == n_places, "no more is recorded"
    assert run.watched == run.ran == {3 + n_places}


def test_the_program_stays_as_it_is_and_an_untraced_run_records_nothing(tmp_path: Path) -> None:
    text = "import traceback\ntry: hash([])\nexcept TypeError: traceback.print_exc()\nprint({*{'a'}}, hash(2))\n"
    plain = Child(tmp_path / "plain", text).run()
    run = traced(tmp_path / "traced", text)
    other = Child(tmp_path / "untraced", text).run(watched=[])
    where = str(tmp_path / "plain")
    for result, name in ((run.result, "traced"), (other, "untraced")):
        assert result.stdout == plain.stdout
        assert result.stderr == plain.stderr.replace(where, str(tmp_path / name))
    assert not (tmp_path / "untraced" / "attempt-1" / "artifacts").exists()
