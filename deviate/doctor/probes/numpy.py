"""Facts about NumPy: its linear algebra library with its threads, and vector instructions."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {
    "shuffle": ["random.shuffle", "random.permutation"],
    "split": ["random.shuffle", "random.permutation"],
    "other": ["random.get_state", "random.set_state", "random.seed", "random.default_rng"],
}


def look(numpy: Any, notes: Any) -> None:
    notes.attempt("build", lambda: _build(numpy))
    notes.attempt("pools", _pools)


def _build(numpy: Any) -> str:
    facts = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{facts['name']} {facts['version']}"


def _pools() -> list[dict[str, Any]]:
    """Thread pools of loaded libraries, if threadpoolctl is installed."""
    return [
        {"library": pool["internal_api"], "threads": pool["num_threads"], "core": pool.get("architecture")}
        for pool in importlib.import_module("threadpoolctl").threadpool_info()
    ]
