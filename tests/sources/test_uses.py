"""What scripts do with inputs: whether a reading of the clock, a listing or the like can change a result."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.sources.uses import InputPlace, input_uses

IMPORTS = "import glob, os, random, secrets, time, uuid\nfrom datetime import datetime\nimport numpy as np\n"
Use = Callable[[str, str, str], str]


@pytest.fixture
def use(tmp_path: Path) -> Use:
    """The use of the input in the first line of a text, which calls this function."""

    def find(text: str, source: str, call: str) -> str:
        script = tmp_path / "train.py"
        script.write_text(IMPORTS + text, encoding="utf-8")
        at = InputPlace(source, call, "train.py", IMPORTS.count("\n") + 1)
        return input_uses(script, tmp_path, [at])[at]

    return find


@pytest.mark.parametrize(
    "text",
    [
        "begin = time.time()\nprint(time.time() - begin)",
        "begin = time.time()\nfps = 3 / (time.time() - begin)\nprint(f'{fps:.1f}')",
        "begin = time.time()\ntotal_s = 0.0\ntotal_s += time.time() - begin\nprint('took', total_s)",
        "last = time.time()\nif time.time() - last > 10:\n    print('alive')\n    last = time.time()",
        "last = time.time()\nif time.time() - last > 600:\n    save_checkpoint(model)",
        "t = time.time()\ndef speed(t):\n    return 3 / t\nprint(speed(time.time() - t))",
        "t = time.time()\nspeed = -1\nspeed = 3 if speed < 0 else 0.9 * speed + 0.1 * t\nprint(speed)",
        "times = [time.time()]\ntimes.append(3)\nprint(max(times))",
        "writer.add_scalar('SPS', int(3 / time.time()), 3)",
    ],
)
def test_times_that_are_only_reported_are_no_suspects(use: Use, text: str) -> None:
    assert use(text, "clock", "time.time()") == "reported"


@pytest.mark.parametrize(
    "text",
    [
        "seed = int(time.time()) % 1000\nnp.random.seed(seed)",
        "end = time.time() + 10\nwhile time.time() < end:\n    train()",
        "begin = time.time()\nif time.time() - begin > 3:\n    rate = rate / 2",
        "x = values[int(time.time()) % 3]",
        "w = w * (time.time() % 1)",
        "lr = 0.1 + 1e-6 * time.time()\nw -= lr * w",
        "loss = error + time.time() % 1\nprint('loss', loss)",
        "model = Forest(random_state=int(time.time()))",
    ],
)
def test_times_that_decide_or_are_computed_with_are_suspects(use: Use, text: str) -> None:
    assert use(text, "clock", "time.time()") == "computed"


def test_numbers_of_processes_and_of_the_system_count_unless_they_are_only_names(use: Use) -> None:
    assert use("print(f'{os.getpid()}.log')", "process-id", "os.getpid()") == "reported"
    assert use("x = os.getpid() % 2\nw += x", "process-id", "os.getpid()") == "computed"
    assert use("total += secrets.randbelow(9) / 9\nprint(total)", "entropy", "secrets.randbelow(9)") == "computed"
    assert use("open(f'run-{uuid.uuid4().hex}', 'w')", "entropy", "uuid.uuid4()") == "unknown"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("names = sorted(os.listdir('data'))", "sorted"),
        ("names = os.listdir('data')\nnames.sort()\nuse(names)", "sorted"),
        ("names = [n for n in sorted(os.listdir('data'))]", "sorted"),
        ("n = len(os.listdir('data'))", "sorted"),
        ("for name in os.listdir('data'): use(name)", "unknown"),
        ("names = os.listdir('data')\nuse(names)\nnames.sort()", "unknown"),
    ],
)
def test_an_order_that_is_sorted_at_once_is_no_suspect(use: Use, text: str, expected: str) -> None:
    assert use(text, "listing", "os.listdir('data')") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for job in futures.as_completed(jobs): rows[jobs[job]] = job.result()\ntrain(rows)", "sorted"),
        ("for job in futures.as_completed(jobs): rows.append(job.result())\ntrain(rows)", "unknown"),
        ("rows = sorted(job.result() for job in futures.as_completed(jobs))\ntrain(rows)", "sorted"),
    ],
)
def test_results_that_are_stored_by_keys_are_no_suspects(use: Use, text: str, expected: str) -> None:
    imports = "\nfrom concurrent import futures"
    assert use(text + imports, "completion", "concurrent.futures.as_completed") == expected


def test_a_script_that_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    at = InputPlace("clock", "time.time()", "train.py", 1)
    assert input_uses(tmp_path / "train.py", tmp_path, [at]) == {at: "unknown"}
