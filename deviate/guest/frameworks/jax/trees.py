"""JAX pytrees: their structure, subtrees, and names of leaves; and arrays of JAX as observers read and change them."""

from __future__ import annotations

import sys
from functools import partial

from ...annotations import TYPE_CHECKING, Any, Array, Iterator
from ...observers.arrays import Arrays, array_of
from ...observers.steps import buffer

if TYPE_CHECKING:
    Shape = tuple[Any, tuple[tuple[int, ...], ...]]
    """Structure of a tree, and the shapes of its leaves."""


def shape_of(tree: Any) -> Shape:
    """Structure and shapes of a pytree of arrays or tracers."""
    leaves, structure = _util().tree_flatten(tree)
    return structure, tuple(tuple(getattr(leaf, "shape", ())) for leaf in leaves)


def is_tree(shape: Shape) -> bool:
    """Whether a pytree has several leaves, as a single array may be anything."""
    return len(shape[1]) > 1


def subtrees_like(tree: Any, shape: Shape) -> list[Any]:
    """Subtrees of this structure in another tree, in order, except those inside an Optax optimizer state.

    A leading dimension for the devices of `pmap` is ignored.
    """
    return [part for _, part in places(tree, shape)]


def places(tree: Any, shape: Shape, way: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Such subtrees with their paths: the index of the branch at each node."""
    util = _util()
    if _is_of_optax(tree):
        return
    structure, shapes = shape_of(tree)
    if structure == shape[0] and (shapes == shape[1] or tuple(sizes[1:] for sizes in shapes) == shape[1]):
        yield way, tree
        return
    if structure.num_leaves < shape[0].num_leaves or util.treedef_is_leaf(structure):
        return
    for number, branch in enumerate(branches(tree)):
        yield from places(branch, shape, (*way, number))


def weights_in(tree: Any, shapes: list[Shape]) -> list[Any]:
    """Subtrees of these structures, except those of a single leaf."""
    return [part for shape in shapes if is_tree(shape) for part in subtrees_like(tree, shape)]


def optax_states(tree: Any) -> list[Any]:
    """The states of Optax optimizers in a tree."""
    return [node for node in _util().tree_leaves(tree, is_leaf=_is_of_optax) if _is_of_optax(node)]


def leaf_ids(trees: list[Any]) -> set[int]:
    return {id(leaf) for leaf in _util().tree_leaves(trees)}


def _is_of_optax(node: Any) -> bool:
    return type(node).__module__.partition(".")[0] == "optax"


def branches(tree: Any) -> list[Any]:
    """The child trees of a node."""
    below: list[Any] = _util().tree_flatten(tree, is_leaf=lambda node: node is not tree)[0]
    return below


def part_of(tree: Any, way: tuple[int, ...]) -> Any:
    """The subtree at a path."""
    for number in way:
        tree = branches(tree)[number]
    return tree


def replace_part(tree: Any, way: tuple[int, ...], part: Any) -> Any:
    """The tree with the subtree at a path replaced."""
    if not way:
        return part
    util = _util()
    below, structure = util.tree_flatten(tree, is_leaf=lambda node: node is not tree)
    below[way[0]] = replace_part(below[way[0]], way[1:], part)
    return util.tree_unflatten(structure, below)


def replace_leaf(tree: Any, old: Any, new: Any, is_leaf: Any = None) -> Any:
    """The tree with one leaf replaced."""
    leaves, structure = _util().tree_flatten(tree, is_leaf=is_leaf)
    return _util().tree_unflatten(structure, [new if leaf is old else leaf for leaf in leaves])


def named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """Leaves of a tree, named by their keys, separated by slashes."""
    return [("/".join(map(_key, way)), leaf) for way, leaf in _util().tree_flatten_with_path(tree)[0]]


def first_leaf(tree: Any) -> Any:
    return named_leaves(tree)[0][1]


def _key(entry: Any) -> str:
    for attribute in ("key", "name", "idx"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def is_concrete(leaf: Any) -> bool:
    """Whether a leaf is an array with all its values in this process, on one device or several."""
    if type(leaf).__module__.partition(".")[0] == "numpy":
        return hasattr(leaf, "dtype")  # a scalar too
    return is_array(leaf) and bool(leaf.is_fully_addressable or leaf.is_fully_replicated)


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array of JAX with values in this process, which may be a part of them."""
    if isinstance(leaf, sys.modules["jax"].core.Tracer) or not hasattr(leaf, "is_deleted"):
        return False
    return not leaf.is_deleted() and hasattr(leaf.dtype, "char") and bool(leaf.sharding.addressable_devices)


def is_shared(leaf: Any) -> bool:
    """Whether other processes hold an array as well, or parts of it: all of them must call a function of it."""
    return not getattr(leaf, "is_fully_addressable", True)


def without_copies(tree: Any, shape: Shape) -> Any:
    """The tree without the dimension for the devices of `pmap`, if all devices have the same.

    Args:
        shape: of the tree on one device.
    """
    util = _util()
    leaves, structure = util.tree_flatten(tree)
    if tuple(tuple(leaf.shape) for leaf in leaves) == shape[1]:
        return tree
    numbers = [sys.modules["numpy"].asarray(leaf) for leaf in leaves]
    if any(copy.tobytes() != array[0].tobytes() for array in numbers for copy in array[1:]):
        return tree
    return util.tree_unflatten(structure, [array[0] for array in numbers])


def is_key(leaf: Any) -> bool:
    """Whether a leaf is a typed key (whose numbers JAX hides) that is not deleted."""
    jax = sys.modules["jax"]
    if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer):
        return False
    return not hasattr(leaf.dtype, "char") and not leaf.is_deleted()


def is_float(leaf: Any) -> bool:
    """Whether a leaf is of a floating-point type."""
    numpy = sys.modules["jax"].numpy
    return bool(numpy.issubdtype(leaf.dtype, numpy.floating))


def has_rows(leaf: Any) -> bool:
    """Whether a leaf is a numeric array with a first dimension."""
    return bool(getattr(leaf, "ndim", 0)) and hasattr(leaf.dtype, "kind")  # keys have none


def _util() -> Any:
    return sys.modules["jax"].tree_util


# ---------------------------------------------------------------- arrays


class Leaves(Arrays):
    """Arrays of JAX in this process."""

    def exact(self, array: Any) -> Array:
        return str(array.dtype), array.shape, partial(buffer if is_concrete(array) else _local_bytes, array)

    def plain(self, array: Any) -> Array:
        kind, _, data = array_of(array if array.ndim else array.reshape(1))
        return kind, array.shape, data

    def like(self, numbers: Any, array: Any) -> Any:
        if not hasattr(array, "sharding"):
            return numbers
        jax = sys.modules["jax"]
        if not is_shared(array):
            return jax.device_put(numbers, array.sharding)
        # The other function would ask the other processes whether they put the same.
        return jax.make_array_from_callback(array.shape, array.sharding, lambda index: numbers[index])


def _local_bytes(array: Any) -> bytes:
    """The bytes of those parts of an array that are in this process, each once, by their place in the array."""
    parts = {str(shard.index): shard for shard in array.addressable_shards}
    ordered = sorted(parts.values(), key=lambda shard: [part.start or 0 for part in shard.index])
    return b"".join(sys.modules["numpy"].asarray(shard.data).tobytes() for shard in ordered)
