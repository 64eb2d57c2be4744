"""Adapters: one file per framework, each handed its module once the script has imported it.

An adapter is a module with `MODULES`, the names whose import it waits for, and `attach(module, guest)`.
"""

from . import (
    entropy,
    flax,
    haiku,
    hdf5,
    importing,
    jax,
    keras,
    lightning,
    numpy,
    optax,
    pytorch,
    random,
    sklearn,
    tensor_files,
    tensorflow,
    transformers,
)

ADAPTERS = (
    random,
    entropy,
    importing,
    numpy,
    pytorch,
    tensorflow,
    keras,
    jax,
    flax,
    haiku,
    optax,
    sklearn,
    transformers,
    lightning,
    hdf5,
    tensor_files,
)
