"""Causes in undefined orders: of sets, files, results and work, and in timing."""

import re

from deviate.diverge.causes.draws import EARLY
from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.causes.known_causes import CauseMatch, KnownCause, format_places, hazard_places, here
from deviate.diverge.findings import Certainty, Difference

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


def _hash(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    if difference.phase not in (*EARLY, "forward", "program"):
        return None
    seeds = evidence.fact(HASH_SEED)
    is_fixed = evidence.is_held("hash") or (seeds[0] == seeds[1] and seeds[0] not in {"", "random"})
    places = hazard_places(evidence, "set-order", "hash-value")
    if is_fixed or not places:
        return None
    certainty: Certainty = "likely" if difference.phase in ("order", "data") else "possible"
    why = f"the hash seed of Python is another in each run, and an order follows it{format_places(places)}"
    return CauseMatch(certainty, why, places, is_circumstance=True)


def _address(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    places = hazard_places(evidence, "set-order", "hash-value")
    if difference.phase not in EARLY or not evidence.is_held("hash") or not places:
        return None
    why = f"the hash seed is held, but objects in a set stand in the order of their addresses{format_places(places)}"
    return CauseMatch("possible", why, places)


def _files(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    places = hazard_places(evidence, "file-order")
    if difference.phase not in ("order", "data", "initial") or not places:
        return None
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    order = "examples stand in another order" if difference.phase == "order" else "what is loaded differs first"
    why = f"files are taken in the order of the file system{format_places(places)}"
    return CauseMatch(certainty, why, places, order, is_circumstance=True)


def _results(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    places = hazard_places(evidence, "unordered-results")
    if difference.phase not in ("order", "data", "random", "initial") or not places:
        return None
    certainty: Certainty = "likely" if difference.phase == "order" else "possible"
    why = f"results are taken in the order in which work is done{format_places(places)}"
    return CauseMatch(certainty, why, places, is_circumstance=True)


def _see_shared_memory(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    places = hazard_places(evidence, "shared-memory", "word-vectors")
    if not places or difference.phase not in ("initial", "forward", "loss", "backward", "update"):
        return None
    # Another process is involved if weights changed without an update, or differently with equal gradients.
    certainty: Certainty = "likely" if difference.phase in ("forward", "update") else "possible"
    why = f"the source lets several processes or threads write the weights without a lock{format_places(places)}"
    return CauseMatch(certainty, why, places, is_circumstance=True)


def _time(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    if difference.phase not in ("program", "metric", "update"):
        return None
    places = hazard_places(evidence, "time-limit")
    counts = evidence.n_steps
    if counts is None or counts[0] == counts[1]:
        return (
            CauseMatch("possible", f"the source stops by the clock{format_places(places)}", places) if places else None
        )
    is_end = ENDED in difference.instead or difference.step is None or difference.step >= min(counts) - 1
    why = f"{evidence.runs[0]} made {counts[0]} updates and {evidence.runs[1]} {counts[1]}"
    if not is_end:
        return None
    if not places:
        return CauseMatch("possible", why)
    return CauseMatch(
        "certain", f"{why}, equal up to there, and the source stops by the clock{format_places(places)}", places
    )


def _clock(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A clock in a line that reports a metric usually just accompanies it."""
    del evidence
    clock = CLOCK.search(LITERAL.sub("", difference.place.text)) if difference.place is not None else None
    is_about_numbers = difference.rung != "metrics" and difference.phase not in ("metric", "program", "order", "random")
    if clock is None or difference.only_in is not None or not is_about_numbers:
        return None
    why = f"the line where the runs part calls {clock[0].rstrip('(')}{format_places(here(difference))}"
    return CauseMatch("possible" if clock[0] == ADDRESS else "likely", why, here(difference), is_circumstance=True)


ORDER: tuple[KnownCause, ...] = (
    KnownCause(
        id="hash-order",
        title="the order of a set, or a number made by hash()",
        group="order",
        reason="Python salts the hash of texts in each process, and sets of texts stand in the order of their "
        "hashes: numbers of classes, words or folds made from it are others in each run.",
        signs="the hash seed is not held, the source takes items out of a set or calculates with `hash()`, and a "
        "batch or an order differs first; of initial weights it is possible and no more",
        cure="sort the set; for numbers take a checksum; or fix the hash seed",
        code="classes = sorted(set(labels))  # or PYTHONHASHSEED=0 python train.py",
        source="https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
        see=_hash,
        holds=("hash",),
        environment=(("PYTHONHASHSEED", "0"),),
    ),
    KnownCause(
        id="address-order",
        title="a set of objects, in the order of their addresses",
        group="order",
        reason="Objects without a `__hash__` of their own hash by their address in memory, which no variable fixes.",
        signs="the hash seed is held, the source takes items out of a set, and a batch or an order differs first",
        cure="sort by something that is in the object, or use a dict or a list",
        code="sorted(nodes, key=lambda node: node.name)",
        source="https://docs.python.org/3/reference/datamodel.html#object.__hash__",
        see=_address,
    ),
    KnownCause(
        id="file-order",
        title="files in the order in which the file system gives them",
        group="order",
        reason="`os.listdir`, `glob` and `scandir` promise no order. On a file system in memory (tmpfs) it was seen "
        "to follow from how the folder was filled; on ext4 three copies that were filled in other orders were listed "
        "alike. Another file system or another disk may list them in another order.",
        signs="the source takes files in that order, and the order of examples, or a batch, differs first",
        cure="sort the names of files",
        code="names = sorted(os.listdir(folder))",
        source="https://docs.python.org/3/library/os.html#os.listdir",
        see=_files,
    ),
    KnownCause(
        id="unordered-results",
        title="results in the order in which parallel work is done",
        group="timing",
        reason="`as_completed`, `imap_unordered`, queues of several threads and unordered pipelines give results in "
        "the order in which they are ready.",
        signs="the source takes results so, and the order of examples, or a batch, differs first",
        cure="take them in the order of the work",
        code="results = list(pool.map(load, names))  # not as_completed, not imap_unordered",
        source="https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed",
        see=_results,
    ),
    KnownCause(
        id="shared-weights",
        title="weights that several processes or threads write without a lock",
        group="timing",
        reason="Which update comes first is a race.",
        signs="the source shares a model in memory and trains it in several processes, or trains word vectors in "
        "several threads; the forward pass or the update differs first, and nothing else is likely",
        cure="train in one process, or add up gradients before each update",
        source="https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#asynchronous-multiprocess-training-e-g-hogwild",
        see=_see_shared_memory,
    ),
    KnownCause(
        id="time-limit",
        title="training that ends when its time is up",
        group="timing",
        reason="How many steps fit into a time depends on what else the machine does.",
        signs="the runs made different numbers of updates, and the source stops by the clock",
        cure="count steps instead of seconds",
        code="for step in range(n_steps): …  # not while time.time() < end",
        source="https://docs.python.org/3/library/time.html#time.monotonic",
        see=_time,
    ),
    KnownCause(
        id="clock",
        title="a number of the clock, of the process or of memory",
        group="timing",
        reason="The time, the number of a process and the address of an object are others in each run. What is "
        "computed from them is too.",
        signs="the line where the runs part calls `time.time()`, `perf_counter()`, `datetime.now()`, `getpid()`, "
        "`id()` or the like, and weights, a batch or a result differ there first",
        cure="leave it out of what training sees, or hand it in as an argument of the script",
        code='parser.add_argument("--begin", type=float)  # not time.time()',
        source="https://docs.python.org/3/library/time.html#time.time",
        see=_clock,
    ),
)
