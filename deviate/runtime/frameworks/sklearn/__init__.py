"""scikit-learn: it draws from NumPy's generators, or from those that an integer `random_state` makes.

Such an integer fixes a seed like any seeding call of the script, so estimators get another; where it says which
examples there are, train or test, it stays the script's.
"""

from __future__ import annotations

import functools
from sys import _getframe

from ...parts import Guest
from ...seeds import dress
from ...split import Splitting
from ...streams import spelled

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

VALIDATION = "sklearn.utils.validation"
BASE = "sklearn.base"
PARAMETERS = "sklearn.utils._param_validation"
MODULES = ("sklearn", VALIDATION, BASE, PARAMETERS)
DATA = ("sklearn.model_selection", "sklearn.datasets")
"""What divides the examples, or makes them."""
ORDER = ("sklearn.utils",)
"""`shuffle` and `resample`."""


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == "sklearn":
        guest.recorder.event("environment", {"scikit-learn": module.__version__})
    elif module.__name__ == BASE:
        proof_of(guest).attend(module)
    elif module.__name__ == PARAMETERS:
        if guest.capture.wants_predictions:
            _watch_metrics(module, proof_of(guest).capture)
    else:
        _Checking(guest, module.check_random_state).attend(module)


@functools.lru_cache(maxsize=None)
def proof_of(guest: Guest) -> Any:
    from .proof import Proof

    proof = Proof(guest)
    if guest.capture.wants_predictions or guest.capture.wants_weights:
        from .capture import Capture

        proof.capture = Capture(guest, proof)
    return proof


def _watch_metrics(module: Any, capture: Any) -> None:
    """All functions of `sklearn.metrics` are made by one decorator."""
    original = getattr(module, "validate_params", None)
    if original is None:  # before version 1.2
        return

    def validate_params(*args: Any, **kwargs: Any) -> Any:
        decorate = original(*args, **kwargs)

        def decorated(function: Any) -> Any:
            made = decorate(function)
            return capture.metric(made) if function.__module__.startswith("sklearn.metrics") else made

        return decorated

    module.validate_params = dress(validate_params, original)


class _Checking:
    """The function by which all of scikit-learn comes to its generators."""

    def __init__(self, guest: Guest, original: Any) -> None:
        self.guest = guest
        self.original = original
        self.seen: set[tuple[str, str, int]] = set()

    def attend(self, module: Any) -> None:
        def check_random_state(seed: Any) -> Any:
            try:
                seed = self.chosen(seed, _getframe(1))
            except Exception as error:
                self.guest.recorder.fault("check_random_state", error)
            return self.original(seed)

        check_random_state.__doc__ = self.original.__doc__
        module.check_random_state = check_random_state

    def chosen(self, seed: Any, frame: FrameType) -> Any:
        """What scikit-learn is to make its generator of."""
        streams = self.guest.streams
        is_number = hasattr(type(seed), "__index__")
        if not streams.is_home() or not (seed is None or is_number):
            return seed
        caller = _module(frame)
        if caller.startswith(DATA):
            return streams.next_seed("sklearn", stream="split") if seed is None and streams.is_active else seed
        if caller.startswith(ORDER):
            return self._ordered(seed, frame) if streams.is_active else seed
        if seed is None:
            return None  # the global generator, whose state follows the streams
        self._record(seed, frame)
        return streams.seed("sklearn", spelled(seed)) if streams.is_active else seed

    def _ordered(self, seed: Any, frame: FrameType) -> Any:
        project = self.guest.project
        owner = project.innermost(frame)
        stream = None if owner is None else Splitting(self.guest.streams, project).stream(owner)
        if stream is None or (stream == "split" and seed is not None):
            return seed
        streams = self.guest.streams
        if seed is None:
            return streams.next_seed("sklearn", stream=stream)
        streams.tell_drawn("sklearn", stream)
        return streams.seed("sklearn", spelled(seed), stream)

    def _record(self, seed: Any, frame: FrameType) -> None:
        """One record for each estimator and line; those that an ensemble makes have their seeds from it."""
        estimator = ""
        owner: FrameType | None = frame
        while owner is not None and _module(owner).startswith(("sklearn", "joblib")):
            if owner is not frame and _module(owner).startswith("sklearn.ensemble"):
                return
            if "self" in owner.f_locals and not estimator:
                estimator = "%s." % type(owner.f_locals["self"]).__name__
            owner = owner.f_back
        call = "%srandom_state" % estimator
        key = (call, *self.guest.project.nearest(frame))
        if key not in self.seen:
            self.seen.add(key)
            self.guest.streams.tell_drawn("sklearn", self.guest.streams.now)
            self.guest.seeding.record("sklearn.%s" % call, seed)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))
