"""Callback threads draw from their stream alone, and seeds depend on nothing but the order of requests."""

import json
import random
import threading
from pathlib import Path

import pytest

from deviate.guest import callback_threads
from deviate.guest.callback_threads import callback_threads_of
from deviate.guest.project import GuestProject
from deviate.guest.recorder import Recorder
from deviate.guest.requests import Requests
from deviate.guest.streams import Bank, Streams, derive

SEEDS = {"init": 1, "shuffle": 2, "augment": 3, "dropout": 4, "split": 5, "other": 6}


class Numbers(Bank):
    """A library with one global generator, `now`."""

    def new_state(self, seed: int) -> random.Random:
        return random.Random(seed)

    def set_state(self, state: random.Random) -> None:
        self.now = state

    def get_state(self) -> random.Random:
        return self.now

    def fingerprint(self, state: random.Random) -> object:
        return state.getstate()


@pytest.fixture
def streams(tmp_path: Path) -> Streams:
    project = GuestProject(str(tmp_path), {"originals": "", "files": {}, "loops": {}, "sites": {}})
    return Streams(dict(SEEDS), Recorder(str(tmp_path), {}, project))


def told(streams: Streams) -> list[list]:
    """The events that were recorded after the first one."""
    streams.recorder.flush()
    [file] = Path(streams.recorder.folder).glob("events-*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()][1:]


def draws(stream: str, n: int) -> list[float]:
    generator = random.Random(derive(SEEDS[stream], "numbers", None))
    return [generator.random() for _ in range(n)]


def test_a_callback_and_the_main_thread_each_draw_from_their_own_stream(streams: Streams) -> None:
    numbers, seen = Numbers(streams, "numbers"), []

    def call_back() -> None:
        for _ in range(200):
            before = callback_threads_of(streams).begin("augment")
            seen.append(numbers.now.random())
            assert streams.now == "augment"
            callback_threads_of(streams).end(before)

    callback_threads_of(streams)
    thread = threading.Thread(target=call_back)
    thread.start()
    own = []
    for _ in range(200):
        before = streams.enter("dropout")
        own.append(numbers.now.random())
        assert streams.now == "dropout"
        streams.leave(before)
    thread.join()
    assert (own, seen) == (draws("dropout", 200), draws("augment", 200))
    assert streams.now == "other"
    assert numbers.now.random() == draws("other", 1)[0]


def test_nobody_waits_for_ever(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    """A main thread that stays in its region lets a callback go unrouted, and that is told."""
    monkeypatch.setattr(callback_threads, "PATIENCE_S", 0.01)
    callback_threads_of(streams)
    before = streams.enter("init")
    begun: list[object] = []
    thread = threading.Thread(target=lambda: begun.append(callback_threads_of(streams).begin("augment")))
    thread.start()
    thread.join()
    streams.leave(before)
    assert begun == [None]
    assert told(streams) == [["uncontrolled", "draws in threads of a framework", "", 0]]


def test_a_callback_that_does_not_end_is_waited_for_no_longer_and_that_is_told(
    streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callback_threads, "PATIENCE_S", 0.05)
    numbers, is_begun, may_end = Numbers(streams, "numbers"), threading.Event(), threading.Event()

    def call_back() -> None:
        before = callback_threads_of(streams).begin("augment")
        is_begun.set()
        may_end.wait(60)
        callback_threads_of(streams).end(before)

    thread = threading.Thread(target=call_back)
    callback_threads_of(streams)
    thread.start()
    assert is_begun.wait(60)
    before = streams.enter("init")
    may_end.set()
    thread.join()
    assert (streams.now, numbers.now.random()) == ("init", draws("init", 1)[0])
    streams.leave(before)
    assert told(streams) == [["uncontrolled", "draws in threads of a framework", "", 0]]


def test_requests_of_one_stream_do_not_move_those_of_another(streams: Streams) -> None:
    requests = Requests(streams, "framework", follows="random")
    first = [requests.next("init") for _ in range(2)]
    assert first == [(derive(1, "framework", None), 1), (derive(1, "framework", None), 2)]
    assert requests.next_seed("shuffle") == derive(derive(2, "framework", None), 1)
    asked = requests.seed("init", "7")
    streams.reseed("random", "42", lambda: None)
    assert requests.next("init") == (derive(1, "framework", "42"), 1)
    assert requests.seed("init", "7") not in (asked, requests.seed("init", "8"))
    streams.report()
    assert told(streams) == [["draws", "framework", ["init", "shuffle"]]]
