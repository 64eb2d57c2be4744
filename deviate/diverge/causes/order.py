"""Causes in undefined orders: of sets, files, results and work, and in timing."""

import functools
import re

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, cause, format_places, here, source_match
from deviate.diverge.findings import MADE, Certainty, Difference

ENDED = "process ended"
"""Part of `Difference.instead` if the process of a run had ended."""
HASH_SEED = "variable PYTHONHASHSEED"
CLOCK = re.compile(
    r"(?<![\w.])(?:time\.time|time\.time_ns|(?:time\.)?(?:monotonic|perf_counter|process_time|thread_time)(?:_ns)?"
    r"|(?:datetime\.)?datetime\.(?:now|utcnow|today)|(?:os\.)?getpid|id)\("
)
"""Calls whose value differs between runs, by name only: other functions may have these names."""
ADDRESS = "id("
"""Used mostly as a key, not in training."""
LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|#.*")

ORDER: list[KnownCause] = []
order_cause = functools.partial(cause, ORDER, "order")
timing_cause = functools.partial(cause, ORDER, "timing")


@order_cause(
    "hash-order", phases=(*MADE, "forward", "program"), holds=("hash",), environment=(("PYTHONHASHSEED", "0"),)
)
def hash_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The order of a set, or a number computed with hash().

    Python salts the hashes of strings in each process, and a set iterates in the order of hashes. Indices of classes,
    words or folds computed from it differ between runs.

    Signs: the hash seed is not held, the source iterates over a set or computes with `hash()`, and a batch or an order
        differs first; at most possible for initial weights
    Cure: sort the set; use a checksum for numbers; or fix the hash seed
    Code: classes = sorted(set(labels))  # or PYTHONHASHSEED=0 python train.py
    Source: https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED
    """
    seeds = evidence.fact(HASH_SEED)
    is_fixed = evidence.is_held("hash") or (seeds[0] == seeds[1] and seeds[0] not in {"", "random"})
    if is_fixed:
        return None
    certainty: Certainty = "likely" if difference.phase in ("order", "data") else "possible"
    why = "the hash seed of Python differs between runs, and an order depends on it"
    return source_match(evidence, ("set-order", "hash-value"), why, certainty, is_circumstance=True)


@order_cause("address-order", phases=MADE)
def address_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A set of objects, ordered by their addresses.

    Objects without their own `__hash__` hash by memory address, which no variable fixes.

    Signs: the hash seed is held, the source iterates over a set, and a batch or an order differs first
    Cure: sort by an attribute of the objects, or use a dict or a list
    Code: sorted(nodes, key=lambda node: node.name)
    Source: https://docs.python.org/3/reference/datamodel.html#object.__hash__
    """
    if not evidence.is_held("hash"):
        return None
    why = "the hash seed is held, but objects in a set are ordered by their addresses"
    return source_match(evidence, ("set-order", "hash-value"), why)


@order_cause("file-order", phases=("order", "data", "initial"))
def file_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Files in the order of the file system.

    `os.listdir`, `glob` and `scandir` guarantee no order. In a test, tmpfs listed files in the order of their creation;
    ext4 listed three copies created in different orders alike. Another file system or disk may use a different order.

    Signs: the source reads files in that order, and the order of examples, or a batch, differs first
    Cure: sort the file names
    Code: names = sorted(os.listdir(folder))
    Source: https://docs.python.org/3/library/os.html#os.listdir
    """
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    order = "the order of examples differs" if difference.phase == "order" else "loaded data differ first"
    why = "files are read in the order of the file system"
    return source_match(evidence, ("file-order",), why, certainty, order, is_circumstance=True)


@timing_cause("unordered-results", phases=("order", "data", "random", "initial"))
def unordered_results(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Results of parallel work in order of completion.

    `as_completed`, `imap_unordered`, queues of several threads and unordered pipelines return results in the order in
    which they are ready.

    Signs: the source collects results this way, and the order of examples, or a batch, differs first
    Cure: collect results in the order of submission
    Code: results = list(pool.map(load, names))  # not as_completed, not imap_unordered
    Source: https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed
    """
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    why = "results are collected in order of completion"
    return source_match(evidence, ("unordered-results",), why, certainty, is_circumstance=True)


@timing_cause("shared-weights", phases=("initial", "forward", "loss", "backward", "update"))
def shared_weights(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Weights that several processes or threads write without a lock.

    The order of updates is a race.

    Signs: the source trains a shared model in several processes, or word vectors in several threads; the forward pass
        or the update differs first, and nothing else is likely
    Cure: train in one process, or combine gradients before each update
    Source: https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#asynchronous-multiprocess-training-e-g-hogwild
    """
    # Another process is involved if weights changed without an update, or differently with equal gradients.
    certainty: Certainty = "likely" if difference.phase in ("forward", "update") else "possible"
    why = "the source lets several processes or threads write the weights without a lock"
    return source_match(evidence, ("shared-memory", "word-vectors"), why, certainty, is_circumstance=True)


@timing_cause("time-limit", phases=("program", "metric", "update"))
def time_limit(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Training that ends at a time limit.

    The number of steps within a time depends on the load of the machine.

    Signs: the runs made different numbers of updates, and the source stops at a time limit
    Cure: limit steps instead of seconds
    Code: for step in range(n_steps): …  # not while time.time() < end
    Source: https://docs.python.org/3/library/time.html#time.monotonic
    """
    counts = evidence.n_steps
    if counts is None or counts[0] == counts[1]:
        return source_match(evidence, ("time-limit",), "the source stops at a time limit")
    is_end = ENDED in difference.instead or difference.step is None or difference.step >= min(counts) - 1
    why = f"{evidence.runs[0]} made {counts[0]} updates and {evidence.runs[1]} {counts[1]}"
    if not is_end:
        return None
    whole = f"{why}, equal up to that point, and the source stops at a time limit"
    return source_match(evidence, ("time-limit",), whole, "certain") or CauseMatch("possible", why)


@timing_cause("clock")
def clock(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A value of the clock, a process id or a memory address.

    The time, process ids and addresses of objects differ between runs, and so do values computed from them.

    Signs: the line where the runs diverge calls `time.time()`, `perf_counter()`, `datetime.now()`, `getpid()`, `id()`
        or the like, and weights, a batch or a result differ there first
    Cure: do not use it in training, or pass it as an argument of the script
    Code: parser.add_argument("--begin", type=float)  # not time.time()
    Source: https://docs.python.org/3/library/time.html#time.time
    """
    # A clock in a line that reports a metric usually just accompanies it.
    clock = CLOCK.search(LITERAL.sub("", difference.place.text)) if difference.place is not None else None
    is_about_numbers = difference.rung != "metrics" and difference.phase not in ("metric", "program", "order", "random")
    if clock is None or difference.only_in is not None or not is_about_numbers:
        return None
    why = f"the line where the runs diverge calls {clock[0].rstrip('(')}{format_places(here(difference))}"
    return CauseMatch("possible" if clock[0] == ADDRESS else "likely", why, here(difference), is_circumstance=True)
