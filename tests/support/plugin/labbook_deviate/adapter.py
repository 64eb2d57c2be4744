"""Adapter of lab books: a run whose book is closed says so on standard error."""

from __future__ import annotations

import sys
from typing import Any

from deviate.guest.seeds import wraps_like

MODULES = ("labbook",)


def install(module: Any, context: Any) -> None:
    close = module.Page.close

    def closed(page: Any) -> None:
        close(page)
        sys.stderr.write(f"closed in Python {sys.version_info[0]}.{sys.version_info[1]}\n")

    module.Page.close = wraps_like(closed, close)
