"""scikit-learn, which draws from NumPy generators, or from those created for an integer `random_state`.

Such an integer fixes a seed like any seeding call, so estimators get a different one; if it selects training or test
examples, it is kept unless the stream `split` varies.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...project import beyond
from ...seeds import wraps_like
from ...split import EarlyDraws
from ...streams import spell_seed
from .proof import SklearnProof

VALIDATION = "sklearn.utils.validation"
BASE = "sklearn.base"
PARAMETERS = "sklearn.utils._param_validation"
MODULES = ("sklearn", VALIDATION, BASE, PARAMETERS)
DIVIDERS = ("sklearn.model_selection._split", "sklearn.model_selection._search_successive_halving", "sklearn.datasets")
"""Modules of what divides the examples, or makes them; beginnings of their names."""
LEARNING_CURVE = "learning_curve"
"""The one function of `sklearn.model_selection._validation` whose seed chooses examples."""
ORDERS = frozenset(("sklearn.utils", "sklearn.utils._indexing", "sklearn.utils.random"))
"""Modules of `shuffle`, `resample` and `sample_without_replacement`."""
BETWEEN = ("sklearn.model_selection", "sklearn.datasets", "sklearn.utils", "sklearn.base", __name__.partition(".")[0])
"""Modules through which the project reaches a splitter, those of the guest included."""


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "sklearn":
        context.recorder.event("environment", {"scikit-learn": module.__version__})
    elif module.__name__ == BASE:
        context.part(_make_proof).patch(module)
    elif module.__name__ == PARAMETERS:
        if context.capture.wants_predictions:
            _watch_metrics(module, context.part(_make_proof).capture)
    else:
        _Checking(context, module.check_random_state).patch(module)


def _make_proof(context: AdapterContext) -> SklearnProof:
    proof = SklearnProof(context)
    if context.capture.wants_predictions or context.capture.wants_weights:
        from .capture import EstimatorCapture  # most runs keep nothing

        proof.capture = EstimatorCapture(context, proof)
    return proof


def _watch_metrics(module: Any, capture: Any) -> None:
    """Patch the decorator that defines all functions of `sklearn.metrics`."""
    original = module.validate_params

    def validate_params(*args: Any, **kwargs: Any) -> Any:
        decorate = original(*args, **kwargs)

        def decorate_function(function: Any) -> Any:
            decorated_function = decorate(function)
            is_metric = function.__module__.startswith("sklearn.metrics")
            return capture.metric(decorated_function) if is_metric else decorated_function

        return decorate_function

    module.validate_params = wraps_like(validate_params, original)


class _Checking:
    """Replaces the function through which scikit-learn creates all generators."""

    def __init__(self, context: AdapterContext, original: Any) -> None:
        self.context = context
        self.original = original
        self.seen: set[tuple[str, str, int]] = set()

    def patch(self, module: Any) -> None:
        def check_random_state(seed: Any) -> Any:
            with self.context.recorder.guarded("check_random_state"):
                if seed is None and "entropy" in self.context.controls:
                    self._tell_unseeded(_getframe(1))
                seed = self.choose_seed(seed, _getframe(1))
            return self.original(seed)

        check_random_state.__doc__ = self.original.__doc__
        module.check_random_state = check_random_state

    def _tell_unseeded(self, frame: FrameType) -> None:
        """Record what draws from NumPy's shared generator because its `random_state` is None, once for each place."""
        owner = frame.f_locals.get("self")
        name = frame.f_code.co_name if owner is None else type(owner).__name__
        place = self.context.project.nearest(frame)
        if (name, *place) not in self.seen:
            self.seen.add((name, *place))
            self.context.recorder.event("chance", "without seed", name, *place)

    def choose_seed(self, seed: Any, frame: FrameType) -> Any:
        """The seed from which scikit-learn should create its generator."""
        streams = self.context.streams
        if not streams.is_routed_thread():
            return seed
        module = _module(frame)
        is_divider = module.startswith(DIVIDERS) or (
            module == "sklearn.model_selection._validation" and frame.f_code.co_name == LEARNING_CURVE
        )
        if is_divider or module in ORDERS:
            return self._chosen_for_data(seed, frame, None if is_divider else self._order(frame))
        if not hasattr(type(seed), "__index__"):
            return seed  # a NumPy generator, whose state is routed by stream; None is the global one
        self._record(seed, frame)
        return streams.seed("sklearn", spell_seed(seed)) if streams.is_active else seed

    def _order(self, frame: FrameType) -> str:
        """Stream of a permutation; empty if a library draws it for itself."""
        project = self.context.project
        owner = project.innermost(frame)
        early = self.context.part(EarlyDraws)
        return "" if owner is None else early.stream(owner, frame.f_code.co_name, is_order=True) or ""

    def _chosen_for_data(self, seed: Any, frame: FrameType, order: str | None) -> Any:
        """The seed for a function that selects examples.

        A split that the script fixes by a number is kept, as results are compared with published ones; if the stream
        varies, the number is used as a key like any other seed.

        Args:
            order: stream of a permutation; None for what divides.
        """
        streams, seeding = self.context.streams, self.context.seeding
        owner = beyond(BETWEEN, frame)
        is_of_estimator = owner is not None and _module(owner).startswith("sklearn.")
        if order is None and not is_of_estimator:
            stream = self.context.part(EarlyDraws).division(frame, "sklearn." + _caller_name(_divider(frame)))
        else:
            stream = "split" if order is None else order
        if hasattr(type(seed), "__index__"):
            is_replaced = bool(stream) and (stream != "split" or stream in streams.varied)
            if is_of_estimator or not stream:
                return seed
            seeding.record("sklearn.%s.random_state" % _caller_name(frame), seed, is_replaced=is_replaced)
            if not streams.is_active:
                return seed
            streams.tell_drawn("sklearn", stream)
            return streams.seed("sklearn", spell_seed(seed), stream) if is_replaced else seed
        if not streams.is_active or not stream:
            return seed
        random = sys.modules["numpy"].random
        if seed is None or seed is random or seed is random.mtrand._rand:
            return streams.next_seed("sklearn", stream=stream)
        twins = getattr(seed, "_twins", None)
        return seed if twins is None or is_of_estimator else twins.of(stream)

    def _record(self, seed: Any, frame: FrameType) -> None:
        """Record each estimator and line once; members of an ensemble get their seeds from it."""
        estimator = ""
        owner: FrameType | None = frame
        while owner is not None and _module(owner).startswith(("sklearn", "joblib")):
            if owner is not frame and _module(owner).startswith("sklearn.ensemble"):
                return
            if "self" in owner.f_locals and not estimator:
                estimator = "%s." % type(owner.f_locals["self"]).__name__
            owner = owner.f_back
        call = "%srandom_state" % estimator
        key = (call, *self.context.project.nearest(frame))
        if key not in self.seen:
            self.seen.add(key)
            self.context.streams.tell_drawn("sklearn", self.context.streams.now)
            self.context.seeding.record("sklearn.%s" % call, seed)


def _divider(frame: FrameType) -> FrameType:
    """The outermost function that divides: `train_test_split`, and not the splitter that it makes."""
    outermost = frame
    outer: FrameType | None = frame
    while outer is not None and _module(outer).startswith(BETWEEN):
        outermost = outer if _module(outer).startswith(DIVIDERS) else outermost
        outer = outer.f_back
    return outermost


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _caller_name(frame: FrameType) -> str:
    """Name of a function, or of the class that a method belongs to."""
    instance = frame.f_locals.get("self")
    return frame.f_code.co_name if instance is None else type(instance).__name__
