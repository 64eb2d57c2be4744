"""Regions of PyTorch: constructors and initialisers, forward passes, modules that transform data, and data loaders."""

from __future__ import annotations

import inspect
import sys
import weakref
from importlib import import_module
from itertools import chain
from threading import get_ident
from types import FunctionType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...regions import INIT, Constructor, Held, Region, at_subclass, region
from ...seeds import wraps_like
from ...split import EarlyDraws, always
from ...streams import Streams
from .generators import backward_check
from .proof import TorchProof
from .replaced import register_builtin

DRAWS = (
    "rand", "randn", "randint", "normal", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial",
    "poisson",
)  # fmt: skip
"""Functions that draw, those for permutations left out."""
DROPOUT, AUGMENT = "dropout", "augment"
DRAWING = ("Dropout", "RReLU", "FractionalMaxPool")
"""Parts of the names of PyTorch's own classes that have no weights and draw. Losses and activations draw nothing."""
ROUTED = ("cpu", "cuda", "xpu", "mps", "xla", "meta")
"""Types of devices whose generators have a state per stream, or that hold no numbers."""


def patch_regions(torch: Any, context: AdapterContext) -> None:
    """Install the regions of an active guest, except forward passes, which are observed in every variant."""
    _patch_constructors(torch.nn.Module, context.streams)
    _patch_initialisers(torch.nn.init, context.streams)
    _collect_device_constructors()
    is_compiling = torch.compiler.is_compiling
    draws = [name for name in DRAWS if hasattr(torch, name)]
    early = context.part(EarlyDraws)
    early.patch(torch, draws, "torch", orders={"randperm": always}, is_passing=is_compiling)
    for name in ("randperm", *draws):
        register_builtin(torch, getattr(torch, name), name)


def _collect_device_constructors() -> None:
    """Let PyTorch collect the functions to which a default device applies, once and for all, while they are its own."""
    import_module("torch.utils._device")._device_constructors()


def _patch_constructors(module: Any, streams: Streams) -> None:
    """Patch all existing and future module classes."""

    def patch(cls: Any) -> None:
        function = cls.__dict__.get("__init__")
        if type(function) is FunctionType:
            cls.__init__ = Constructor(function, streams)

    def patch_all(cls: Any) -> None:
        for subclass in cls.__subclasses__():
            patch(subclass)
            patch_all(subclass)

    patch_all(module)
    at_subclass(module, patch)


def _patch_initialisers(init: Any, streams: Streams) -> None:
    """Patch the functions of `torch.nn.init`, including names that layers have imported."""
    functions = [
        (name, function)
        for name, function in vars(init).items()
        if type(function) is FunctionType and function.__module__ == init.__name__ and not name.startswith("_")
    ]
    layers = [module for name, module in sys.modules.items() if name.startswith("torch.nn.") and module is not None]
    for name, function in functions:
        initialiser = region(streams, INIT, function)
        for module in layers:
            if vars(module).get(name) is function:
                setattr(module, name, initialiser)


class Forwards:
    """Calls of modules. The outermost one is a region and is passed to observers; nested calls are not.

    Attributes:
        layers: the `Layers` of a trace, told of modules that the running one calls while their outputs are traced.
        at_begin: told of the module, its arguments, its keyword arguments and whether it has weights before an
            outermost call, the constructors' own calls left out.
        at_end: told of the same, with the output before the last, after one that ended well.
    """

    def __init__(self, torch: Any, context: AdapterContext, proof: TorchProof) -> None:
        self.torch = torch
        self.context = context
        self.streams = context.streams
        self.recorder = context.recorder
        self.unrouted: set[str] = set()
        self.is_traced = bool(context.trace.requested_level)
        self.proof = proof
        self.is_in_backward = backward_check(torch)
        self.kinds: dict[int, tuple[Any, str | None, bool, Stillness]] = {}
        self.at_begin: list[Callable[[Any, Any, Any, bool], object]] = []
        self.at_end: list[Callable[[Any, Any, Any, Any, bool], object]] = []
        self.layers: Any = None

    def patch(self) -> None:
        module, streams, forwards, context = self.torch.nn.Module, self.streams, self, self.context
        original = module.__call__
        is_compiling = self.torch.compiler.is_compiling

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            # A compiler reads this as a plain call; other threads draw from whatever is in place.
            if is_compiling() or get_ident() != streams.thread:
                return original(self, *args, **kwargs)
            if context.is_inside:
                if forwards.layers is not None:
                    return forwards.layers.call(original, self, args, kwargs)
                return original(self, *args, **kwargs)
            before = forwards.begin(self, args, kwargs)
            context.is_inside = True
            try:
                output = original(self, *args, **kwargs)
            finally:
                context.is_inside = False
                if before is not None:
                    forwards.leave(self, before)
                if forwards.layers is not None:
                    forwards.layers.leave()
                    forwards.layers = None
            if forwards.at_end:
                forwards.end(self, args, kwargs, output)
            return output

        module.__call__ = wraps_like(__call__, original)
        if not self.is_traced:  # what looks at tensors in a compiled part of the program would be compiled with it
            _pass_by(self.torch, __call__.__code__)

    def begin(self, module: Any, args: Any, kwargs: Any) -> str | None:
        """Begin an outermost call; returns the argument of `leave`."""
        try:
            entry = self.kinds.get(id(module))
            if entry is None or entry[0]() is not module:
                entry = self._learn(module)
            # A backward pass computes a part of the forward pass anew, with the state of the generators as it was then.
            if self.is_in_backward():
                return None
            _, stream, has_weights, stillness = entry
            if (has_weights or self.at_begin) and self.streams.now != INIT:
                for callback in self.at_begin:
                    callback(module, args, kwargs, has_weights)
                if has_weights:
                    self.proof.forward(module, args, kwargs)
            return None if stream is None else stillness.enter(module, stream, self.streams)
        except Exception as error:
            self.recorder.fault("forward of %s" % type(module).__name__, error)
            return None

    def leave(self, module: Any, before: str) -> None:
        """Leave the region of an outermost call."""
        entry = self.kinds.get(id(module))
        if entry is not None:
            with self.recorder.guarded("draws of %s" % type(module).__name__):
                entry[3].end(module, self.streams)
        self.streams.leave(before)

    def end(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """End an outermost call without an error; only called if outputs are captured or traced."""
        with self.recorder.guarded("output of %s" % type(module).__name__):
            entry = self.kinds.get(id(module))
            if entry is None or self.is_in_backward() or self.streams.now == INIT:
                return
            for callback in self.at_end:
                callback(module, args, kwargs, output, entry[2])

    def _learn(self, module: Any) -> tuple[Any, str | None, bool, Stillness]:
        key = id(module)
        weight = next(iter(module.parameters()), None)
        has_weights = weight is not None
        if weight is not None:
            self._report_unrouted(weight.device.type)
        stream = DROPOUT if has_weights else _of_weightless(module)
        reference = weakref.ref(module, lambda _: self.kinds.pop(key, None))
        entry = self.kinds[key] = reference, stream, has_weights, Stillness(module)
        return entry

    def _report_unrouted(self, device_type: str) -> None:
        """Report once that a model lies on a device whose generator has no streams."""
        if device_type not in ROUTED and device_type not in self.unrouted and self.streams.is_active:
            self.unrouted.add(device_type)
            place = self.context.project.nearest(sys._getframe(1))
            self.recorder.event("uncontrolled", "the device type %s is not routed" % device_type, *place)


class Stillness:
    """Whether the forward passes of a module draw nothing, so that no generator has to be switched around them.

    To switch them takes as long as a small layer does. A module is left alone once two passes in the same mode have
    drawn nothing, unless it has a rate of dropout, which may be zero for a while. Every `AGAIN`-th pass is routed and
    looked at again; of what begins to draw later, the draws until then belong to no purpose ("other").
    """

    __slots__ = ("may_be", "n_still", "state")
    ENOUGH, AGAIN = 2, 256

    def __init__(self, module: Any) -> None:
        self.may_be = not any(_may_draw(part) for part in module.modules())
        self.n_still: dict[tuple[bool, int], int] = {}
        """Passes that drew nothing, by the mode of the module and the number of generators that there were."""
        self.state: Any = None

    def enter(self, module: Any, stream: str, streams: Streams) -> str | None:
        """Enter the region of a pass; returns the argument of `leave`, None for a pass that will draw nothing."""
        if not self.may_be:
            return streams.enter(stream)
        mode = module.training, len(streams.banks)
        n_still = self.n_still.get(mode, 0)
        if n_still >= self.ENOUGH and n_still % self.AGAIN:
            self.n_still[mode] = n_still + 1
            return None
        before = streams.enter(stream)
        if before is not None:
            try:
                self.state = streams.fingerprint()
            except Exception:  # of a device whose work is being captured as a graph, say
                self.may_be = False
        return before

    def end(self, module: Any, streams: Streams) -> None:
        """It ends."""
        if self.may_be:
            mode = module.training, len(streams.banks)
            self.may_be = self.state == streams.fingerprint()
            self.n_still[mode] = self.n_still.get(mode, 0) + 1


def _may_draw(part: Any) -> bool:
    """Whether a part of a module is of a class that draws, or has a rate of dropout."""
    return any(name in type(part).__name__ for name in DRAWING) or any(
        "drop" in name and isinstance(value, (int, float)) for name, value in vars(part).items()
    )


def _pass_by(torch: Any, code: Any) -> None:
    """Make the compiler skip a function outside of compiled code, as it skips those of PyTorch.

    Otherwise it would compile the function again for each type of layer, and warn about too many. Source:
    torch._dynamo.eval_frame.
    """
    frames: Any = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    if hasattr(frames, "skip_code"):  # in earlier versions
        frames.skip_code(code)
    elif hasattr(frames, "set_code_exec_strategy"):
        actions = frames._FrameAction
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(actions.SKIP, actions.DEFAULT))


def _of_weightless(module: Any) -> str | None:
    """Stream of a module without weights: if it is not entirely PyTorch's own, it is assumed to transform data."""
    classes = [type(part) for part in module.modules()]
    if not all(cls.__module__.startswith("torch.") for cls in classes):
        return AUGMENT
    return DROPOUT if any(name in cls.__name__ for cls in classes for name in DRAWING) else None


# ---------------------------------------------------------------- data loading

# Samplers draw from `shuffle`; fetching, also in workers, draws from `augment`.

SHUFFLE = "shuffle"
SAMPLERS = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
KNOWN = ("torch.utils.data.sampler", "torch.utils.data.distributed", "torch.utils.data.dataloader")
"""Modules of the samplers that either draw nothing or draw at the first index."""
SEEDED = ("random", "numpy", "torch")
"""Libraries whose generators a worker seeds."""
END = object()


def patch_loading(data: Any, context: AdapterContext, proof: TorchProof) -> None:
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
        context.part(EarlyDraws).patch_division(owner, "random_split", "torch.utils.data")


def _patch_fetcher(fetcher: Any, context: AdapterContext) -> None:
    """Patch fetchers; module calls within are data processing, not training or evaluation."""

    def in_region(original: Any) -> Any:
        def inside(*args: Any, **kwargs: Any) -> Any:
            if get_ident() != context.streams.thread:  # in a thread no module call is observed
                with Region(context.streams, AUGMENT):
                    return original(*args, **kwargs)
            with Held(context, "is_inside", True), Region(context.streams, AUGMENT):
                return original(*args, **kwargs)

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
        streams.tell_drawn("torch.DistributedSampler", SHUFFLE)
        with Held(self, "seed", streams.seed("torch.DistributedSampler", str(self.seed), SHUFFLE)):
            return original(self)  # type: ignore[no-any-return]

    sampler.__iter__ = wraps_like(__iter__, original)


def _patch_loader(iterator: Any, streams: Streams) -> None:
    """Patch loaders: the seed of workers is drawn from `augment`, and custom samplers draw from `shuffle`."""
    begin, reset = iterator.__init__, iterator._reset

    def __init__(self: Any, loader: Any) -> None:  # noqa: N807
        if not streams.is_routed_thread():
            begin(self, loader)
            return
        with Held(loader, "generator", _of_workers(loader, streams)), Region(streams, SHUFFLE):
            begin(self, loader)
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
    if type(sampler).__module__ not in KNOWN and not isinstance(iterator._sampler_iter, SamplerOrder):
        iterator._sampler_iter = SamplerOrder(iterator._sampler_iter, streams)


class SamplerOrder:
    """The indices of a sampler that may draw at each of them."""

    def __init__(self, indices: Any, streams: Streams) -> None:
        self.next = region(streams, SHUFFLE, indices.__next__)

    def __iter__(self) -> SamplerOrder:
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
