"""Sources of difference that only a run shows: what enters a program from its surroundings."""

import inspect

from deviate.sources.catalogue import SOURCES, Source

ROWS = (
    (
        "environment-variable",
        ("environment",),
        "Values of environment variables that the script reads.",
        "A run in another shell, container or job can have other values.",
        "Python documentation of `os.environ`.",
    ),
    (
        "network-answer",
        ("network",),
        "Answers from the network.",
        "A server may answer differently each time, or not at all. Download data once, and read the file.",
        "Python documentation of `http.client`.",
    ),
    (
        "process-number",
        ("process-id",),
        "Numbers of processes and threads.",
        "The system gives others in each run. They matter where a seed, a name or an order is made from them.",
        "Python documentation of `os.getpid` and `threading.get_ident`.",
    ),
    (
        "memory-address",
        ("address",),
        "Addresses of objects: `id()`, and the hash and order of objects that define no hash.",
        "The system places memory at other addresses in each run. Define `__hash__`, or sort by a value.",
        "Python documentation of `id` and `object.__hash__`.",
    ),
)
for _name, _observed, _title, _reason, _reference in ROWS:
    SOURCES.add(_name, Source(_name, "state", f"{_title}\n\n{_reason}\n\nSource: {_reference}", observed=_observed))

SOURCES.add(
    "missing-seed",
    Source(
        "missing-seed",
        "seeds",
        inspect.cleandoc("""
            Random draws of a generator that the script never seeds.

            Python, NumPy and frameworks start their generators from the operating system, so weights, orders and
            splits differ in each run. Seed each library that draws, once, before the first draw. Every variant but
            `as-is` does.

            Source: Python documentation of `random.seed`; NumPy documentation of `numpy.random.seed`; PyTorch
            documentation, "Reproducibility".
        """),
        observed=("entropy",),
        held="algo",
        line="random.seed(0); numpy.random.seed(0); torch.manual_seed(0)",
    ),
)
