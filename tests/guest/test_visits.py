"""Visits and requests: other threads draw from their stream alone, and seeds depend on nothing but their order."""

import json
import random
import threading
from pathlib import Path

import pytest

from deviate.guest import visits
from deviate.guest.project import Project
from deviate.guest.recorder import Recorder
from deviate.guest.requests import Requests
from deviate.guest.streams import Bank, Streams, derive
from deviate.guest.visits import visits_of

SEEDS = {"init": 1, "shuffle": 2, "augment": 3, "dropout": 4, "split": 5, "other": 6}


class Numbers(Bank):
    """A library with one global generator, `now`."""

    def make(self, seed: int) -> random.Random:
        return random.Random(seed)

    def put(self, state: random.Random) -> None:
        self.now = state

    def take(self) -> random.Random:
        return self.now

    def mark(self, state: random.Random) -> object:
        return state.getstate()


@pytest.fixture
def streams(tmp_path: Path) -> Streams:
    project = Project(str(tmp_path), {"originals": "", "files": {}, "loops": {}, "sites": {}})
    return Streams(dict(SEEDS), Recorder(str(tmp_path), {}, project))


def told(streams: Streams) -> list[list]:
    """The events that were recorded after the first one."""
    streams.recorder.flush()
    [file] = Path(streams.recorder.folder).glob("events-*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()][1:]


def draws(stream: str, n: int) -> list[float]:
    generator = random.Random(derive(SEEDS[stream], "numbers", None))
    return [generator.random() for _ in range(n)]


def test_a_visitor_and_the_main_thread_each_draw_from_their_own_stream(streams: Streams) -> None:
    numbers, seen = Numbers(streams, "numbers"), []

    def visit() -> None:
        for _ in range(200):
            before = visits_of(streams).begin("augment")
            seen.append(numbers.now.random())
            assert streams.now == "augment"
            visits_of(streams).end(before)

    visits_of(streams)
    visitor = threading.Thread(target=visit)
    visitor.start()
    own = []
    for _ in range(200):
        before = streams.enter("dropout")
        own.append(numbers.now.random())
        assert streams.now == "dropout"
        streams.leave(before)
    visitor.join()
    assert (own, seen) == (draws("dropout", 200), draws("augment", 200))
    assert streams.now == "other"
    assert numbers.now.random() == draws("other", 1)[0]


def test_nobody_waits_for_ever(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    """A main thread that stays in its region lets a visitor go unrouted, and that is told."""
    monkeypatch.setattr(visits, "PATIENCE_S", 0.01)
    visits_of(streams)
    before = streams.enter("init")
    begun: list[object] = []
    visitor = threading.Thread(target=lambda: begun.append(visits_of(streams).begin("augment")))
    visitor.start()
    visitor.join()
    streams.leave(before)
    assert begun == [None]
    assert told(streams) == [["uncontrolled", "draws in threads of a framework", "", 0]]


def test_a_visit_that_does_not_end_is_ended_for_it_and_that_is_told(
    streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "PATIENCE_S", 0.05)
    numbers, is_begun, may_end = Numbers(streams, "numbers"), threading.Event(), threading.Event()

    def visit() -> None:
        before = visits_of(streams).begin("augment")
        is_begun.set()
        may_end.wait(60)
        visits_of(streams).end(before)

    visitor = threading.Thread(target=visit)
    visits_of(streams)
    visitor.start()
    assert is_begun.wait(60)
    before = streams.enter("init")
    may_end.set()
    visitor.join()
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
