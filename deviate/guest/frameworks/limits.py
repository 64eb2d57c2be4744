"""Observers that do not work over a framework, each with the reason: the table of docs/reference/observers.md.

`tests/guest/contract` runs every observer over every framework, and holds each entry to the facts: what is declared
here must not work, all else must. No run loads this module.
"""

from __future__ import annotations

from .sklearn.proof import NO_WEIGHTS
from .sklearn.trace import WHOLE

WEIGHT_HASH = "weight hash"
EVALUATION_HASH = "evaluation hash"
ONE_BIT = "one bit"
PREDICTIONS = "predictions"
WEIGHTS = "weights"
AUGMENTATION = "test-time augmentation"
EVIDENCE = (WEIGHT_HASH, EVALUATION_HASH, ONE_BIT, PREDICTIONS, WEIGHTS, AUGMENTATION)
"""Observers of any run."""

LOSS = "loss"
STATES = "generator states"
INITIAL_WEIGHTS = "initial weights"
BATCHES = "batches"
GRADIENTS = "gradients"
UPDATES = "hash of each step"
MODULE_OUTPUTS = "modules"
TRACE = {LOSS: 1, STATES: 2, INITIAL_WEIGHTS: 2, BATCHES: 2, GRADIENTS: 2, UPDATES: 2, MODULE_OUTPUTS: 3}
"""What a trace records of a training step, and from which level on."""

OWN_FUNCTION = "models of Flax and Haiku are called again with augmented images, a function of the script is not"
NO_IMAGES = "an estimator is given rows of a table, which do not say what height and width of an image are"
IN_A_PROGRAM = "a compiled function is one program: what is computed inside it never leaves it"
IN_A_GRAPH = "a `tf.function` calls the model once, without data, when its graph is built"
NO_MODEL = "data is hashed where the models of Flax linen and Haiku are called; here a function of the script is called"
NNX_MODEL = "data is hashed where the models of Flax linen and Haiku are called; a call of an nnx model is not observed"

COMPILED = {GRADIENTS: IN_A_PROGRAM, MODULE_OUTPUTS: IN_A_PROGRAM}
LIMITS: dict[str, dict[str, str]] = {
    "PyTorch": {},
    "Lightning": {},
    "Transformers": {},
    "Keras on TensorFlow": COMPILED,
    "Keras on JAX": COMPILED,
    "Keras on PyTorch": {},
    "TensorFlow": {EVALUATION_HASH: IN_A_GRAPH, **COMPILED},
    "Flax linen": COMPILED,
    "Flax nnx": {EVALUATION_HASH: NNX_MODEL, **COMPILED},
    "Haiku": COMPILED,
    "JAX with Optax": {EVALUATION_HASH: NO_MODEL, AUGMENTATION: OWN_FUNCTION, **COMPILED},
    "scikit-learn": {ONE_BIT: NO_WEIGHTS, AUGMENTATION: NO_IMAGES, GRADIENTS: WHOLE, MODULE_OUTPUTS: WHOLE},
}
"""Reasons by framework and observer. Where several frameworks share an adapter, each is a row of its own."""
