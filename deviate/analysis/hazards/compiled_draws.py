"""Random numbers drawn in functions that Numba compiles."""

import libcst as cst

from deviate.analysis.hazards.names import draws_from
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.model.metric_vocabulary import word_set

COMPILERS = word_set("numba.jit numba.njit numba.vectorize numba.guvectorize numba.core.decorators.njit")
GLOBAL_SEEDERS = ("numpy.random.seed", "random.seed")


@hazard("compiled-draws", "seeds")
def compiled_draws(survey: Survey) -> Matches:
    """Random numbers drawn in functions that Numba compiles.

    Compiled code draws from generators of Numba's own, seeded from the operating system in each process and thread.
    `numpy.random.seed` in ordinary code does not reach them, nor does deviate.

    Example:
        import numpy as np
        from numba import njit
        @njit
        def walk(n):
            return np.random.normal(0.0, 1.0, n).sum()
        total = walk(100)

    Instead:
        import numpy as np
        from numba import njit
        @njit
        def walk(steps):
            return steps.sum()
        total = walk(np.random.normal(0.0, 1.0, 100))

    Source: Numba documentation, "Supported NumPy features", random: "Calling numpy.random.seed() from non-Numba
    code … will seed the NumPy random generator, not the Numba random generator".
    """
    if "numba" not in survey.graph.imported_packages:
        return
    for function in survey.functions:
        node, around = function.node, function.parent
        if not isinstance(node, cst.FunctionDef) or around is None:
            continue
        marks = [
            decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
            for decorator in node.decorators
        ]
        if not any(survey.resolver.qualified_name(mark, around) in COMPILERS for mark in marks):
            continue
        called = [(call, survey.resolver.qualified_name(call.func, function) or "") for call in function.calls]
        if not any(name in GLOBAL_SEEDERS for _, name in called):
            for call, name in called:
                if draws_from(name):
                    yield call, f"{name} draws from a generator of Numba's own here"
