"""Keras: records values of `fit` and of `evaluate` from its callbacks; patches its modules."""

from __future__ import annotations

import sys

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ..managed import Managed
from .proof import TRAINERS, Watch
from .streams import Keras, set_random_seed

CALLBACKS = (
    "keras.src.callbacks",
    "tf_keras.src.callbacks",
)
SEEDS = "keras.src.utils.rng_utils"
STREAMS: dict[str, Callable[[Keras, Any], None]] = {
    "keras.src.random.seed_generator": lambda keras, module: keras.patch_generators(module),
    "keras.src.random.random": lambda keras, module: keras.patch_draws(module),
    "keras.src.ops.image": lambda keras, module: keras.patch_images(module),
    "keras.src.backend.torch.random": lambda keras, module: keras.patch_torch(module),
    "keras.src.initializers.random_initializers": lambda keras, module: keras.patch_initialisers(module),
    "keras.src.layers.layer": lambda keras, module: keras.patch_layers(module),
    "keras.src.trainers.data_adapters.array_data_adapter": lambda keras, module: keras.patch_arrays(module),
    "keras.src.trainers.data_adapters.py_dataset_adapter": lambda keras, module: keras.patch_datasets(module),
    "keras.src.legacy.preprocessing.image": lambda keras, module: keras.patch_image_iterators(module),
    "keras.src.utils.dataset_utils": lambda keras, module: keras.patch_division(module),
    "keras.src.utils.image_dataset_utils": lambda keras, module: keras.patch_directories(module),
    "keras.src.utils.text_dataset_utils": lambda keras, module: keras.patch_directories(module),
    "keras.src.utils.audio_dataset_utils": lambda keras, module: keras.patch_directories(module),
}
"""What patches the modules of Keras 3 where the variant has seeds."""
PROOF: dict[str, Callable[[Watch, Any], None]] = {
    **dict.fromkeys(TRAINERS, lambda watch, module: watch.patch_trainer(module)),
    "keras.src.optimizers.base_optimizer": lambda watch, module: watch.patch_optimizer(module),
    "keras.src.layers.layer": lambda watch, module: watch.patch_layers(module),
    "keras.src.metrics.reduction_metrics": lambda watch, module: watch.patch_metrics(module),
}
"""What patches them in every variant."""
TRACED = {*TRAINERS, "keras.src.optimizers.base_optimizer", "keras.src.layers.layer"}
MODULES = ("keras", SEEDS, *CALLBACKS, *{**STREAMS, **PROOF})


def install(module: Any, context: AdapterContext) -> None:
    name = module.__name__
    if name == "keras":
        context.recorder.event("environment", {"keras": module.__version__})
        _seed_helper(module.utils, context)
    elif name == SEEDS:
        _seed_helper(module, context)
    elif name in CALLBACKS:
        _record(module.CallbackList, module.History, context)
    if name in STREAMS and context.streams.is_active:
        STREAMS[name](context.part(Keras), module)
    if name in PROOF:
        PROOF[name](context.part(Watch), module)
    if name in TRACED and context.trace.requested_level:
        _trace(module, context)


def _trace(module: Any, context: AdapterContext) -> None:
    from .trace import KerasTrace  # most runs are not traced

    if module.__name__ in TRAINERS or sys.modules["keras.src.backend"].backend() == "tensorflow":
        context.part(KerasTrace).patch(module)


def _seed_helper(owner: Any, context: AdapterContext) -> None:
    original = getattr(owner, "set_random_seed", None)
    if original is not None and not hasattr(original, "__deviate__"):
        owner.set_random_seed = set_random_seed(original, context)


def _record(callbacks: Any, history: Any, context: AdapterContext) -> None:
    """Epoch e is step e of the managed loop around the call of `fit`, also for the user's callbacks.

    The list of callbacks reports the steps, as it is called before any of them; values come from the History callback,
    which runs after the user's callbacks and so includes what they added.
    """
    managed = Managed(context)

    def test_end(self: Any, logs: Any = None) -> None:
        if managed.loop_of(self) is None:  # the validation of `fit` is in its history
            managed.report({"evaluate_" + name: value for name, value in (logs or {}).items()})

    managed.patch(callbacks, "on_train_begin", before=lambda self, logs=None: managed.begin(self))
    managed.patch(callbacks, "on_epoch_begin", before=lambda self, epoch, logs=None: managed.step(self, epoch))
    managed.patch(history, "on_epoch_end", before=lambda self, epoch, logs=None: managed.report(logs or {}))
    managed.patch(callbacks, "on_test_end", before=test_end)
    managed.patch(callbacks, "on_train_end", after=lambda result, self, logs=None: managed.end(self))
