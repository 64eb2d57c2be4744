"""Causes in undefined orders: of sets, files, results and work, and in timing."""

import functools
import re

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, cause, format_places, here, source_match
from deviate.diverge.findings import MADE, Certainty, Difference

ENDED = "process ended"
"""In what a run did instead, where it was at its end."""
HASH_SEED = "variable PYTHONHASHSEED"
CLOCK = re.compile(
    r"(?<![\w.])(?:time\.time|time\.time_ns|(?:time\.)?(?:monotonic|perf_counter|process_time|thread_time)(?:_ns)?"
    r"|(?:datetime\.)?datetime\.(?:now|utcnow|today)|(?:os\.)?getpid|id)\("
)
"""Calls whose number is another one in each run. Names are all there is to go by: other things may be called so."""
ADDRESS = "id("
"""Mostly a key under which something is kept, and no number that training sees."""
LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|#.*")

ORDER: list[KnownCause] = []
order_cause = functools.partial(cause, ORDER, "order")
timing_cause = functools.partial(cause, ORDER, "timing")


@order_cause(
    "hash-order", phases=(*MADE, "forward", "program"), holds=("hash",), environment=(("PYTHONHASHSEED", "0"),)
)
def hash_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The order of a set, or a number made by hash().

    Python salts the hash of texts in each process, and sets of texts stand in the order of their hashes: numbers of
    classes, words or folds made from it are others in each run.

    Signs: the hash seed is not held, the source takes items out of a set or calculates with `hash()`, and a batch or an
        order differs first; of initial weights it is possible and no more
    Cure: sort the set; for numbers take a checksum; or fix the hash seed
    Code: classes = sorted(set(labels))  # or PYTHONHASHSEED=0 python train.py
    Source: https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED
    """
    seeds = evidence.fact(HASH_SEED)
    is_fixed = evidence.is_held("hash") or (seeds[0] == seeds[1] and seeds[0] not in {"", "random"})
    if is_fixed:
        return None
    certainty: Certainty = "likely" if difference.phase in ("order", "data") else "possible"
    why = "the hash seed of Python is another in each run, and an order follows it"
    return source_match(evidence, ("set-order", "hash-value"), why, certainty, is_circumstance=True)


@order_cause("address-order", phases=MADE)
def address_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A set of objects, in the order of their addresses.

    Objects without a `__hash__` of their own hash by their address in memory, which no variable fixes.

    Signs: the hash seed is held, the source takes items out of a set, and a batch or an order differs first
    Cure: sort by something that is in the object, or use a dict or a list
    Code: sorted(nodes, key=lambda node: node.name)
    Source: https://docs.python.org/3/reference/datamodel.html#object.__hash__
    """
    if not evidence.is_held("hash"):
        return None
    why = "the hash seed is held, but objects in a set stand in the order of their addresses"
    return source_match(evidence, ("set-order", "hash-value"), why)


@order_cause("file-order", phases=("order", "data", "initial"))
def file_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Files in the order in which the file system gives them.

    `os.listdir`, `glob` and `scandir` promise no order. On a file system in memory (tmpfs) it was seen to follow from
    how the folder was filled; on ext4 three copies that were filled in other orders were listed alike. Another file
    system or another disk may list them in another order.

    Signs: the source takes files in that order, and the order of examples, or a batch, differs first
    Cure: sort the names of files
    Code: names = sorted(os.listdir(folder))
    Source: https://docs.python.org/3/library/os.html#os.listdir
    """
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    order = "examples stand in another order" if difference.phase == "order" else "what is loaded differs first"
    why = "files are taken in the order of the file system"
    return source_match(evidence, ("file-order",), why, certainty, order, is_circumstance=True)


@timing_cause("unordered-results", phases=("order", "data", "random", "initial"))
def unordered_results(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Results in the order in which parallel work is done.

    `as_completed`, `imap_unordered`, queues of several threads and unordered pipelines give results in the order in
    which they are ready.

    Signs: the source takes results so, and the order of examples, or a batch, differs first
    Cure: take them in the order of the work
    Code: results = list(pool.map(load, names))  # not as_completed, not imap_unordered
    Source: https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed
    """
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    why = "results are taken in the order in which work is done"
    return source_match(evidence, ("unordered-results",), why, certainty, is_circumstance=True)


@timing_cause("shared-weights", phases=("initial", "forward", "loss", "backward", "update"))
def shared_weights(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Weights that several processes or threads write without a lock.

    Which update comes first is a race.

    Signs: the source shares a model in memory and trains it in several processes, or trains word vectors in several
        threads; the forward pass or the update differs first, and nothing else is likely
    Cure: train in one process, or add up gradients before each update
    Source: https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#asynchronous-multiprocess-training-e-g-hogwild
    """
    # Another process is involved if weights changed without an update, or differently with equal gradients.
    certainty: Certainty = "likely" if difference.phase in ("forward", "update") else "possible"
    why = "the source lets several processes or threads write the weights without a lock"
    return source_match(evidence, ("shared-memory", "word-vectors"), why, certainty, is_circumstance=True)


@timing_cause("time-limit", phases=("program", "metric", "update"))
def time_limit(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Training that ends when its time is up.

    How many steps fit into a time depends on what else the machine does.

    Signs: the runs made different numbers of updates, and the source stops by the clock
    Cure: count steps instead of seconds
    Code: for step in range(n_steps): …  # not while time.time() < end
    Source: https://docs.python.org/3/library/time.html#time.monotonic
    """
    counts = evidence.n_steps
    if counts is None or counts[0] == counts[1]:
        return source_match(evidence, ("time-limit",), "the source stops by the clock")
    is_end = ENDED in difference.instead or difference.step is None or difference.step >= min(counts) - 1
    why = f"{evidence.runs[0]} made {counts[0]} updates and {evidence.runs[1]} {counts[1]}"
    if not is_end:
        return None
    whole = f"{why}, equal up to there, and the source stops by the clock"
    return source_match(evidence, ("time-limit",), whole, "certain") or CauseMatch("possible", why)


@timing_cause("clock")
def clock(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A number of the clock, of the process or of memory.

    The time, the number of a process and the address of an object are others in each run. What is computed from them is
    too.

    Signs: the line where the runs part calls `time.time()`, `perf_counter()`, `datetime.now()`, `getpid()`, `id()` or
        the like, and weights, a batch or a result differ there first
    Cure: leave it out of what training sees, or hand it in as an argument of the script
    Code: parser.add_argument("--begin", type=float)  # not time.time()
    Source: https://docs.python.org/3/library/time.html#time.time
    """
    # A clock in a line that reports a metric usually just accompanies it.
    clock = CLOCK.search(LITERAL.sub("", difference.place.text)) if difference.place is not None else None
    is_about_numbers = difference.rung != "metrics" and difference.phase not in ("metric", "program", "order", "random")
    if clock is None or difference.only_in is not None or not is_about_numbers:
        return None
    why = f"the line where the runs part calls {clock[0].rstrip('(')}{format_places(here(difference))}"
    return CauseMatch("possible" if clock[0] == ADDRESS else "likely", why, here(difference), is_circumstance=True)
