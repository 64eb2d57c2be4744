"""Causes in random numbers: unseeded generators, changing seeds, and sources without a seed."""

import dataclasses
import functools
import re

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, cause, format_places, is_at, source_match
from deviate.diverge.causes.operations import DRAW, FROM_WORKER, is_one_of
from deviate.diverge.findings import MADE, Certainty, Difference, Place

DRAWN = (*MADE, "forward")
STREAMS = {
    "initial": ("init", "other"),
    "order": ("shuffle", "split", "other"),
    "data": ("augment", "shuffle", "split", "other"),
    "random": ("init", "shuffle", "augment", "dropout", "split", "other"),
    "forward": ("dropout", "other"),
}
"""Which streams may be behind what differs first."""
PHASES = {"initial": "initial weights", "order": "the order of examples", "data": "a batch", "forward": "a draw"}
SYSTEM = re.compile(r"(os\.(urandom|getrandom)|secrets\.|uuid\.|random\.SystemRandom|tf\.timestamp)")
IDENTIFIERS = ("uuid.", "tf.timestamp")
"""Mostly for names of files and for measuring time, not for numbers that training sees."""
SYSTEM_SEED = "None"
"""What a seeding call is told to have been given where it was given nothing."""
IN_SOURCE = "the source has it"
CALL = re.compile(r"[\w.]+\(")
PLACE = re.compile(r"(?P<what>.+?) \((?P<file>[^()]+):(?P<line>\d+)\)")
LIBRARIES = {"python": "random", "tf": "tensorflow"}
SEEDING = {
    "random": "random.seed(1)",
    "numpy": "numpy.random.seed(1)",
    "torch": "torch.manual_seed(1)",
    "tensorflow": "tf.keras.utils.set_random_seed(1)",
}
EVERYTHING = ("set_random_seed", "seed_everything", "set_seed", "enable_full_determinism")
"""Calls that seed several libraries at once."""


def _library(state: str) -> str:
    """Library of a `state` record: "torch.cuda:0" and "torch/shuffle" belong to "torch"."""
    name = re.split(r"[./:]", state)[0]
    return LIBRARIES.get(name, name)


def _is_draw(difference: Difference) -> bool:
    if difference.phase == "forward":
        return difference.kind == "operation" and is_one_of(difference.name, DRAW) and difference.only_in is None
    return difference.phase in MADE


def _reaches(call: str, difference: Difference) -> bool:
    """Whether a seeding call can affect the difference; the state of a generator depends on its own library only."""
    if difference.kind != "state" or call.rpartition(".")[2] in EVERYTHING:
        return True
    return _library(call) == _library(difference.name)


def _with_number(call: str) -> str:
    """A seeding call with a fixed seed: `random.seed(1)`, or `generator.manual_seed(1)` for a method."""
    owner, _, name = call.rpartition(".")
    if call.startswith("sklearn"):
        return "random_state=1"
    is_method = owner.rpartition(".")[2][:1].isupper()
    return f"generator.{name}(1)" if is_method else f"{call}(1)"


def _places_of(phrases: list[str]) -> tuple[Place, ...]:
    matches = [match for phrase in phrases if (match := PLACE.fullmatch(phrase))]
    return tuple(dict.fromkeys(Place(match["file"], int(match["line"])) for match in matches))


ALGORITHM = ("init", "shuffle", "augment", "dropout", "other", "split")

DRAWS: list[KnownCause] = []
draw_cause = functools.partial(cause, DRAWS, "draws")


@draw_cause("varied-stream", holds=ALGORITHM)
def varied_stream(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The variant varies it.

    A variant that varies a stream gives it another seed in each run, and the runs are meant to differ.

    Signs: what differs first belongs to a stream that the variant varies
    Cure: compare runs of a variant that holds it
    Source: variants.md
    """
    if not evidence.is_touched or not _is_draw(difference):
        return None
    stream = difference.name.partition("/")[2] if difference.kind == "state" else ""
    may_be = (stream,) if stream else STREAMS[difference.phase]
    varying = [stream for stream in may_be if evidence.varies(stream)]
    if not varying or evidence.variant is None:
        return None
    why = f"variant {evidence.variant.name} gives each run another seed for {', '.join(varying)}"
    return CauseMatch("certain" if stream or len(may_be) == len(varying) else "likely", why)


@draw_cause("changing-seed")
def changing_seed(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A seed that changes by itself.

    A seed that is made from what differs between runs (the clock, a process number, a variable or the number of the
    run, `hash()`, a generator without a seed) is another one in each. The seeds of deviate follow from the one that the
    script asks for, so it changes every variant.

    Signs: a seeding call was given two values in the two runs; or the source makes such a seed
    Cure: give the call a number
    Code: torch.manual_seed(1)  # not int(time.time())
    Source: https://docs.python.org/3/library/random.html#random.seed
    """
    matches = [
        (one, other)
        for one, other in zip(*evidence.seed_events, strict=False)
        if (one.call, one.file, one.line) == (other.call, other.file, other.line) and one.value != other.value
    ]
    if matches:
        matches.sort(key=lambda pair: not _reaches(pair[0].call, difference))
        one, other = matches[0]
        places = tuple(dict.fromkeys(Place(event.file, event.line) for event, _ in matches if event.file))
        first, second = evidence.runs
        why = f"{one.call} was given {one.value} in {first} and {other.value} in {second}{format_places(places)}"
        is_certain = _is_draw(difference) and _reaches(one.call, difference)
        # If more than values was compared, batches, draws and weights before were equal.
        is_likely = difference.rung == "metrics" or difference.phase == "metric"
        certainty: Certainty = "certain" if is_certain else "likely" if is_likely else "possible"
        return CauseMatch(certainty, why, places, code=_with_number(one.call))
    finding = source_match(evidence, ("changing-seed", "drawn-seed"), IN_SOURCE)
    if finding is None or difference.phase not in DRAWN:
        return None
    written = CALL.match(finding.places[0].text)
    return finding if written is None else dataclasses.replace(finding, code=f"{written[0]}1)")


@draw_cause("unseeded", holds=ALGORITHM)
def unseeded(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A generator that nobody seeds.

    Python, NumPy, PyTorch and TensorFlow take their first state from the operating system unless they are seeded, each
    for itself; so do generator objects that are made without a seed.

    Signs: seeds are the script's own, no call seeds the library, and its state, a batch, the order or the initial
        weights differ first
    Cure: seed each library that draws
    Code: random.seed(1); numpy.random.seed(1); torch.manual_seed(1)  # numpy.random.default_rng(1)
    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html,
        https://numpy.org/doc/stable/reference/random/bit_generators/generated/numpy.random.SeedSequence.html
    """
    if evidence.is_touched or not _is_draw(difference):
        return None
    events = [event for both in evidence.seed_events for event in both]
    calls = {event.call for event in events if event.value != SYSTEM_SEED}
    if any(call.rpartition(".")[2] in EVERYTHING for call in calls):
        return None
    seeded = {_library(call) for call in calls} | {"tensorflow" for call in calls if call.startswith("keras")}
    anew = [event for event in events if event.value == SYSTEM_SEED and _library(event.call) in SEEDING]
    if difference.kind == "state":
        anew = [event for event in anew if _library(event.call) == _library(difference.name)]
    if anew:
        places = tuple(dict.fromkeys(Place(event.file, event.line) for event in anew if event.file))
        why = f"{anew[0].call} takes a seed from the operating system{format_places(places)}"
        library = _library(anew[0].call)
        # A separate generator, as from `default_rng()`, does not depend on the library's global seed.
        code = _with_number(anew[0].call) if library in ("random", "numpy") else SEEDING[library]
        return CauseMatch("certain" if difference.kind == "state" else "likely", why, places, code=code)
    if difference.kind == "state":
        library = _library(difference.name)
        if library in seeded or library not in SEEDING:
            return None
        is_start = difference.step == 0
        why = f"nothing seeds the generator of {library}"
        return CauseMatch("certain" if is_start else "likely", why, code=SEEDING[library])
    # Operations are those of PyTorch: what else is imported has not drawn this number.
    compute = evidence.frameworks & ({"torch"} if difference.kind == "operation" else {"torch", "tensorflow"})
    # These import NumPy themselves, so its import proves nothing; its state does, if compared.
    missing = [library for library in SEEDING if library in (compute or evidence.frameworks) and library not in seeded]
    if not missing:
        return None
    order = f"{PHASES.get(difference.phase, 'a draw')} differs first"
    code = "; ".join(SEEDING[library] for library in missing)
    return CauseMatch("likely" if not seeded else "possible", f"nothing seeds {' and '.join(missing)}", (), order, code)


@draw_cause("entropy", phases=DRAWN)
def entropy(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Numbers from the operating system.

    `os.urandom`, `secrets`, `uuid4` and `random.SystemRandom` have no seed.

    Signs: the run asked for such numbers, or the source does, and a batch, an order or the initial weights differ first
    Cure: draw from a seeded generator
    Code: random.Random(1).randbytes(16)  # not os.urandom(16)
    Source: https://docs.python.org/3/library/os.html#os.urandom
    """
    phrases = [phrase for phrase in evidence.uncontrolled if SYSTEM.match(phrase)]
    places = _places_of(phrases)
    if not phrases:
        return source_match(evidence, ("entropy",), IN_SOURCE)
    is_number = any(not phrase.startswith(IDENTIFIERS) for phrase in phrases)
    certainty: Certainty = "likely" if is_number and (_is_draw(difference) or is_at(difference, places)) else "possible"
    return CauseMatch(certainty, f"the run asked the system for numbers: {'; '.join(phrases[:3])}", places)


@draw_cause("loader-workers", phases=("data", "order"))
def loader_workers(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Workers of a loader whose draws no seed reaches.

    A worker gets a copy of what the data set holds. A generator of its own is the same in all workers; one that is made
    without a seed is another one in each run. Libraries that PyTorch does not know are not seeded in workers (NumPy was
    not before PyTorch 1.9).

    Signs: batches differ first, and the source draws in workers
    Cure: seed in `worker_init_fn`, and draw from the generators that it seeds
    Code: DataLoader(…, worker_init_fn=lambda i: numpy.random.seed(torch.initial_seed() % 2**32))
    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    """
    certainty: Certainty = "likely" if difference.phase == "data" and difference.name == FROM_WORKER else "possible"
    why, order = "the source draws in workers of a loader", "batches differ first"
    return source_match(evidence, ("loader-workers",), why, certainty, order)


@draw_cause("parallel-draws", phases=DRAWN)
def parallel_draws(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Threads or processes that draw from one generator.

    Which of them draws first is a race, so each gets other numbers in each run.

    Signs: the run drew in threads; or the source does; a batch, an order or a state differs first
    Cure: give each piece of work a generator of its own, seeded by its number
    Code: numpy.random.default_rng([1, index])
    Source: https://numpy.org/doc/stable/reference/random/parallel.html
    """
    phrases = [phrase for phrase in evidence.uncontrolled if "thread" in phrase]
    if phrases:
        certainty: Certainty = "likely" if difference.phase in ("data", "order", "random") else "possible"
        return CauseMatch(certainty, "; ".join(phrases[:3]), _places_of(phrases))
    return source_match(evidence, ("parallel-draws",), IN_SOURCE)


@draw_cause("beyond-control", phases=DRAWN)
def beyond_control(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Draws that deviate cannot control.

    A state of a generator that comes from elsewhere, a session of TensorFlow 1, and whatever else a run told to be
    beyond control: no variant holds it.

    Signs: the run told of it, and a batch, an order, a state or a draw differs first
    Cure: draw from a generator that the script seeds
    Source: variants.md
    """
    # Other uncontrolled sources that a run reported.
    phrases = [phrase for phrase in evidence.uncontrolled if not SYSTEM.match(phrase) and "thread" not in phrase]
    if not phrases:
        return None
    places = _places_of(phrases)
    return CauseMatch("likely" if is_at(difference, places) else "possible", "; ".join(phrases[:3]), places)


@draw_cause("compiled-draws", phases=DRAWN)
def compiled_draws(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Draws in functions that Numba compiles.

    Compiled code has generators of its own, seeded by the operating system in each process and thread.

    Signs: the source has such a function, and a batch, an order or the initial weights differ first
    Cure: seed inside a compiled function, or draw outside and hand the numbers in
    Source: https://numba.readthedocs.io/en/stable/reference/numpysupported.html#random
    """
    return source_match(evidence, ("compiled-draws",), IN_SOURCE)


@draw_cause("environment-seed", phases=DRAWN, holds=("other",))
def environment_seed(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """An environment of reinforcement learning that nobody seeds.

    An environment and each of its spaces have generators of their own, seeded by the operating system.

    Signs: the source resets an environment without a seed, and what comes from it differs first
    Cure: seed the environment and its spaces
    Code: env.reset(seed=1); env.action_space.seed(1)
    Source: https://gymnasium.farama.org/api/env/#gymnasium.Env.reset
    """
    if evidence.is_held("other"):
        return None
    return source_match(evidence, ("environment-seed",), IN_SOURCE)
