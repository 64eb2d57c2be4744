"""Replaces functions of PyTorch temporarily."""

from __future__ import annotations

from ...annotations import Any, Callable
from ...seeds import wraps_like

IN_C = (
    "cross_entropy_loss", "nll_loss_nd", "nll_loss", "nll_loss2d", "binary_cross_entropy", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss", "multi_margin_loss", "soft_margin_loss",
)  # fmt: skip
"""Of `torch._C._nn`, whose first two arguments are the output and the labels. Source: torch/nn/functional.py."""
IN_TORCH = ("binary_cross_entropy_with_logits", "poisson_nll_loss")


class Replaced:
    """Replaces functions and restores them; functions that others have replaced meanwhile are left alone.

    Attributes:
        is_in_place: whether they are.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[Any, str, Any, Any]] = []
        self.is_in_place = False

    def add(self, owner: Any, name: str, make: Callable[[Any], Any]) -> Any:
        """Add a function, if it exists; `make` returns its replacement. Returns the replacement."""
        original = getattr(owner, name, None)
        if original is None:
            return None
        self.entries.append((owner, name, original, wraps_like(make(original), original)))
        return self.entries[-1][-1]

    def add_losses(self, torch: Any, make: Callable[[Any], Any]) -> None:
        """Add the loss functions that `torch.nn.functional` calls in C."""
        for owner, names in ((torch._C._nn, IN_C), (torch, IN_TORCH)):
            for name in names:
                register_builtin(torch, self.add(owner, name, make), name)

    def put_in(self) -> None:
        if not self.is_in_place:
            self.is_in_place = True
            for owner, name, _, wrapper in self.entries:
                setattr(owner, name, wrapper)

    def take_out(self) -> None:
        if self.is_in_place:
            self.is_in_place = False
            for owner, name, original, wrapper in self.entries:
                if getattr(owner, name, None) is wrapper:
                    setattr(owner, name, original)


def register_builtin(torch: Any, wrapper: Any, name: str) -> None:
    """Register a wrapper as equivalent to its original in torch.jit, which collects the originals at start-up."""
    register = getattr(getattr(torch.jit, "_builtins", None), "_register_builtin", None)
    if register is not None and wrapper is not None:
        register(wrapper, "aten::" + name)
