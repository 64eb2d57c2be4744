"""Causes in undefined orders: of sets, files, results and work, and in timing."""

import dataclasses
import functools
import re

from deviate.diverge.causes import (
    CauseMatch,
    Evidence,
    KnownCause,
    cause,
    format_places,
    hazards_named,
    here,
    source_match,
)
from deviate.diverge.causes.observed import has_other_names
from deviate.diverge.findings import MADE, Certainty, Difference, InputDifference

ENDED = "process ended"
"""Part of `Difference.instead` if the process of a run had ended."""
HASH_SEED = "variable PYTHONHASHSEED"
CLOCK = re.compile(
    r"(?<![\w.])(?:time\.time|time\.time_ns|(?:time\.)?(?:monotonic|perf_counter|process_time|thread_time)(?:_ns)?"
    r"|(?:datetime\.)?datetime\.(?:now|utcnow|today))\("
)
"""Calls that read a clock, by name only: other functions may have these names."""
PROCESS = re.compile(r"(?<![\w.])(?:os\.)?(?:getpid|getppid|get_ident|get_native_id)\(")
ADDRESS = re.compile(r"(?<![\w.])id\(")
SET_HAZARDS = ("set-order", "hash-value")
SET_EXPRESSION = re.compile(
    r"(?:list|tuple|enumerate)\((?P<set>[^()]*(?:\([^()]*\))?[^()]*)\)|[\w.]+|set\([^()]*\)|\{.*\}"
)
"""Expressions that `sorted` can be put around."""
ORDERED = {
    "imap_unordered": "results = pool.imap(work, items)  # not imap_unordered",
    "Queue": "results[number] = result  # with the number of the item, which the worker passes on",
    "as_completed": "for job in jobs:  # not as_completed(jobs); job.result() waits",
    "in_order": "DataLoader(…, in_order=True)",
    "return_as": 'Parallel(…, return_as="generator")',
    "deterministic": "deterministic=True",
}
"""Parts of calls that give results in order of completion, and code that gives them in order of submission."""
LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|#.*")

ORDER: list[KnownCause] = []
order_cause = functools.partial(cause, ORDER, "order")
timing_cause = functools.partial(cause, ORDER, "timing")


def is_hash_held(evidence: Evidence) -> bool:
    """Whether both runs have the same hash seed."""
    seeds = evidence.fact(HASH_SEED)
    return evidence.is_held("hash") or (seeds[0] == seeds[1] and seeds[0] not in {"", "random"})


def _is_by_text(_: InputDifference, evidence: Evidence) -> bool:
    return not is_hash_held(evidence)


def _is_by_address(_: InputDifference, evidence: Evidence) -> bool:
    return is_hash_held(evidence)


def _is_another_order(item: InputDifference, _: Evidence) -> bool:
    return not has_other_names(item)


def _sorted_call(item: InputDifference) -> str:
    """The call in `sorted`; empty if its text is cut off."""
    return _sorted(item.call) if item.call.endswith(")") and "..." not in item.call else ""


def _sorted(code: str) -> str:
    """A listing in the order of its names."""
    if "scandir" in code:
        return f"sorted({code}, key=lambda entry: entry.name)"  # entries cannot be compared
    if "walk" in code:
        return f"for folder, folders, names in {code}:\n    folders.sort()\n    names.sort()"
    return f"sorted({code})"


def _is_limit(item: InputDifference, evidence: Evidence) -> bool:
    """Whether a clock decides on the number of updates: the runs made different numbers, and it reaches a condition."""
    counts = evidence.n_steps
    return item.use == "computed" and counts is not None and counts[0] != counts[1]


def _is_no_limit(item: InputDifference, evidence: Evidence) -> bool:
    return not (_is_limit(item, evidence) and hazards_named(evidence, "time-limit"))


@order_cause(
    "hash-order",
    phases=(*MADE, "forward", "program"),
    sources=("set-order", "hash"),
    selects=_is_by_text,
)
def hash_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The order of a set, or a number computed with hash().

    Python salts the hashes of strings in each process, and a set iterates in the order of hashes. Indices of classes,
    words or folds computed from it differ between runs.

    Signs: the hash seed is not held, and the order of a set or a hash differs before the first difference; or the
        source iterates over a set or computes with `hash()`, and a batch or an order differs first; at most possible
        for initial weights
    Cure: sort the set; use a checksum for numbers; or fix the hash seed
    Code: classes = sorted(set(labels))  # or PYTHONHASHSEED=0 python train.py
    Source: https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED
    """
    if is_hash_held(evidence):
        return None
    certainty: Certainty = "likely" if difference.phase in ("order", "data") else "possible"
    why = "the hash seed of Python differs between runs, and an order depends on it"
    finding = source_match(evidence, SET_HAZARDS, why, certainty, is_circumstance=True)
    return None if finding is None else dataclasses.replace(finding, code=without_hash(finding.places[0].text))


def without_hash(code: str) -> str:
    """The expression of a hazard without its dependence on hashes; empty if it is not a plain one."""
    if code.startswith("hash("):
        return f"zlib.crc32(str({code[5:-1]}).encode())  # not {code}"
    plain = SET_EXPRESSION.fullmatch(code)
    return f"sorted({plain['set'] or code})" if plain else ""


@order_cause("address-order", phases=MADE, sources=("set-order", "hash", "address"), selects=_is_by_address)
def address_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A set of objects, ordered by their addresses.

    Objects without their own `__hash__` hash by memory address, which no variable fixes.

    Signs: the hash seed is held, and the order of a set differs all the same; or the source iterates over a set or
        calls `id()`, and a batch or an order differs first
    Cure: sort by an attribute of the objects, or use a dict or a list
    Code: sorted(nodes, key=lambda node: node.name)
    Source: https://docs.python.org/3/reference/datamodel.html#object.__hash__
    """
    place = difference.place
    if place is not None and ADDRESS.search(LITERAL.sub("", place.text)) and difference.only_in is None:
        return CauseMatch("possible", f"the line where the runs diverge calls id{format_places((place,))}", (place,))
    if not is_hash_held(evidence):
        return None
    why = "the hash seed is held, but objects in a set are ordered by their addresses"
    return source_match(evidence, SET_HAZARDS, why)


@order_cause(
    "file-order",
    phases=("order", "data", "initial"),
    sources=("listing",),
    selects=_is_another_order,
    code_for=_sorted_call,
)
def file_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Files in the order of the file system.

    `os.listdir`, `glob` and `scandir` guarantee no order. In a test, tmpfs listed files in the order of their creation;
    ext4 listed three copies created in different orders alike. Another file system or disk may use a different order.

    Signs: a listing has another order before the first difference; or the source reads files in that order, and the
        order of examples, or a batch, differs first
    Cure: sort the file names
    Code: names = sorted(os.listdir(folder))
    Source: https://docs.python.org/3/library/os.html#os.listdir
    """
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    order = "the order of examples differs" if difference.phase == "order" else "loaded data differ first"
    why = "files are read in the order of the file system"
    finding = source_match(evidence, ("file-order",), why, certainty, order, is_circumstance=True)
    return None if finding is None else dataclasses.replace(finding, code=_sorted(finding.places[0].text))


@timing_cause(
    "unordered-results",
    phases=("order", "data", "random", "initial"),
    sources=("completion",),
    code_for=lambda item: _in_order(item.call),
)
def unordered_results(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Results of parallel work in order of completion.

    `as_completed`, `imap_unordered`, queues of several threads and unordered pipelines return results in the order in
    which they are ready.

    Signs: results came in another order before the first difference; or the source collects results this way, and the
        order of examples, or a batch, differs first
    Cure: collect results in the order of submission
    Code: results = list(pool.map(load, names))  # not as_completed, not imap_unordered
    Source: https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed
    """
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    why = "results are collected in order of completion"
    finding = source_match(evidence, ("unordered-results",), why, certainty, is_circumstance=True)
    return None if finding is None else dataclasses.replace(finding, code=_in_order(finding.places[0].text))


def _in_order(code: str) -> str:
    """The call with results in the order of submission; empty for other calls than those known."""
    if "imap_unordered(" in code:
        return f"{code.replace('imap_unordered(', 'imap(')}  # not imap_unordered"
    return next((cure for name, cure in ORDERED.items() if name in code), "")


@timing_cause("thread-order", sources=("thread-order",))
def thread_order(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Threads that write to a shared object in any order.

    Which thread appends, adds or stores first depends on timing, and so does the order of what they collect, or the
    last value.

    Signs: threads wrote in another order, or ended in another order, before the first difference
    Cure: let each thread return its result, and combine the results in a fixed order
    Code: results = list(pool.map(work, items))
    Source: https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.Executor.map
    """
    return None


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


@timing_cause("forest-threads", phases=("forward", "loss", "metric"))
def forest_threads(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Predictions of a forest, added by several threads.

    Each thread of a forest of scikit-learn adds the predictions of its trees to one sum when it is ready, so the sum
    rounds differently. The fitted trees are the same.

    Signs: the source makes a forest with `n_jobs`, a result differs first, and nothing else is likely
    Cure: predict with one thread; fitting may have more
    Code: forest.set_params(n_jobs=1)
    Source: hazards.md
    """
    why = "the source makes a forest that predicts with several threads"
    return source_match(evidence, ("forest-threads",), why, "likely", is_circumstance=True)


@timing_cause("time-limit", phases=("program", "metric", "update"), sources=("clock",), selects=_is_limit)
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


@timing_cause("clock", sources=("clock",), selects=_is_no_limit)
def clock(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A value of the clock in a condition or a number.

    The time differs between runs, and so does what is computed from it or depends on it: a learning rate, a condition
    on the elapsed time.

    Signs: readings of the clock differ before the first difference, and the source compares them or computes with
        them; or the line where the runs diverge calls `time.time()`, `perf_counter()`, `datetime.now()` or the like.
        Times that are only printed or logged do not count.
    Cure: decide by steps or values instead of the time, or pass the time as an argument of the script
    Source: https://docs.python.org/3/library/time.html#time.time
    """
    return _called_at_difference(CLOCK, difference) or source_match(
        evidence, ("clock-condition",), "the source decides by the time"
    )


@timing_cause("process-id", sources=("process-id",))
def process_id(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The number of a process or thread in a number or a condition.

    The operating system gives each process another number, so what is computed from it differs between runs.

    Signs: the numbers differ before the first difference, and the source compares them or computes with them; or the
        line where the runs diverge calls `getpid()` or the like
    Cure: use the rank or the index of the worker
    Code: rank = int(os.environ.get("RANK", 0))  # not os.getpid()
    Source: https://docs.python.org/3/library/os.html#os.getpid
    """
    return _called_at_difference(PROCESS, difference)


def _called_at_difference(calls: re.Pattern[str], difference: Difference) -> CauseMatch | None:
    """A match by a call in the line where the runs diverge."""
    # A clock in a line that reports a metric usually just accompanies it.
    call = calls.search(LITERAL.sub("", difference.place.text)) if difference.place is not None else None
    is_about_numbers = difference.rung != "metrics" and difference.phase not in ("metric", "program", "order", "random")
    if call is None or difference.only_in is not None or not is_about_numbers:
        return None
    why = f"the line where the runs diverge calls {call[0].rstrip('(')}{format_places(here(difference))}"
    return CauseMatch("likely", why, here(difference), is_circumstance=True)
