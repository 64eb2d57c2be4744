"""Taps record each value once, at the right loop step, and leave the program as it was."""

import re
import sys
from pathlib import Path

import pytest
from harness import Child, Result

BROKEN_LOOP = """\
def train():
    for epoch in range(6):
        loss = 1 / (epoch + 1)
        print("loss %.4f" % loss)
        if epoch % 2:
            continue
        acc = epoch / 10
        print("acc %.4f" % acc)
        if epoch == 4:
            return epoch
print(train())
"""


def steps_of(result: Result, site: int) -> list[list[int]]:
    return [event[2] for event in result.of("value") if event[0] == site]


def test_continue_and_return_lose_no_value(tmp_path: Path) -> None:
    # systems.md, O11: losses of epochs 0..4, accuracies of 0, 2, 4
    child = Child(tmp_path, BROKEN_LOOP).tap("% «loss»)").tap("% «acc»)").loop("range(6)", 10)
    result = child.run()
    assert result.values(0) == [1 / (epoch + 1) for epoch in range(5)]
    assert result.values(1) == [0.0, 0.2, 0.4]
    assert steps_of(result, 0) == [[0, epoch] for epoch in range(5)]
    assert steps_of(result, 1) == [[0, 0], [0, 2], [0, 4]]
    assert [event[:2] for event in result.of("step")] == [[0, epoch] for epoch in range(5)]


def test_a_value_after_the_loop_carries_no_step_of_it(tmp_path: Path) -> None:
    text = "for i in range(3):\n    if i == 1:\n        break\nelse:\n    print(9)\nx = 0.5\nprint(x)\n"
    result = Child(tmp_path, text).tap("print(«x»)").loop("range(3)", 3).run()
    assert result.stdout == "0.5\n"
    assert steps_of(result, 0) == [[]]


@pytest.mark.parametrize("ending", ["break", "n = 99", "raise KeyError"])
def test_a_while_loop_is_left_in_every_way(tmp_path: Path, ending: str) -> None:
    text = f"""\
def run():
    n = 0
    while n < 5:
        n += 1
        print(n * 1.0)
        if n == 3:
            {ending}
for again in range(2):
    try:
        run()
    except KeyError:
        pass
    print(again * 2.0)
"""
    child = Child(tmp_path, text).tap("n * 1.0").tap("again * 2.0").loop("n < 5", 7, "while").loop("range(2)", 13)
    result = child.run()
    assert result.values(0) == [1.0, 2.0, 3.0] * 2
    assert steps_of(result, 0) == [[1, again, 0, n] for again in range(2) for n in range(3)]
    assert steps_of(result, 1) == [[1, 0], [1, 1]]


def test_while_true_counts_its_steps(tmp_path: Path) -> None:
    text = "n = 0\nwhile True:\n    n += 1\n    print(n / 2)\n    if n == 3:\n        break\nprint(n / 4)\n"
    result = Child(tmp_path, text).tap("n / 2").tap("n / 4").loop("True", 6, "while").run()
    assert steps_of(result, 0) == [[0, 0], [0, 1], [0, 2]]
    assert steps_of(result, 1) == [[]]


def test_a_while_loop_that_was_left_does_not_go_on_in_the_next_call(tmp_path: Path) -> None:
    """Calls from one instruction of a library, in frames that lie in one place: as of objectives that are minimised."""
    text = """\
import functools
def objective(trial):
    n = 0
    while True:
        n += 1
        print(n / 2)
        if n == 3:
            return n
functools.reduce(lambda total, trial: objective(trial), range(5), 0)
list(map(objective, range(5)))
"""
    result = Child(tmp_path, text).tap("n / 2").loop("True", 8, "while").run()
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert [event[2] for event in result.of("value")] == [[0, step] for step in range(3)] * 10


def test_a_while_loop_of_a_generator_goes_on_wherever_it_is_asked_from(tmp_path: Path) -> None:
    text = "def count():\n    n = 0\n    while True:\n        n += 1\n        print(n / 2)\n        yield n\n"
    text += "it = count()\nnext(it)\nnext(it)\nfor _ in range(2):\n    next(it)\n"
    result = Child(tmp_path, text).tap("n / 2").loop("True", 6, "while").run()
    assert steps_of(result, 0) == [[0, step] for step in range(4)]


def test_a_while_loop_that_is_entered_again_begins_again(tmp_path: Path) -> None:
    text = """\
def run():
    n = 0
    while True:
        n += 1
        if n == 1:
            continue
        print(n / 2)
        if n == 3:
            return
run()
run()
for again in range(2):
    run()
    k = 0
    while k < 9:
        k += 1
        print(k / 4)
        if k == 2:
            break
"""
    child = Child(tmp_path, text).tap("n / 2").tap("k / 4").loop("while «True»", 9, "while")
    result = child.loop("range(2)", 19, is_main=False).loop("k < 9", 18, "while", is_main=False).run()
    assert steps_of(result, 0) == [[0, 1], [0, 2]] * 2 + [[1, again, 0, n] for again in (0, 1) for n in (1, 2)]
    assert steps_of(result, 1) == [[1, again, 2, n] for again in (0, 1) for n in (0, 1)]
    assert [event[:2] for event in result.of("step")] == [[0, n] for n in range(3)] * 4


def test_a_condition_is_asked_for_its_truth_once(tmp_path: Path) -> None:
    text = """\
class Left:
    n = 3
    def __bool__(self):
        print("asked", self.n)
        self.n -= 1
        return self.n > 0
left = Left()
while left:
    print(left.n / 2)
"""
    tapped = Child(tmp_path / "on", text).tap("left.n / 2").loop("while «left»:", 9, "while")
    on, off = tapped.run(), Child(tmp_path / "off", text).run()
    assert on.stdout == off.stdout
    assert on.values() == [1.0, 0.5]


def test_generators_close_at_the_same_moment(tmp_path: Path) -> None:
    text = """\
def numbers():
    try:
        yield from (1.0, 2.0, 3.0)
    finally:
        print("closed")
for x in numbers():
    print(x)
    break
print("after")
for x in numbers():
    print(x)
rest = iter([1.0, 2.0, 3.0])
for x in rest:
    break
print(list(rest))
"""
    child = Child(tmp_path, text).tap("print(«x»)\n    break").loop("«numbers()»:\n    print(x)\n    break", 8)
    result = child.loop("«numbers()»:\n    print(x)\nrest", 11).loop("in «rest»:", 14).run()
    assert result.stdout == "1.0\nclosed\nafter\n1.0\n2.0\n3.0\nclosed\n[2.0, 3.0]\n"


def test_every_loop_around_a_value_is_counted_and_ways_are_told_apart(tmp_path: Path) -> None:
    text = """\
def evaluate(split):
    acc = 0.5
    print(f"{split} {acc:.2f}")
for epoch in range(2):
    for batch in range(2):
        evaluate("train")
    evaluate("test")
"""
    child = Child(tmp_path, text).tap("{«acc»:.2f}", label="split").loop("epoch in «range(2)»", 7)
    result = child.loop("batch in «range(2)»", 6, is_main=False).run()
    ways = dict(result.of("path"))
    seen = [(ways[event[1]], event[2], event[5]) for event in result.of("value")]
    train, test = [["train.py", 6]], [["train.py", 7]]
    assert seen[:3] == [(train, [0, 0, 1, 0], "train"), (train, [0, 0, 1, 1], "train"), (test, [0, 0], "test")]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("True", [1]),
        ("float('nan')", ["nan"]),
        ("-float('inf')", ["-inf"]),
        ("0.1 + 0.2", [0.30000000000000004]),
        ("__import__('decimal').Decimal('0.25')", [0.25]),
        ("'93.5 %'", [93.5]),
        ("'epoch'", []),
        ("None", []),
        ("object", []),
        ("10**400", [10**400]),
        ("1 + 2j", []),
    ],
)
def test_what_is_a_number_is_recorded_with_all_bits(tmp_path: Path, expression: str, value: list) -> None:
    result = Child(tmp_path, f"print({expression})\n").tap(f"print(«{expression}»)").run()
    assert [event[4] for event in result.of("value")] == value
    assert result.of("error") == []


def test_items_of_a_dict_are_recorded_by_key(tmp_path: Path) -> None:
    result = Child(tmp_path, "m = {'loss': 0.5, 'name': 'x', 'acc': 1}\nprint(m)\n").tap("print(«m»)").run()
    assert [(event[5], event[4]) for event in result.of("value")] == [("loss", 0.5), ("acc", 1)]


def test_a_field_that_shows_its_own_text_shows_the_same(tmp_path: Path) -> None:
    text = 'acc = 0.25\nprint(f"{acc=} {acc = :.3f} {acc=!s:>8} {{acc=}}")\n'
    child = (
        Child(tmp_path, text)
        .tap("{«acc»=} ", form="shown")
        .tap("{«acc» =", form="shown")
        .tap("{«acc»=!s", form="shown")
    )
    result = child.run()
    assert result.stdout == "acc=0.25 acc = 0.250 acc=    0.25 {acc=}\n"
    assert result.values(0) == result.values(1) == result.values(2) == [0.25]


def test_attributes_in_a_template_are_taken_once(tmp_path: Path) -> None:
    text = """\
class Meter:
    asked = 0
    @property
    def avg(self):
        self.asked += 1
        return self.asked / 2
meter = Meter()
print("{m.avg:.2f} {0[1]} {m.asked}".format([3, 4], m=meter))
try:
    print("{m.nothing}".format(m=meter))
except AttributeError as error:
    print(error)
"""
    child = Child(tmp_path, text).tap('"{m.avg:.2f} {0[1]} {m.asked}".format', form="format", fields=("m.avg",))
    child.tap('"{m.avg:.2f} {0[1]} {m.asked}".format', form="format", fields=("0[1]",))
    result = child.tap('"{m.nothing}".format', form="format", fields=("m.nothing",)).run()
    assert result.stdout == "0.50 4 1\n'Meter' object has no attribute 'nothing'\n"
    assert (result.values(0), result.values(1), result.values(2)) == ([0.5], [4], [])


@pytest.mark.parametrize(
    ("template", "fields", "text", "values"),
    [
        ('"{.real:.1f} {} {[0]}"', ("0.real",), "0.5 1 7", [0.5]),
        ('"{.real} {{x}} {!r:>4} {[0]}"', ("2[0]",), "0.5 {x}    1 7", [7]),
        ('"{.real:{}} {[0]}"', ("0.real",), "0.5 7", []),
    ],
)
def test_fields_without_a_number_are_counted(
    tmp_path: Path, template: str, fields: tuple[str, ...], text: str, values: list
) -> None:
    child = Child(tmp_path, f"print({template}.format(0.5, 1, [7]))\n")
    result = child.tap(f"{template}.format", form="format", fields=fields).run()
    assert (result.stdout, result.stderr) == (f"{text}\n", "")
    assert result.values() == values


def test_a_fault_in_a_tap_is_recorded_and_swallowed(tmp_path: Path) -> None:
    text = "class Odd(dict):\n    def items(self):\n        raise RuntimeError('no')\nx = Odd()\nprint(x)\n"
    result = Child(tmp_path, text).tap("print(«x»)").run()
    assert (result.code, result.stdout) == (0, "{}\n")
    assert result.of("error") == [["site 0", "RuntimeError: no"]]


def test_threads_keep_their_own_loops(tmp_path: Path) -> None:
    text = """\
import threading
def work():
    x = 0.5
    str(x)
for i in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    result = Child(tmp_path, text).tap("str(«x»)").loop("range(2)", 8).run()
    assert steps_of(result, 0) == [[], []]


def test_threads_lose_no_value_and_record_none_twice(tmp_path: Path) -> None:
    text = """\
import sys, threading
sys.setswitchinterval(1e-6)
def work(first):
    for n in range(first, first + 25_000):
        str(n / 2)
threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 200_000, 25_000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    result = Child(tmp_path, text).tap("str(«n / 2»)").run()
    assert sorted(result.values()) == [n / 2 for n in range(200_000)]


@pytest.mark.parametrize("ending", ["", "os.fork() or os._exit(0)"])
def test_a_script_that_closes_every_file_loses_no_value(tmp_path: Path, ending: str) -> None:
    text = f"import os\nx = 0.5\nprint(x, flush=True)\nos.closerange(3, 1024)\nfor n in range(600): str(n)\n{ending}\n"
    result = Child(tmp_path, text).tap("print(«x»").tap("str(«n»)").run()
    assert (result.code, result.stdout, result.stderr) == (0, "0.5\n", "")
    assert result.values() == [0.5]
    assert result.values(1) == list(range(600))


def test_a_file_of_the_script_that_has_the_number_of_the_recorder_gets_none_of_its_lines(tmp_path: Path) -> None:
    text = """\
import os
x = 0.5
print(x)
os.closerange(3, 1024)
mine = os.open("mine.txt", os.O_CREAT | os.O_RDWR)
taken = [os.dup2(mine, number) for number in range(200, 260)]
print(x)
print(os.path.getsize("mine.txt"))
"""
    result = Child(tmp_path, text).tap("x = 0.5\nprint(«x»").tap("260)]\nprint(«x»").run()
    assert (result.stdout, result.values(0), result.values(1)) == ("0.5\n0.5\n0\n", [0.5], [0.5])


def test_processes_write_files_of_their_own(tmp_path: Path) -> None:
    text = """\
import multiprocessing, os
def work(n):
    x = n / 2
    print(x, flush=True)
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=work, args=(3,))
        process.start()
        process.join()
    work(1)
"""
    result = Child(tmp_path, text).tap("print(«x», flush").run()
    assert result.stdout == "1.5\n1.5\n0.5\n"
    assert sorted(result.values()) == [0.5, 1.5, 1.5]
    files = (tmp_path / "attempt-1").glob("events-*.jsonl")
    assert len([path for path in files if re.search(r"^\[0,", path.read_text(), re.MULTILINE)]) == 3


def test_the_bootstrap_loads_the_guest_where_the_path_was_lost(tmp_path: Path) -> None:
    child = Child(tmp_path, "x = 0.5\nprint(x)\n").tap("print(«x»)")
    assert child.run(environment={"PYTHONPATH": None}).values() == [0.5]


def test_without_a_run_the_taps_are_identities(tmp_path: Path) -> None:
    text = "for i in range(2):\n    print('%s %.1f' % ('{0.real}'.format(i), i))\n"
    child = Child(tmp_path, text).tap("(i), «i»)").tap("'{0.real}'.format", form="format").loop("range(2)", 2)
    names = ("PYTHONPATH", "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_GUEST", "DEVIATE_WORK", "DEVIATE_ROOT")
    result = child.run(environment=dict.fromkeys(names))
    assert (result.code, result.stdout, result.events) == (0, "0 0.0\n1 1.0\n", [])
    defining = Child(tmp_path / "defining", "def f(x):\n    print(x)\n").tap("print(«x»)")
    command = (sys.executable, "-c", "import train; train.f(0.5)")
    result = defining.run(command=command, environment=dict.fromkeys(names))
    assert (result.code, result.stdout) == (0, "0.5\n")
    assert defining.run(command=command, environment={"PYTHONPATH": None}).values() == [0.5]


def test_the_module_gains_no_name(tmp_path: Path) -> None:
    text = "x = 0.5\nprint(x)\nprint(sorted(globals()))\nimport sys\nprint(sys.path[1:], sys.meta_path[-3:])\n"
    on, off = Child(tmp_path / "on", text).tap("print(«x»)").run(), Child(tmp_path / "off", text).run(is_tapped=False)
    assert on.stdout == off.stdout
