"""Loaders of XLA devices, which read a loader of PyTorch in a thread that is ahead of the training.

Where streams are routed, batches are read in the thread that asks for them instead: the generators of the host are
switched for the whole process, and what another thread drew meanwhile would depend on timing. The device computes
while the next batch is read, as before.

In all variants, the batches on the host stand for those on the device in the hash of the evaluation, so that nothing is
copied back.
"""

from __future__ import annotations

from collections import deque
from threading import get_ident

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...seeds import wraps_like
from ..pytorch.proof import proof_of


def route_loaders(loaders: Any, context: AdapterContext) -> None:
    if context.streams.is_active:
        _read_on_demand(loaders.torch, loaders.ParallelLoader, context)
    _observe_batches(loaders, context)


def _read_on_demand(torch: Any, parallel_loader: Any, context: AdapterContext) -> None:
    """Make loaders read their batches in the thread that routes draws."""
    init, next_item = parallel_loader.__init__, parallel_loader.next_item

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        self._deviate_reader = Reader(torch, self) if context.streams.is_routed_thread() else None
        init(self, *args, **kwargs)

    def read_item(self: Any, device: Any) -> Any:
        reader = self._deviate_reader
        return next_item(self, device) if reader is None else reader.next_item(device)

    parallel_loader.__init__ = wraps_like(__init__, init)
    parallel_loader.next_item = wraps_like(read_item, next_item)
    for name in ("_loader_worker", "_worker"):
        _patch_thread(parallel_loader, name)


def _patch_thread(parallel_loader: Any, name: str) -> None:
    """Make a thread end at once where a loader is read on demand."""
    original = getattr(parallel_loader, name)

    def work(self: Any, *args: Any) -> None:
        if self._deviate_reader is None:
            original(self, *args)

    setattr(parallel_loader, name, wraps_like(work, original))


class Reader:
    """Reads a batch for each device, and copies it there, when it is asked for."""

    def __init__(self, torch: Any, loader: Any) -> None:
        self.torch = torch
        self.loader = loader
        self.batches: Iterator[Any] | None = None
        self.waiting: dict[Any, deque[Any]] = {}

    def next_item(self, device: Any) -> Any:
        """The next batch of a device; None after the last one."""
        loader = self.loader
        if loader._done:
            return None
        waiting = self.waiting.setdefault(device, deque())
        if not waiting:
            self.batches = self.batches or iter(loader._cpu_loader)
            batches = [batch for _, batch in zip(loader._devices, self.batches)]
            if len(batches) < len(loader._devices):
                return None
            for each, batch in zip(loader._devices, batches):
                self.waiting.setdefault(each, deque()).append(batch)
        with self.torch.no_grad():
            return loader.send_cpu_data_to_device([waiting.popleft()], device)[0]


def _observe_batches(loaders: Any, context: AdapterContext) -> None:
    """Observe batches that were read in another thread when the script gets them."""
    parallel_loader, device_loader = loaders.ParallelLoader, loaders.PerDeviceLoader
    init, following = parallel_loader.__init__, device_loader.next
    proof = proof_of(context)

    def __init__(self: Any, cpu_loader: Any, devices: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        self._deviate_batches = {str(device): deque() for device in devices}
        batches = ThreadedBatches(cpu_loader, list(self._deviate_batches.values()), context)
        init(self, batches, devices, *args, **kwargs)

    def next_batch(self: Any) -> Any:
        batch = following(self)
        with context.recorder.guarded("batch of a device"):
            waiting = self._loader._deviate_batches.get(str(self._device))
            if waiting and proof.evaluation is not None:
                proof.evaluation.see_batch(self, waiting.popleft())
        return batch

    parallel_loader.__init__ = wraps_like(__init__, init)
    device_loader.next = wraps_like(next_batch, following)


class ThreadedBatches:
    """A loader that takes down the batches that another thread reads.

    Args:
        waiting: for each device, the batches that the script has not got yet, as long as an evaluation may be hashed.
    """

    def __init__(self, loader: Any, waiting: list[deque[Any]], context: AdapterContext) -> None:
        self.loader = loader
        self.waiting = waiting
        self.thread = context.streams.thread
        self.proof = proof_of(context)

    def __len__(self) -> int:
        return len(self.loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def __iter__(self) -> Iterator[Any]:
        for number, batch in enumerate(self.loader):
            if get_ident() != self.thread and self.proof.evaluation is not None:
                self.waiting[number % len(self.waiting)].append(batch)
            yield batch
