"""Arrays of JAX, as observers read and change them."""

from __future__ import annotations

import sys
from functools import partial

from ...annotations import Any, Array
from ...arrays import array_of
from ...observers.arrays import Arrays
from ...observers.steps import buffer


class Leaves(Arrays):
    """Arrays of JAX on this host."""

    def exact(self, array: Any) -> Array:
        return str(array.dtype), array.shape, partial(buffer, array)

    def plain(self, array: Any) -> Array:
        kind, _, data = array_of(array if array.ndim else array.reshape(1))
        return kind, array.shape, data

    def like(self, numbers: Any, array: Any) -> Any:
        return sys.modules["jax"].device_put(numbers, array.sharding) if hasattr(array, "sharding") else numbers
