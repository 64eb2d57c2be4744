"""Processes of PyTorch that train together."""

from __future__ import annotations

import os

from ...annotations import Any
from ...observers.capture import PREDICTIONS


class Ranks:
    """The place of this process among those that train together. They hold the same weights, and each its examples."""

    def __init__(self, torch: Any, capture: Any) -> None:
        self.distributed = getattr(torch, "distributed", None)
        self.capture = capture
        self.group_place: tuple[int, int] | None = None
        self.has_shared = False

    def place(self) -> tuple[int, int]:
        """The rank, and how many there are: as the script's group says, also once it is no more; else the launcher."""
        distributed = self.distributed
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            self.group_place = distributed.get_rank(), distributed.get_world_size()
        return self.group_place or _launcher_place()

    def is_keeping(self) -> bool:
        """Whether this process keeps its examples: each does whose events tell its rank, by which files are joined."""
        rank, size = self.place()
        if size == 1:
            return True
        if os.environ.get("RANK") != str(rank):
            if rank == 0:
                reason = "of %d processes only the first one's examples are kept" % size
                self.capture.refuse(PREDICTIONS, "torch.distributed", reason)
            return rank == 0
        if not self.has_shared:
            self.has_shared = True
            self.capture.left //= 2 if rank == 0 else 2 * (size - 1)  # the limit is one for the run
        return True


def _launcher_place() -> tuple[int, int]:
    """The rank and the number of ranks that a launcher gave; variables of that name may also be somebody else's."""
    rank, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if rank.isdigit() and size.isdigit() and int(rank) < int(size):
        return int(rank), int(size)
    return 0, 1
