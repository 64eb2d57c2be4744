"""TensorFlow: its seeds by stream, its controls, and what proves runs equal, each in a file of its own."""

from __future__ import annotations

import sys
from sys import _getframe

from ...adapter_context import Guest
from ...seeds import dress
from . import callbacks, summaries
from .controls import Controls
from .draws import LIBRARY, Draws
from .generators import Generators, Stateless
from .names import Names
from .proof import proof_of
from .purpose import purpose_of
from .sessions import Sessions

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

SUMMARIES = "tensorflow.python.summary.writer.writer"
MODULES = ("tensorflow", SUMMARIES)


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == SUMMARIES:
        summaries.attend(module.SummaryToEventTransformer, guest)
        return
    guest.recorder.event("environment", {"tensorflow": module.__version__})
    controls = Controls(guest, module)
    if guest.seeding.is_active:
        module.random.set_seed(guest.streams.seed(LIBRARY))  # threads that are not routed, and what asks for the seed
    controls.apply()
    guest.recorder.at_close.append(lambda: guest.recorder.event("environment", controls.facts()))
    purpose = purpose_of(guest)
    Draws(guest, purpose, sys.modules["tensorflow.python.framework.random_seed"], controls.is_deterministic)
    names = Names()
    _override_seeds(guest, names)
    if guest.streams.is_active:
        Generators(guest, purpose).attend(names)
        Stateless(guest, purpose).attend(names)
        _tell_of_clock(guest, names)
        script_ops: Any = sys.modules["tensorflow.python.ops.script_ops"]
        callbacks.attend(script_ops.FuncRegistry, guest, purpose, controls.is_deterministic)
    _watch_gradients(guest)
    if guest.capture.wants_predictions:
        from .capture import calls_of  # most runs keep nothing

        calls_of(guest, proof_of(guest)).attend()
    if guest.trace.asked:
        from .trace import tensorflow_trace_of  # most runs are not traced

        tensorflow_trace_of(guest).attend()
    Sessions(guest).attend()
    if guest.capture.profile:
        from .profile import attend_profile

        attend_profile(module, guest)


def _watch_gradients(guest: Guest) -> None:
    """What gradients are taken of is what is trained."""
    backprop: Any = sys.modules["tensorflow.python.eager.backprop"]
    original, proof = backprop.GradientTape.gradient, proof_of(guest)

    def gradient(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            flat = sources.values() if isinstance(sources, dict) else sources
            proof.optimize(list(flat) if isinstance(flat, (list, tuple, type({}.values()))) else [flat])
        except Exception as error:
            guest.recorder.fault("gradient", error)
        return original(self, target, sources, *args, **kwargs)

    backprop.GradientTape.gradient = dress(gradient, original)


def _tell_of_clock(guest: Guest, names: Names) -> None:
    """The time, as a tensor, is what seeds are made of; where operations are deterministic TensorFlow refuses it."""
    module: Any = sys.modules["tensorflow.python.ops.logging_ops"]
    original = getattr(module, "timestamp", None) or module.gen_logging_ops.timestamp

    def timestamp(*args: Any, **kwargs: Any) -> Any:
        guest.recorder.event("uncontrolled", "tf.timestamp", *guest.project.nearest(_getframe(1)))
        return original(*args, **kwargs)

    names.replace(original, dress(timestamp, original))


def _override_seeds(guest: Guest, names: Names) -> None:
    module: Any = sys.modules["tensorflow.python.framework.random_seed"]
    calls = {"set_seed": "tensorflow.random.set_seed", "set_random_seed": "tensorflow.compat.v1.set_random_seed"}
    originals = {name: getattr(module, name) for name in calls}
    for name, call in calls.items():
        guest.seeding.override(module, name, call, LIBRARY, internal="tensorflow.python.data")
        names.replace(originals[name], getattr(module, name))
