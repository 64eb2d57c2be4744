"""Data of Keras 3: order of batches, draws of Python datasets, and splits of files and datasets."""

from __future__ import annotations

import inspect
import sys

from ...annotations import Any, Iterator
from ...callback_threads import callback_threads_of
from ...regions import Region, at_subclass, region
from ...seeds import wraps_like
from .streams import Keras

DIRECTORIES = ("image_dataset_from_directory", "text_dataset_from_directory", "audio_dataset_from_directory")


class Data:
    """Patches modules of Keras that select and order examples."""

    def __init__(self, keras: Keras) -> None:
        self.keras = keras
        self.streams = keras.streams

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
        module.random = _Orders(self.keras, module.random)

    def patch_images(self, module: Any) -> None:
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
            seeding = self.keras.context.seeding
            was_silent, seeding.is_silent = seeding.is_silent, hasattr(self_, "total_batches_seen")  # seeds every batch
            try:
                return routed(self_, index)
            finally:
                seeding.is_silent = was_silent

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
        module.split_dataset = region(self.keras.streams, "split", module.split_dataset)

    def patch_directories(self, module: Any) -> None:
        """Patch modules of Keras that create datasets from directories."""
        for name in DIRECTORIES:
            if hasattr(module, name):
                setattr(module, name, self._directory(getattr(module, name), name))

    def _directory(self, original: Any, name: str) -> Any:
        """The seed decides which files train, if the dataset is split, and otherwise the order of the files."""
        signature = inspect.signature(original)

        def make(*args: Any, **kwargs: Any) -> Any:
            keras = self.keras
            if not keras.streams.is_routed_thread():
                return original(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            stream = "split" if bound.arguments.get("validation_split") else "shuffle"
            seed = bound.arguments.get("seed")
            if seed is not None:
                bound.arguments["seed"] = keras.project_seed(seed, "keras.utils.%s.seed" % name, stream)
            elif stream == "shuffle":
                bound.arguments["seed"] = keras.draw_seed(stream)
            return original(*bound.args, **bound.kwargs)

        return wraps_like(make, original)


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
