"""Streams of Keras 3 with any backend: seeds of initialisers and layers, regions of constructors and calls, data."""

from __future__ import annotations

import inspect
import sys
from sys import _getframe
from types import FrameType, FunctionType

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...callback_threads import callback_threads_of
from ...regions import Constructor, Held, Region, at_subclass, region
from ...requests import Given, Requests
from ...seeds import wraps_like
from ...split import EarlyDraws
from ...streams import STREAMS, spell_seed
from ..tensorflow.purpose import Purpose

LIBRARY = "keras"
LIMIT = 10**9
"""Keras draws its own seeds below."""
PREPROCESSING = "keras.src.layers.preprocessing"
DRAWS = ("beta", "binomial", "categorical", "dropout", "gamma", "normal", "randint", "truncated_normal", "uniform")
SHUFFLE = "shuffle"
DIRECTORIES = ("image_dataset_from_directory", "text_dataset_from_directory", "audio_dataset_from_directory")


class Keras:
    """Shared state of the adapters for Keras modules."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.streams = context.streams
        self.purpose = context.part(Purpose)
        self.requests = Requests(context.streams, LIBRARY, follows="random")  # from which Keras draws its own seeds

    def project_seed(self, seed: Any, call: str, stream: str) -> Given:
        """The seed that replaces a seed of the script."""
        if isinstance(seed, Given):
            return seed
        self.context.seeding.record(call, seed)
        return _small(self.requests.seed(stream, spell_seed(seed)))

    def draw_seed(self, stream: str) -> Given:
        return _small(self.requests.next_seed(stream))

    # ------------------------------------------------------------ seeds

    def patch_generators(self, module: Any) -> None:
        """Patch module `keras.src.random.seed_generator`."""
        generator = module.SeedGenerator
        original, make, find = generator.__init__, module.make_default_seed, module.global_seed_generator

        def __init__(self_: Any, seed: Any = None, name: Any = None, **kwargs: Any) -> None:  # noqa: N807
            if not self.streams.is_routed_thread() or not (seed is None or isinstance(seed, int)):
                original(self_, seed, name, **kwargs)
                return
            stream = self._made_for(_getframe(1))
            new_seed = (
                self.draw_seed(stream) if seed is None else self.project_seed(seed, _owner(_getframe(1), self_), stream)
            )
            original(self_, int(new_seed), name, **kwargs)
            self_._initial_seed = seed

        def make_default_seed() -> int:
            return self.draw_seed(self._made_for(_getframe(1))) if self.streams.is_routed_thread() else make()

        def global_seed_generator() -> Any:
            if not self.streams.is_routed_thread() or module.jax_utils.is_in_jax_tracing_scope():
                return find()
            stream = self.purpose.stream(_getframe(1))
            name = "%s_%s" % (module.GLOBAL_SEED_GENERATOR, stream)
            shared = module.global_state.get_global_attribute(name)
            if shared is None:
                shared = generator(self.draw_seed(stream))
                module.global_state.set_global_attribute(name, shared)
            return shared

        generator.__init__ = wraps_like(__init__, original)
        module.make_default_seed = wraps_like(make_default_seed, make)
        module.global_seed_generator = wraps_like(global_seed_generator, find)

    def forget_generators(self, module: Any) -> None:
        """Let Keras recreate its global seed generators, one per stream."""
        for stream in STREAMS:
            module.global_state.set_global_attribute("%s_%s" % (module.GLOBAL_SEED_GENERATOR, stream), None)

    def _made_for(self, frame: FrameType | None) -> str:
        """The stream of a seed, from the object that requests it: a layer that transforms data, or another one."""
        while frame is not None and str(frame.f_globals.get("__name__")).startswith("keras.src"):
            module = str(frame.f_globals["__name__"])
            if module.startswith("keras.src.initializers"):
                return "init"
            if module.startswith(PREPROCESSING):
                return "augment"
            frame = frame.f_back
        while frame is not None and frame.f_code.co_name == "__init__":
            if _transforms_data(type(frame.f_locals.get("self"))):
                return "augment"
            frame = frame.f_back
        return "dropout"

    def patch_initialisers(self, module: Any) -> None:
        """Patch module `keras.src.initializers.random_initializers`."""
        initialiser = module.RandomInitializer
        original = initialiser.__init__

        def __init__(self_: Any, seed: Any = None) -> None:  # noqa: N807
            original(self_, seed)
            if not self.streams.is_routed_thread() or seed is None:
                return
            if isinstance(seed, int):
                self_.seed = self.project_seed(seed, "keras.%s.seed" % type(self_).__name__, "init")
            elif hasattr(self_.seed, "next"):  # those that share a generator continue to share one
                twin = getattr(seed, "_deviate_twin", None) or type(seed)(Given(self._twin_of(seed)))
                self_.seed = seed._deviate_twin = twin

        initialiser.__init__ = wraps_like(__init__, original)

    def _twin_of(self, generator: Any) -> int:
        seed = generator._initial_seed
        return self.draw_seed("init") if seed is None else _small(self.requests.seed("init", spell_seed(seed)))

    def patch_draws(self, module: Any) -> None:
        """Patch module `keras.src.random.random`: functions with an integer seed draw the same numbers each time."""
        for name in (*DRAWS, SHUFFLE):
            setattr(module, name, self._draw(getattr(module, name), name))

    def patch_images(self, module: Any) -> None:
        """Patch module `keras.src.ops.image`, in which one function takes a seed."""
        if hasattr(module, "elastic_transform"):
            module.elastic_transform = self._draw(module.elastic_transform, "elastic_transform")

    def patch_torch(self, module: Any) -> None:
        """Patch module `keras.src.backend.torch.random`: seeds that Keras sets for each draw are not the script's."""
        seeding, original = self.context.seeding, module.torch_seed_generator

        def torch_seed_generator(seed: Any) -> Any:
            with Held(seeding, "is_silent", True):
                return original(seed)

        module.torch_seed_generator = wraps_like(torch_seed_generator, original)

    def _draw(self, original: Any, name: str) -> Any:
        def draw(*args: Any, **kwargs: Any) -> Any:
            seed, frame = kwargs.get("seed"), _getframe(1)
            if isinstance(seed, int) and self.streams.is_routed_thread() and self.purpose.is_of_project(frame):
                stream = self.purpose.permutation(frame) if name == SHUFFLE else self.purpose.stream(frame)
                stream = name if name == "dropout" else stream
                kwargs["seed"] = self.project_seed(seed, "keras.random.%s.seed" % name, stream)
            return original(*args, **kwargs)

        return wraps_like(draw, original)

    # ------------------------------------------------------------ regions

    def patch_layers(self, module: Any) -> None:
        """Patch module `keras.src.layers.layer`."""
        layer, keras = module.Layer, self
        for name in ("add_weight", "_maybe_build"):
            setattr(layer, name, region(self.streams, "init", getattr(layer, name)))
        original, streams = layer.__call__, self.streams

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            with Region(streams, "augment" if _transforms_data(type(self)) else "dropout"):
                return original(self, *args, **kwargs)

        def patch_constructors(cls: Any) -> None:
            for name in ("__init__", "build"):
                function = cls.__dict__.get(name)
                if type(function) is FunctionType and keras.context.project.place(function.__code__) is not None:
                    setattr(cls, name, Constructor(function, keras.streams))

        layer.__call__ = wraps_like(__call__, original)
        at_subclass(layer, patch_constructors)

    # ------------------------------------------------------------ data: examples that are selected and ordered

    def patch_arrays(self, module: Any) -> None:
        """Patch module `keras.src.trainers.data_adapters.array_data_adapter`, which JAX and NumPy use."""
        original, streams = module.ArrayDataAdapter._get_iterator, self.streams

        def _get_iterator(self_: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            batches = original(self_, *args, **kwargs)
            while True:
                with Region(streams, "shuffle"):
                    batch = next(batches, batches)
                if batch is batches:
                    return
                yield batch

        module.ArrayDataAdapter._get_iterator = wraps_like(_get_iterator, original)

    def patch_datasets(self, module: Any) -> None:
        """Patch module `keras.src.trainers.data_adapters.py_dataset_adapter`."""

        def patch(cls: Any) -> None:
            original = cls.__dict__.get("__getitem__")
            if original is not None:
                cls.__getitem__ = self._batch(original)

        at_subclass(module.PyDataset, patch)
        module.random = _Orders(self, module.random)

    def patch_image_iterators(self, module: Any) -> None:
        """Patch module `keras.src.legacy.preprocessing.image`: iterators of `ImageDataGenerator`."""
        module.Iterator._set_index_array = self._drawing_from("shuffle", module.Iterator._set_index_array)
        for owner in (module.NumpyArrayIterator, module.BatchFromFilesMixin):
            name = "_get_batches_of_transformed_samples"
            setattr(owner, name, self._drawing_from("augment", getattr(owner, name)))

    def _batch(self, original: Any) -> Any:
        """The method of a dataset that makes a batch, which draws from `augment`."""
        routed = self._drawing_from("augment", original)

        def make(self_: Any, index: Any) -> Any:
            if getattr(self_, "index_array", self_) is None:  # of ImageDataGenerator: the order of its first epoch
                self._drawing_from("shuffle", _order)(self_)
            seeding = self.context.seeding
            with Held(seeding, "is_silent", hasattr(self_, "total_batches_seen")):  # seeds every batch
                return routed(self_, index)

        return wraps_like(make, original)

    def _drawing_from(self, stream: str, function: Any) -> Any:
        """Wrap a function so that it draws from a stream, in any thread."""

        def inside(*args: Any, **kwargs: Any) -> Any:
            callback_threads = callback_threads_of(self.streams)
            before = callback_threads.begin(stream)
            try:
                return function(*args, **kwargs)
            finally:
                callback_threads.end(before)

        return wraps_like(inside, function)

    def patch_division(self, module: Any) -> None:
        """Patch module `keras.src.utils.dataset_utils`."""
        self.context.part(EarlyDraws).patch_division(module, "split_dataset", "keras.utils")

    def patch_directories(self, module: Any) -> None:
        """Patch modules of Keras that create datasets from directories."""
        for name in DIRECTORIES:
            if hasattr(module, name):
                setattr(module, name, self._directory(getattr(module, name), name))

    def _directory(self, original: Any, name: str) -> Any:
        """The seed decides which files train, if the dataset is split, and otherwise the order of the files."""
        signature = inspect.signature(original)

        def make(*args: Any, **kwargs: Any) -> Any:
            if not self.streams.is_routed_thread():
                return original(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            stream = "split" if bound.arguments.get("validation_split") else "shuffle"
            seed = bound.arguments.get("seed")
            if seed is not None:
                bound.arguments["seed"] = self.project_seed(seed, "keras.utils.%s.seed" % name, stream)
            elif stream == "shuffle":
                bound.arguments["seed"] = self.draw_seed(stream)
            return original(*bound.args, **bound.kwargs)

        return wraps_like(make, original)


_transforms: dict[Any, bool] = {}


def _transforms_data(kind: Any) -> bool:
    """Whether a class is a preprocessing layer, or derived from one."""
    if kind not in _transforms:
        _transforms[kind] = any(str(base.__module__).startswith(PREPROCESSING) for base in kind.__mro__)
    return _transforms[kind]


def _small(seed: int) -> Given:
    return Given(seed % LIMIT + 1)


def _owner(frame: FrameType, generator: Any) -> str:
    """The owner of a generator: the library layer whose constructor creates it, or the generator itself."""
    owner: Any = generator
    while str(frame.f_globals.get("__name__")).startswith("keras.src") and frame.f_back is not None:
        if frame.f_code.co_name == "__init__":
            owner = frame.f_locals.get("self", owner)
        frame = frame.f_back
    return "keras.%s.seed" % type(owner).__name__


def set_random_seed(original: Any, context: AdapterContext) -> Any:
    """`keras.utils.set_random_seed`: one record, and every library that it seeds is reset with the seed as key."""

    def routed_set_seed(seed: Any) -> None:
        seeding = context.seeding
        if seeding.is_passing():
            original(seed)
            return
        seeding.record("keras.utils.set_random_seed", seed)
        with Held(seeding, "is_silent", True):
            original(seed)
        generators = sys.modules.get("keras.src.random.seed_generator")
        if context.streams.is_active and generators is not None:
            context.part(Keras).forget_generators(generators)

    return wraps_like(routed_set_seed, original)


def _order(batches: Any) -> None:
    if batches.seed is not None:
        sys.modules["numpy"].random.seed(batches.seed + batches.total_batches_seen)
    batches._set_index_array()


class _Orders:
    """Replaces the module `random` in Keras threads, so that orders do not depend on timing."""

    def __init__(self, keras: Keras, random: Any) -> None:
        self._keras = keras
        self._random = random

    def shuffle(self, items: Any) -> None:
        self._random.Random(self._keras.draw_seed("shuffle")).shuffle(items)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._random, name)
