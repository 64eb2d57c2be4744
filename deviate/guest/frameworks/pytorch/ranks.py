"""Processes of PyTorch that train together: the rank of each, as soon as its process group tells it."""

from __future__ import annotations

import sys

from ...adapter_context import AdapterContext
from ...annotations import Any

GROUPS = "torch.distributed"
BEGIN = "init_process_group"


def follow_groups(torch: Any, context: AdapterContext) -> None:
    """Record the rank when the script, or a library for it, makes the default process group."""
    distributed = torch.distributed
    original = getattr(distributed, BEGIN, None)
    if original is None:  # built without it
        return

    def record_rank(result: object, *args: Any, **kwargs: Any) -> None:
        context.recorder.set_rank(distributed.get_rank(), distributed.get_world_size())

    context.observe(distributed, BEGIN, after=record_rank)
    for name, module in list(sys.modules.items()):  # device meshes make the group by a name of their own
        if name.startswith(GROUPS) and vars(module).get(BEGIN) is original:
            setattr(module, BEGIN, getattr(distributed, BEGIN))
