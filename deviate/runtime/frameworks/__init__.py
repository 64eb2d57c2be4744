"""Adapters: one file per framework, each handed its module once the script has imported it.

An adapter is a module with `MODULES`, the names whose import it waits for, and `attach(module, guest)`.
"""

from . import jax, keras, numpy, pytorch, random, sklearn, tensorflow

ADAPTERS = (random, numpy, pytorch, tensorflow, keras, jax, sklearn)
