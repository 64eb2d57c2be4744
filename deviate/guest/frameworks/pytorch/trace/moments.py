"""Moments of a training with PyTorch that its trace is told of: backward passes, and steps of optimizers."""

from __future__ import annotations

import sys
from sys import _getframe

from ....seeds import dress
from ....trace_levels import STEPS
from ..generators import backward_check

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Callable

    from .tracer import Tracer


class Moments:
    """Tells the tracer, and is in place only while there is somebody to be told.

    Attributes:
        running: steps of optimizers that have begun, by id: one optimizer may call another.
    """

    def __init__(self, torch: Any, tracer: Tracer) -> None:
        self.torch = torch
        self.tracer = tracer
        self.is_in_backward = backward_check(torch)
        self.running: list[int] = []
        self.made: list[tuple[Any, str, Any, Any]] = []
        self.handles: list[Any] = []

    # ------------------------------------------------------------ what is in place

    def see(self) -> None:
        """Be told from now on."""
        autograd, optim = self.torch.autograd, sys.modules["torch.optim.optimizer"]
        for name, after in (("backward", self._after_backward), ("grad", self._after_grad)):
            original = getattr(autograd, name)
            self._put_in(autograd, name, original, dress(self._around(original, after), original))
        if hasattr(optim, "register_optimizer_step_post_hook"):
            self.handles.append(optim.register_optimizer_step_pre_hook(self._before_step))
            self.handles.append(optim.register_optimizer_step_post_hook(self._after_step))
        else:
            self._see_steps(self.torch.optim.Optimizer)

    def look_away(self) -> None:
        """Leave all as it was."""
        for owner, name, original, own in self.made:
            if getattr(owner, name, None) is own:
                setattr(owner, name, original)
        for handle in self.handles:
            handle.remove()
        self.made, self.handles = [], []

    def _put_in(self, owner: Any, name: str, original: Any, own: Any) -> None:
        self.made.append((owner, name, original, own))
        setattr(owner, name, own)

    def _see_steps(self, optimizer: Any) -> None:
        """In PyTorch 1, which has no such hooks: every optimizer has its step wrapped by this function."""
        make = optimizer._hook_for_profile

        def hook_for_profile(own: Any) -> None:
            make(own)
            cls = type(own)
            step = cls.step
            if getattr(step, "__deviate__", False):
                return

            def stepped(*args: Any, **kwargs: Any) -> Any:
                self._before_step(args[0], args, kwargs)
                result = step(*args, **kwargs)
                self._after_step(args[0], args, kwargs)
                return result

            stepped.hooked = True  # type: ignore[attr-defined]
            cls.step = dress(stepped, step)

        self._put_in(optimizer, "_hook_for_profile", make, hook_for_profile)

    # ------------------------------------------------------------ backward passes

    def _around(self, original: Any, after: Callable[[Any, Any, Any], None]) -> Any:
        tracer = self.tracer

        def call(*args: Any, **kwargs: Any) -> Any:
            if not tracer.is_home() or self.is_in_backward():
                return original(*args, **kwargs)
            losses = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
            tracer.guarded("a loss", tracer.begin_backward, losses, _getframe(1))
            result = original(*args, **kwargs)
            after(args, kwargs, result)
            return result

        return call

    def _after_backward(self, args: Any, kwargs: Any, result: Any) -> None:
        self.tracer.guarded("a backward pass", self.tracer.end_backward)

    def _after_grad(self, args: Any, kwargs: Any, result: Any) -> None:
        inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
        self.tracer.guarded("gradients", self.tracer.end_grad, inputs, result)

    # ------------------------------------------------------------ steps of optimizers

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        tracer, own = self.tracer, id(optimizer)
        if tracer.is_home():
            if own in self.running:  # an earlier step of it ended in an exception
                del self.running[self.running.index(own) :]
            self.running.append(own)
            if tracer.level >= STEPS and len(self.running) == 1 and not _has_closure(args, kwargs):
                tracer.guarded("gradients", tracer.begin_update, optimizer, _getframe(1))

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        tracer, own = self.tracer, id(optimizer)
        if own in self.running and tracer.is_home():
            del self.running[self.running.index(own) :]
            if not self.running:
                has_closure = _has_closure(args, kwargs)
                tracer.guarded("an update", tracer.end_update, optimizer, has_closure, _getframe(1))


def _has_closure(args: Any, kwargs: Any) -> bool:
    """Whether an optimizer computes the loss itself: the arguments are those of its step, with itself or without."""
    return any(callable(own) for own in (*args[1:2], kwargs.get("closure")))
