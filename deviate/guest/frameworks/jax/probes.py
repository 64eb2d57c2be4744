"""Probes in programs of JAX: a primitive that returns its argument, and passes it to the host when the program runs.

It has rules of its own for gradients and `vmap`, because callbacks of JAX have none that keep a value and its gradient
apart, or a batch together. It has no effects, so that it may stand wherever an addition may, as in `scan` and `remat`.
"""

from __future__ import annotations

import sys
from functools import partial

from ...annotations import Any
from ...observers.probes import Probe, Probes
from ...observers.steps import ObservedSteps
from .trees import is_concrete, named_leaves

SEVERAL = "programs for several devices have no probes, so nothing inside them is recorded"
NONE = "this version of JAX has no public interface for primitives, so nothing inside programs is recorded"
KINDS = "biufcV"
"""Kinds of NumPy types with numbers; bfloat16 is of kind V."""


class JaxProbes(Probes):
    """Inserts probes into what JAX traces.

    Attributes:
        is_updating: whether an optimizer is running.
    """

    def __init__(self, steps: ObservedSteps, framework: str) -> None:
        super().__init__(steps, framework)
        self.primitive: Any = None
        self.is_updating = False
        self.has_noted = False

    def begin(self) -> None:
        super().begin()
        if self.is_wanted and self.primitive is None:
            try:
                self.primitive = self._make()
            except (ImportError, AttributeError):
                self.is_wanted = self.is_open = False
                self.trace.note(self.framework, NONE)

    def wait(self, result: Any) -> None:
        """Wait until a program has ended: everything has arrived then."""
        if self.is_wanted:
            for _, leaf in named_leaves(result):
                if is_concrete(leaf) and hasattr(leaf, "block_until_ready"):
                    leaf.block_until_ready()

    def tree(self, tree: Any, place: int) -> Any:
        """Gradients in a tree, with a probe in each."""
        if not self.is_open:
            return tree
        leaves, rebuild = self.split(tree)
        numbers = [number for number, leaf in enumerate(leaves) if self.can_insert(leaf)]
        names = [name for name, _ in named_leaves(tree)]
        probed = self.gradients([names[number] for number in numbers], [leaves[number] for number in numbers], place)
        for number, leaf in zip(numbers, probed):
            leaves[number] = leaf
        return rebuild(leaves)

    # ------------------------------------------------------------ arrays

    def split(self, result: Any) -> tuple[list[Any], Any]:
        util = sys.modules["jax"].tree_util
        leaves, structure = util.tree_flatten(result)
        return leaves, partial(util.tree_unflatten, structure)

    def can_insert(self, array: Any) -> bool:
        is_traced = isinstance(array, sys.modules["jax"].core.Tracer)
        return is_traced and getattr(getattr(array, "dtype", None), "kind", "") in KINDS

    def insert(self, probe: Probe, array: Any) -> Any:
        probed = self.primitive.bind(array, probe=probe)
        mask = getattr(array, "_keras_mask", None)  # with which Keras marks arrays
        if mask is not None:
            probed._keras_mask = mask
        return probed

    # ------------------------------------------------------------ the primitive

    def _make(self) -> Any:
        """The primitive, and one for its tangents, whose transpose is the first one.

        Source: JAX documentation, "JAX Internals: primitives".
        """
        from importlib import import_module

        ad, batching, mlir = (import_module("jax.interpreters." + name) for name in ("ad", "batching", "mlir"))
        make: Any = import_module("jax.extend.core").Primitive
        value, tangent = make("deviate_probe"), make("deviate_probe_tangent")
        emit: Any = mlir.emit_python_callback

        def jvp(primals: Any, tangents: Any, *, probe: Probe) -> tuple[Any, Any]:
            (slope,) = tangents
            probed = value.bind(*primals, probe=probe)
            return probed, slope if type(slope) is ad.Zero else tangent.bind(slope, probe=probe)

        def transpose(slope: Any, *_: Any, probe: Probe) -> list[Any]:
            return [slope if type(slope) is ad.Zero else value.bind(slope, probe=probe.of_gradient)]

        def lower(context: Any, operand: Any, *, probe: Probe) -> list[Any]:
            module = context.module_context
            if _n_devices(module.axis_context) != 1:
                self._note_several()
                return [operand]

            def hand_out(array: Any) -> tuple[()]:
                self.receive(probe, array)
                return ()

            sink = context.replace(avals_out=[])
            _, _, keepalive = emit(sink, hand_out, None, [operand], context.avals_in, [], has_side_effect=True)
            module.add_keepalive(keepalive)
            return [operand]

        def now(array: Any, *, probe: Probe) -> Any:
            self.receive(probe, sys.modules["numpy"].asarray(array))
            return array

        value.def_impl(now)
        tangent.def_impl(lambda array, probe: array)
        ad.primitive_jvps[value] = jvp
        ad.deflinear2(tangent, transpose)
        mlir.register_lowering(value, lower)
        mlir.register_lowering(tangent, lambda context, operand, probe: [operand])
        for primitive in (value, tangent):
            primitive.def_abstract_eval(lambda shape, probe: shape)
            batching.primitive_batchers[primitive] = partial(_batch, primitive)
        return value

    def _note_several(self) -> None:
        if not self.has_noted:
            self.has_noted = True
            self.trace.note(self.framework, SEVERAL)


def _batch(primitive: Any, arrays: Any, axes: Any, *, probe: Probe) -> tuple[Any, Any]:
    """A batch is one value, with its axis where it is."""
    return primitive.bind(*arrays, probe=probe), axes[0]


def _n_devices(axes: Any) -> int:
    """Number of devices of a program, from what JAX knows of its axes."""
    if hasattr(axes, "num_devices"):
        return int(axes.num_devices or 1)
    if hasattr(axes, "mesh"):
        return int(axes.mesh.size)
    return int(getattr(getattr(axes, "axis_env", None), "nreps", 1))
