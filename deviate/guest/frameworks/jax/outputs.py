"""JAX: extracts the part of a compiled function that computes the outputs of a model, and classifies arguments.

While a function is traced, inputs and outputs of models are given names, which add no operation to the compiled
program.
"""

from __future__ import annotations

import sys

from ...annotations import TYPE_CHECKING, Any
from ...observers.rows import LABELS, size_of
from .trees import has_rows

if TYPE_CHECKING:
    from .trees import Shape

OUTPUTS, INPUTS = "deviate.outputs", "deviate.inputs"
NAMING = "name"
"""What JAX calls the primitive that gives a name."""


class Part:
    """The part of a compiled function that computes the outputs."""

    def __init__(self, run: Any, used: list[bool], n_inputs: int, input_places: list[int]) -> None:
        self.run = run
        self.used = used
        self.n_inputs = n_inputs
        self.input_places = input_places
        """Places of the inputs of the model among the arguments, where they are arguments."""

    def run_on(self, flat: list[Any]) -> Any:
        """Results of the part for arguments of the function: inputs of the model, with its outputs last."""
        return self.run(*[leaf for leaf, is_used in zip(flat, self.used) if is_used])


class Call:
    """A call of a function with such a part."""

    def __init__(self, part: Part, flat: list[Any], beside: list[tuple[str, Any]], sizes: set[tuple[int, ...]]) -> None:
        self.part = part
        self.flat = flat
        self.names = [name for name, _ in beside]
        self.beside = [leaf for _, leaf in beside]
        """Arguments that may be data or labels."""
        self.sizes = sizes
        self.place: Any = None
        self.shape: Shape | None = None
        self.inputs = [flat[place] for place in part.input_places]
        self.size = sum(size_of(each) for each in self._arrays())
        """Bytes of its inputs, about."""

    def _arrays(self) -> list[Any]:
        """The inputs of the model, or arrays that they may be made from."""
        return self.inputs or [leaf for leaf in data_of(self.beside, self.sizes, None) if leaf.ndim > 1]

    @property
    def data(self) -> Any:
        """The first of these arrays; None if there is none."""
        return next(iter(self._arrays()), None)

    def labels(self, outputs: Any) -> Any:
        arrays = self._arrays()
        labels = labels_of(
            self.names, self.beside, outputs, {id(leaf) for leaf in arrays if leaf.shape != outputs.shape}
        )
        return labels if all(labels is not leaf for leaf in self.inputs) else None


def tag_arrays(tree: Any, name: str, is_leaf: Any = None) -> Any:
    """A tree whose traced arrays have a name.

    Args:
        is_leaf: what is left as it is, where not every node of a tree may be made anew.
    """
    jax = sys.modules["jax"]
    tag: Any = sys.modules["jax._src.ad_checkpoint"].checkpoint_name

    def one(leaf: Any) -> Any:
        return tag(leaf, name) if isinstance(leaf, jax.core.Tracer) else leaf

    return jax.tree_util.tree_map(one, tree, is_leaf=is_leaf)


def leading(closed: Any, n_given: int) -> Part | str | None:
    """Extract the part from a traced function; no code of the script runs again.

    Returns:
        None where no model is called in it; why there is none where one is.
    """
    jax: Any = sys.modules["jax"]
    partial_eval: Any = sys.modules["jax._src.interpreters.partial_eval"]
    by_name: dict[str, list[Any]] = {OUTPUTS: [], INPUTS: []}
    for operation in closed.jaxpr.eqns:
        if operation.primitive.name == NAMING:
            by_name.get(operation.params["name"], []).append(operation)
    if not by_name[OUTPUTS]:
        return None
    if len(closed.jaxpr.invars) != n_given:
        return "arguments of a compiled function are no arrays"
    inputs, outputs = by_name[INPUTS], by_name[OUTPUTS][0]
    places = {id(variable): place for place, variable in enumerate(closed.jaxpr.invars)}
    input_places = [places[id(each.invars[0])] for each in inputs if id(each.invars[0]) in places]
    wanted = [each.outvars[0] for each in (*inputs, outputs)]
    debug_info = closed.jaxpr.debug_info
    whole = closed.jaxpr.replace(
        outvars=wanted, debug_info=debug_info._replace(result_paths=None) if debug_info else debug_info
    )
    jaxpr, used = partial_eval.dce_jaxpr(whole, [True] * len(wanted))[:2]
    if jaxpr.effects:
        return "a function with side effects is not called twice"
    run = jax.jit(lambda *arrays: jax.core.eval_jaxpr(jaxpr, closed.consts, *arrays))
    return Part(run, list(used), len(inputs), input_places)


def data_of(flat: Any, sizes: set[tuple[int, ...]], rows: int | None) -> list[Any]:
    """Arguments with rows (`n` rows if given) that do not have the shape of weights."""
    arrays = [leaf for leaf in flat if has_rows(leaf) and tuple(leaf.shape) not in sizes]
    return [leaf for leaf in arrays if rows is None or leaf.shape[0] == rows]


def labels_of(names: Any, flat: Any, outputs: Any, input_ids: set[int]) -> Any:
    """The labels in the arguments: by name, or the only integer array that is not an input."""
    rows = outputs.shape[0] if outputs.ndim else -1
    is_label = [
        id(leaf) not in input_ids
        and has_rows(leaf)
        and leaf.shape[0] == rows
        and (leaf.ndim == 1 or leaf.shape == outputs.shape or leaf.shape[1:] == (1,))
        for leaf in flat
    ]
    chosen = [(name, leaf) for name, leaf, is_chosen in zip(names, flat, is_label) if is_chosen]
    by_name = [leaf for name, leaf in chosen if name.rpartition("/")[2] in LABELS]
    whole = [leaf for _, leaf in chosen if leaf.dtype.kind in "iu"]
    for candidates in (by_name, whole, [leaf for _, leaf in chosen]):
        if len(candidates) == 1:
            return candidates[0]
    return None
