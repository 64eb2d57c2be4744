"""Adapters: one file per framework, each handed its module once the script has imported it.

An adapter is a module with `MODULES`, the names whose import it waits for, and `attach(module, guest)`.
"""

from . import entropy, jax, keras, lightning, numpy, pytorch, random, sklearn, tensorflow, transformers

ADAPTERS = (random, entropy, numpy, pytorch, tensorflow, keras, jax, sklearn, transformers, lightning)
