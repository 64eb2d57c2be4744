"""Data loading in PyTorch: samplers draw from `shuffle`; fetching, also in workers, draws from `augment`."""

from __future__ import annotations

import inspect
import sys
from itertools import chain

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...regions import Region, region
from ...seeds import wraps_like
from ...streams import Streams
from .proof import Proof
from .regions import AUGMENT

SHUFFLE, SPLIT = "shuffle", "split"
SAMPLERS = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
KNOWN = ("torch.utils.data.sampler", "torch.utils.data.distributed", "torch.utils.data.dataloader")
"""Modules of the samplers that either draw nothing or draw at the first index."""
SEEDED = ("random", "numpy", "torch")
"""Libraries whose generators a worker seeds."""
END = object()


def patch_loading(data: Any, context: AdapterContext, proof: Proof) -> None:
    streams, utils = context.streams, data._utils
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _patch_fetcher(getattr(utils.fetch, name), context)
    proof.follow(data.dataloader._BaseDataLoaderIter)
    utils.worker._worker_loop = _routed_worker(utils.worker._worker_loop, context)
    if not streams.is_active:
        return
    for name in SAMPLERS:
        _patch_sampler(getattr(data.sampler, name), streams)
    _patch_distributed(data.distributed.DistributedSampler, streams)
    _patch_loader(data.dataloader._BaseDataLoaderIter, streams)
    for owner in (data, data.dataset):
        owner.random_split = region(streams, SPLIT, owner.random_split)


def _patch_fetcher(fetcher: Any, context: AdapterContext) -> None:
    """Patch fetchers; module calls within are data processing, not training or evaluation."""

    def in_region(original: Any) -> Any:
        def inside(*args: Any, **kwargs: Any) -> Any:
            was_inside, context.is_inside = context.is_inside, True
            try:
                with Region(context.streams, AUGMENT):
                    return original(*args, **kwargs)
            finally:
                context.is_inside = was_inside

        return wraps_like(inside, original)

    fetcher.__init__ = in_region(fetcher.__init__)
    fetcher.fetch = in_region(fetcher.fetch)


def _patch_sampler(sampler: Any, streams: Streams) -> None:
    """Patch samplers that draw everything from shared generators at the first index."""
    original = sampler.__iter__

    def __iter__(self: Any) -> Iterator[Any]:  # noqa: N807
        return chain.from_iterable(_parts(original(self), streams))

    sampler.__iter__ = wraps_like(__iter__, original)


def _parts(indices: Iterator[Any], streams: Streams) -> Iterator[Any]:
    with Region(streams, SHUFFLE):
        first = next(indices, END)
    if first is not END:
        yield (first,)
        yield indices


def _patch_distributed(sampler: Any, streams: Streams) -> None:
    """Patch the distributed sampler, which seeds its own generator with `seed + epoch`, the same in all processes."""
    original = sampler.__iter__

    def __iter__(self: Any) -> Iterator[Any]:  # noqa: N807
        if not self.shuffle or not streams.is_routed_thread():
            return original(self)  # type: ignore[no-any-return]
        script_seed = self.seed
        self.seed = streams.seed("torch.DistributedSampler", str(script_seed), SHUFFLE)
        streams.tell_drawn("torch.DistributedSampler", SHUFFLE)
        try:
            return original(self)  # type: ignore[no-any-return]
        finally:
            self.seed = script_seed

    sampler.__iter__ = wraps_like(__iter__, original)


def _patch_loader(iterator: Any, streams: Streams) -> None:
    """Patch loaders: the seed of workers is drawn from `augment`, and custom samplers draw from `shuffle`."""
    begin, reset = iterator.__init__, iterator._reset

    def __init__(self: Any, loader: Any) -> None:  # noqa: N807
        if not streams.is_routed_thread():
            begin(self, loader)
            return
        generator = loader.generator
        loader.generator = _of_workers(loader, streams)
        try:
            region(streams, SHUFFLE, begin)(self, loader)
        finally:
            loader.generator = generator
        _patch_order(self, streams)

    def _reset(self: Any, loader: Any, first_iter: bool = False) -> None:
        region(streams, SHUFFLE, reset)(self, loader, first_iter)
        _patch_order(self, streams)

    iterator.__init__ = wraps_like(__init__, begin)
    iterator._reset = wraps_like(_reset, reset)


def _of_workers(loader: Any, streams: Streams) -> Any:
    """The generator from which a loader draws the seed of its workers; it has no effect without workers."""
    torch = sys.modules["torch"]
    if loader.num_workers:
        with Region(streams, AUGMENT):
            seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item()
    else:
        seed = streams.seed("torch.DataLoader", None, AUGMENT)
    return torch._C.Generator().manual_seed(seed)


def _patch_order(iterator: Any, streams: Streams) -> None:
    sampler = iterator._index_sampler
    while type(sampler).__module__ in KNOWN and hasattr(sampler, "sampler"):
        sampler = sampler.sampler
    if type(sampler).__module__ not in KNOWN and not isinstance(iterator._sampler_iter, Order):
        iterator._sampler_iter = Order(iterator._sampler_iter, streams)


class Order:
    """The indices of a sampler that may draw at each of them."""

    def __init__(self, indices: Any, streams: Streams) -> None:
        self.next = region(streams, SHUFFLE, indices.__next__)

    def __iter__(self) -> Order:
        return self

    def __next__(self) -> Any:
        return self.next()


def _routed_worker(original: Any, context: AdapterContext) -> Any:
    """A worker, which draws from `augment`. Its own first seed is kept, as it comes from that stream.

    Later seeds are set by the script, as in a `worker_init_fn`. The worker's own seed is never recorded as a seed of
    the script: if nothing is seeded, it differs in each run and depends on the main process.
    """
    streams, seeding, signature = context.streams, context.seeding, inspect.signature(original)

    def worker_loop(*args: Any, **kwargs: Any) -> Any:
        context.is_inside = True
        context.trace.leave()
        if "init_fn" not in signature.parameters:
            return original(*args, **kwargs)
        arguments = signature.bind(*args, **kwargs).arguments
        script_init = arguments["init_fn"]

        def init_fn(worker_id: int) -> None:
            seeding.is_silent = False
            if streams.is_active:
                for bank in streams.banks:
                    if bank.library in SEEDED:
                        bank.after_seeding(AUGMENT)
                streams.paused -= 1
            if script_init is not None:
                script_init(worker_id)

        seeding.is_silent = True
        if streams.is_active:
            streams.enter(AUGMENT)
            streams.paused += 1  # the states belong to the worker
        return original(**dict(arguments, init_fn=init_fn))

    return wraps_like(worker_loop, original)
