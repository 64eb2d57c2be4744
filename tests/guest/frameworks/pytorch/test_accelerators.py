"""PyTorch: the generators of accelerators follow the streams from the moment at which the devices are used.

The devices are generators of the host that begin as late as those of an accelerator, so that this runs anywhere.
"""

from pathlib import Path

import pytest

from deviate.guest.frameworks.pytorch.generators import Accelerators
from deviate.guest.project import GuestProject
from deviate.guest.recorder import Recorder
from deviate.guest.streams import STREAMS, Streams, derive

SEEDS = {stream: number for number, stream in enumerate(STREAMS)}


class Devices:
    """What PyTorch has for each kind of accelerator, for two of them."""

    def __init__(self, torch) -> None:  # type: ignore[no-untyped-def]
        self.torch = torch
        self.default_generators = ()
        self.is_recording = False

    def _lazy_init(self) -> None:
        self.default_generators = tuple(self.torch._C.Generator() for _ in range(2))

    def is_initialized(self) -> bool:
        return bool(self.default_generators)

    def is_current_stream_capturing(self) -> bool:
        return self.is_recording

    def draw(self) -> list[float]:
        return [self.torch.rand(1, generator=generator).item() for generator in self.default_generators]


@pytest.fixture
def torch(require):  # type: ignore[no-untyped-def]
    require("torch")
    return pytest.importorskip("torch")


@pytest.fixture
def streams(tmp_path: Path) -> Streams:
    project = GuestProject(str(tmp_path), {"originals": "", "files": {}, "loops": {}, "sites": {}})
    return Streams(SEEDS, Recorder(str(tmp_path), {}, project))


@pytest.fixture
def devices(torch, streams: Streams) -> Devices:  # type: ignore[no-untyped-def]
    devices = Devices(torch)
    Accelerators(streams, devices, "torch.cuda").patch()
    return devices


def expected(torch, stream: str, asked: str | None, n: int = 1) -> list[float]:  # type: ignore[no-untyped-def]
    generator = torch._C.Generator().manual_seed(derive(SEEDS[stream], "torch.cuda", asked))
    return [torch.rand(1, generator=generator).item() for _ in range(n)]


def test_devices_that_begin_in_a_region_draw_from_its_stream(torch, streams: Streams, devices: Devices) -> None:  # type: ignore[no-untyped-def]
    streams.reseed("torch", "5", lambda: None)
    before = streams.enter("init")
    devices._lazy_init()
    first, second = expected(torch, "init", "5", 2)
    assert devices.draw() == [first] * 2
    streams.leave(before)
    assert devices.draw() == expected(torch, "other", "5") * 2
    before = streams.enter("dropout")
    streams.leave(before)
    before = streams.enter("init")
    assert devices.draw() == [second] * 2
    streams.leave(before)
    streams.banks[0].note_draws("other")
    assert streams.drawn == {"torch.cuda": {"init", "other"}}


def test_seeding_calls_of_the_host_and_of_the_devices_begin_them_anew(
    torch, streams: Streams, devices: Devices
) -> None:  # type: ignore[no-untyped-def]
    devices._lazy_init()
    assert devices.draw() == expected(torch, "other", None) * 2
    for library, asked in (("torch", "1"), ("torch.cuda", "2")):
        streams.reseed(library, asked, lambda: devices.default_generators[0].manual_seed(99))
        assert devices.draw() == expected(torch, "other", asked) * 2
        before = streams.enter("dropout")
        assert devices.draw() == expected(torch, "dropout", asked) * 2
        streams.leave(before)


def test_nothing_is_changed_while_a_graph_is_recorded(torch, streams: Streams, devices: Devices) -> None:  # type: ignore[no-untyped-def]
    devices._lazy_init()
    devices.is_recording = True
    before = streams.enter("dropout")
    assert devices.draw() == expected(torch, "other", None) * 2
    streams.leave(before)
    devices.is_recording = False
    assert devices.draw() == expected(torch, "other", None, 2)[1:] * 2
