"""Parallel work: the order of results is recorded at its line, and `workers=one` makes it the same in every run."""

import textwrap
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from harness import Child, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from deviate.diverge.findings import InputDifference
from deviate.diverge.inputs import compare_inputs
from deviate.diverge.traces import read_traces
from deviate.guest.frameworks.parallel.completion import number_of
from deviate.guest.frameworks.parallel.one_by_one import order_futures
from deviate.guest.frameworks.parallel.orders import TaskOrder

BEGIN = """\
import os, queue, threading, time
IS_REVERSED = os.environ["SETS"] == "reversed"
def nap(i):
    time.sleep(0.03 * (3 - i if IS_REVERSED else i))
    return i
"""
"""Naps of numbers below 4 end in their order, or in the reversed one."""

THREADS = """\
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait
from multiprocessing.pool import ThreadPool
seen = []
with ThreadPoolExecutor(4) as pool:
    jobs = [pool.submit(nap, i) for i in range(4)]
    for job in jobs:
        job.add_done_callback(lambda job: seen.append(job.result()))  # callback
    print([job.result() for job in as_completed(jobs)])  # as_completed
    pending = {pool.submit(nap, i) for i in range(4)}
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)  # wait
        print(sorted(job.result() for job in done))
    print(list(pool.map(nap, range(4))))
print(seen)
with ThreadPool(4) as pool:
    print(list(pool.imap_unordered(nap, range(4))))  # imap_unordered
    jobs = [pool.apply_async(nap, [i], callback=seen.append) for i in range(4)]  # apply_async
    print([job.get() for job in jobs], pool.map(nap, range(4)))
    print(seen)
numbers, objects = queue.Queue(), queue.Queue()
def put(i):
    numbers.put((nap(i), [i]))
    objects.put([[i]])
def append(i):
    seen.append(nap(i))
def store(i):
    slots[i] = nap(i)
slots = [0] * 4
def run(function):
    threads = [threading.Thread(target=function, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    return threads
run(put)
print([numbers.get() for _ in range(4)])  # numbers
print([objects.get() for _ in range(4)])  # objects
for thread in run(append) + run(store):
    thread.join()
print(seen, slots)
"""

PROCESSES = """\
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import Pool
from joblib import Parallel, delayed
from torch.utils.data import DataLoader
class Data:
    def __len__(self):
        return 4
    def __getitem__(self, i):
        time.sleep(0.3 * (3 - i if IS_REVERSED else i))
        return i
seen = []
with ProcessPoolExecutor(4) as pool:
    jobs = [pool.submit(nap, i) for i in range(4)]
    for job in jobs:
        job.add_done_callback(lambda job: seen.append(job.result()))  # callback
    print([job.result() for job in as_completed(jobs)])  # as_completed
print(seen)
with Pool(4) as pool:
    print(list(pool.imap_unordered(nap, range(4))))  # imap_unordered
    print(list(pool.imap_unordered(nap, [0, 0, 1, 1, 2, 2, 3, 3], chunksize=2)))  # chunks
tasks = [delayed(nap)(i) for i in range(4)]
print(list(Parallel(4, return_as="generator_unordered", backend="threading")(tasks)))  # joblib
print([int(batch) for batch in DataLoader(Data(), num_workers=4, in_order=False)])  # loader
"""


def run_pair(folder: Path, script: str, **controls: str) -> tuple[tuple[Result, Result], list[InputDifference]]:
    """Runs in both orders, and the orders of results in which they differ."""
    results, traces = [], []
    for name in ("plain", "reversed"):
        child = Child(folder / name, BEGIN + script)
        result = child.run(capture={"trace": "1"}, controls=controls, environment={"SETS": name})
        assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
        results.append(result)
        traces.append(read_traces(folder / name / "attempt-1"))
    differences = [it for it in compare_inputs(*traces, None) if it.source == "completion"]
    return (results[0], results[1]), differences


def marks(script: str) -> dict[int, str]:
    """What is marked by a comment, by the numbers of the lines."""
    lines = enumerate((BEGIN + script).splitlines(), 1)
    return {number: line.rpartition("# ")[2] for number, line in lines if "# " in line}


@pytest.mark.parametrize(
    "script", [THREADS, pytest.param(PROCESSES, marks=pytest.mark.slow)], ids=["threads", "processes"]
)
def test_the_order_of_results_is_seen_at_its_line_and_one_worker_makes_it_the_same(script: str, tmp_path: Path) -> None:
    if script is PROCESSES:
        pytest.importorskip("torch")
        pytest.importorskip("joblib")
    (plain, other), differences = run_pair(tmp_path / "free", script)
    assert plain.stdout != other.stdout
    marked = marks(script)
    assert {marked.get(it.place.line, it) for it in differences} == set(marked.values())
    shown = {marked[it.place.line]: it.shown for it in differences}
    assert shown["as_completed"] == ("results: 0", "results: 3")

    (plain, other), differences = run_pair(tmp_path / "held", script, workers="one")
    assert plain.stdout == other.stdout
    assert differences == []


WAITING = """\
from concurrent.futures import ThreadPoolExecutor
items, out, barrier = queue.Queue(2), [], threading.Barrier(3)
def consume():
    while (item := items.get()) is not None:
        out.append(item)
def produce(i):
    for k in range(4):
        items.put((i, k))
threads = [threading.Thread(target=consume), *(threading.Thread(target=produce, args=[i]) for i in range(2))]
for thread in threads:
    thread.start()
for thread in threads[1:]:
    thread.join()
items.put(None)
threads[0].join()
print(out == [(i, k) for i in range(2) for k in range(4)])
with ThreadPoolExecutor(3) as pool:
    print(pool.submit(lambda: pool.submit(nap, 0).result()).result())
    print(len(list(pool.map(lambda i: barrier.wait(), range(3)))))
    never = [pool.submit(nap, 3) for _ in range(9)]
    print(never[-1].cancel(), pool.submit(nap, 1).result(), flush=True)
if not os.fork():
    thread = threading.Thread(target=print, args=["child"], kwargs={"flush": True})
    thread.start()
    thread.join()
    os._exit(0)
os.wait()
"""


def test_a_module_of_the_project_is_told_from_one_of_the_standard_library_with_a_name_like_its(tmp_path: Path) -> None:
    child = Child(tmp_path, "from queue_tools import collect\nprint(collect())\n")
    child.files["queue_tools.py"] = (
        "import queue\ndef collect():\n    numbers = queue.Queue()\n    numbers.put(1)\n    return numbers.get()\n"
    )
    assert child.run(capture={"trace": "1"}).stdout == "1\n"
    (trace,) = read_traces(tmp_path / "attempt-1")
    (item,) = (item for item in trace.inputs if item.source == "completion")
    assert (item.place.file, item.place.line) == ("queue_tools.py", 5)


def test_tasks_that_wait_for_others_give_their_turn_away(tmp_path: Path) -> None:
    result = Child(tmp_path, BEGIN + WAITING).run(controls={"workers": "one"}, environment={"SETS": "plain"})
    assert (result.code, result.of("error"), result.stderr) == (0, [], "")
    assert result.stdout.split() == ["True", "0", "3", "True", "1", "child"]


def test_nothing_is_patched_without_a_trace_and_without_the_control(tmp_path: Path) -> None:
    script = """\
        import queue, threading
        from concurrent import futures
        from multiprocessing import pool
        functions = (futures.as_completed, futures.wait, futures.Future.__init__, futures.Future.set_result)
        functions += (futures.ThreadPoolExecutor.submit, pool.IMapUnorderedIterator._set, pool.Pool.apply_async)
        functions += (queue.Queue.get, threading.Thread.start)
        print([function for function in functions if hasattr(function, "__deviate__")])
        """
    assert Child(tmp_path, textwrap.dedent(script)).run().stdout == "[]\n"


# ---------------------------------------------------------------- what the functions promise

STATES = ("done", "failed", "cancelled", "pending")


def futures_in(states: list[str], future_class: type[futures.Future]) -> list[futures.Future]:
    made = []
    for state in states:
        future = future_class()
        if state == "cancelled":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif state == "failed":
            future.set_exception(ValueError(state))
        elif state == "done":
            future.set_result(state)
        made.append(future)
    return made


@pytest.fixture(scope="module")
def ordered() -> ModuleType:
    """The functions of `concurrent.futures` as the control replaces them, without changing those of this process."""
    module = ModuleType("copy")
    names = "as_completed", "wait", "TimeoutError", "DoneAndNotDoneFutures", "FIRST_COMPLETED", "ALL_COMPLETED"
    vars(module).update({name: vars(futures._base)[name] for name in names})
    module.Future = type("Future", (futures.Future,), {})
    order_futures(module, SimpleNamespace())
    return module


def outcome(iterator: Iterator[futures.Future], items: list[futures.Future]) -> tuple[list[int], str]:
    seen: list[int] = []
    try:
        seen.extend(items.index(future) for future in iterator)
    except futures.TimeoutError as error:
        return seen, str(error)
    return seen, ""


@settings(max_examples=40)
@given(states=st.lists(st.sampled_from(STATES), max_size=5), n_repeated=st.integers(0, 2))
def test_as_completed_gives_the_same_futures_and_errors_in_order(
    ordered: ModuleType, states: list[str], n_repeated: int
) -> None:
    items = futures_in(states, ordered.Future)
    arguments = [*reversed(items), *items[:n_repeated]]
    seen, message = outcome(ordered.as_completed(arguments, timeout=0.002), items)
    original, original_message = outcome(futures.as_completed(arguments, timeout=0.002), items)
    assert (seen, message) == (sorted(original), original_message)


@settings(max_examples=40)
@given(states=st.lists(st.sampled_from(STATES), max_size=5), is_first=st.booleans())
def test_wait_returns_a_partition_of_the_futures_and_in_the_end_all_that_are_done(
    ordered: ModuleType, states: list[str], *, is_first: bool
) -> None:
    items = futures_in(states, ordered.Future)
    when = futures.FIRST_COMPLETED if is_first else futures.ALL_COMPLETED
    for _ in range(6):
        done, not_done = ordered.wait(items, 0.002, when)
        original = futures.wait(items, 0, when)
        assert done | not_done == set(items)
        assert not done & not_done
        assert done <= original.done
    assert done == original.done or "pending" in states


def test_futures_are_numbered_in_the_order_of_their_creation(ordered: ModuleType) -> None:
    numbers = [number_of(ordered.Future()) for _ in range(3)]
    assert numbers == list(range(numbers[0], numbers[0] + 3))


def test_the_text_of_an_item_shows_it_and_those_before_it() -> None:
    texts: list[str] = []
    inputs = SimpleNamespace(record=lambda *args, **_: texts.append(args[4]))
    order = TaskOrder(inputs, "call", 0)  # type: ignore[arg-type]
    for item in range(10):
        order.add(item)
    assert (texts[0], texts[2]) == ("results: 0", "results: 0, 1, 2")
    assert texts[-1] == "results: ..., 2, 3, 4, 5, 6, 7, 8, 9"
