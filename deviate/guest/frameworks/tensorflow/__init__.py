"""TensorFlow: seeds by stream, controls, and evidence that runs are equal, each in its own file."""

from __future__ import annotations

import sys
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like
from .controls import TensorFlowControls
from .draws import LIBRARY, Draws, patch_callbacks
from .generators import ImportedNames, Stateless, TensorFlowGenerators
from .proof import TensorFlowProof
from .purpose import Purpose
from .replicas import Replicas
from .sessions import patch_summaries, report_sessions

SUMMARIES = "tensorflow.python.summary.writer.writer"
MODULES = ("tensorflow", SUMMARIES)


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == SUMMARIES:
        patch_summaries(module.SummaryToEventTransformer, context)
        return
    context.recorder.event("environment", {"tensorflow": module.__version__})
    controls = TensorFlowControls(context, module)
    if context.streams.is_active:
        module.random.set_seed(context.streams.seed(LIBRARY))  # threads that are not routed, and what asks for the seed
    controls.apply()
    context.recorder.at_close.append(lambda: context.recorder.event("environment", controls.facts()))
    context.part(Replicas).patch()
    purpose = context.part(Purpose)
    Draws(context, purpose, sys.modules["tensorflow.python.framework.random_seed"], controls.is_deterministic)
    names = ImportedNames()
    _override_seeds(context, names)
    if context.streams.is_active:
        TensorFlowGenerators(context, purpose).patch(names)
        Stateless(context, purpose).patch(names)
        _tell_of_clock(context, names)
        script_ops: Any = sys.modules["tensorflow.python.ops.script_ops"]
        patch_callbacks(script_ops.FuncRegistry, context, purpose, controls.is_deterministic)
    _watch_gradients(context)
    if context.capture.wants_predictions:
        from .capture import ModelCalls  # most runs capture nothing

        context.part(ModelCalls).patch()
    if context.trace.requested_level:
        from .trace import TensorflowTrace  # most runs are not traced

        context.part(TensorflowTrace).patch()
    report_sessions(context)
    if context.capture.profile:
        from .profile import install_profile

        install_profile(module, context)


def _watch_gradients(context: AdapterContext) -> None:
    """Variables that gradients are computed for count as trained."""
    backprop, proof = sys.modules["tensorflow.python.eager.backprop"], context.part(TensorFlowProof)

    def gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> None:
        flat = sources.values() if isinstance(sources, dict) else sources
        proof.optimize(list(flat) if isinstance(flat, (list, tuple, type({}.values()))) else [flat])

    context.observe(backprop.GradientTape, "gradient", before=gradient)


def _tell_of_clock(context: AdapterContext, names: ImportedNames) -> None:
    """Record the use of the time as a seed: `tf.timestamp`, which raises while op determinism is on."""
    module: Any = sys.modules["tensorflow.python.ops.logging_ops"]
    original = getattr(module, "timestamp", None) or module.gen_logging_ops.timestamp

    def timestamp(*args: Any, **kwargs: Any) -> Any:
        context.recorder.event("uncontrolled", "tf.timestamp", *context.project.nearest(_getframe(1)))
        return original(*args, **kwargs)

    names.replace(original, wraps_like(timestamp, original))


def _override_seeds(context: AdapterContext, names: ImportedNames) -> None:
    module: Any = sys.modules["tensorflow.python.framework.random_seed"]
    calls = {"set_seed": "tensorflow.random.set_seed", "set_random_seed": "tensorflow.compat.v1.set_random_seed"}
    originals = {name: getattr(module, name) for name in calls}
    for name, call in calls.items():
        context.seeding.override(module, name, call, LIBRARY, internal="tensorflow.python.data")
        names.replace(originals[name], getattr(module, name))
