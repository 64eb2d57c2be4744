"""Causes in random numbers: unseeded generators, changing seeds, and sources without a seed."""

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
    is_at,
    source_match,
)
from deviate.diverge.causes.observed import SYSTEM_SEED, seed_origin, seed_pairs, used_for_seeds
from deviate.diverge.causes.operations import DRAW, FROM_WORKER, is_one_of
from deviate.diverge.findings import HARMLESS, MADE, Certainty, Difference, InputDifference, Place, Standing
from deviate.model.analysis import Hazard

DRAWN = (*MADE, "forward")
STREAMS = {
    "initial": ("init", "other"),
    "order": ("shuffle", "split", "other"),
    "data": ("augment", "shuffle", "split", "other"),
    "random": ("init", "shuffle", "augment", "dropout", "split", "other"),
    "forward": ("dropout", "other"),
}
"""Streams that can explain each phase of a first difference."""
PHASES = {"initial": "initial weights", "order": "the order of examples", "data": "a batch", "forward": "a draw"}
SYSTEM = re.compile(r"(os\.(urandom|getrandom)|secrets\.|uuid\.|random\.SystemRandom|tf\.timestamp)")
IDENTIFIERS = ("uuid.", "tf.timestamp")
"""Prefixes of calls used mostly for file names and timing, not for training."""
IN_SOURCE = "the source contains it"
SEEDED_DRAWS = {
    "urandom": "random.Random(1).randbytes(n)  # not os.urandom(n)",
    "getrandom": "random.Random(1).randbytes(n)  # not os.getrandom(n)",
    "uuid": "uuid.UUID(int=random.Random(1).getrandbits(128))  # not uuid4()",
    "token_": "random.Random(1).randbytes(n)  # not secrets",
    "secrets": "random.Random(1).randrange(n)  # not secrets",
    "SystemRandom": "random.Random(1)  # not random.SystemRandom()",
}
"""Parts of calls that draw from the operating system, and the same draw from a seeded generator."""
SEED_HAZARDS = ("changing-seed", "drawn-seed")
SEEDS = re.compile(r"\b(?:seeds|seed of) (?P<call>[\w.]+)")
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


def _with_constant(hazard: Hazard) -> str:
    """The seeding call with a constant, for the place in the source that computes its seed."""
    seeding = SEEDS.search(hazard.message)
    return f"{_with_number(seeding['call']) if seeding else 'seed = 1'}  # not {hazard.code}"


def _seeded_draw(item: InputDifference) -> str:
    return _seeded_code(item.call)


def _seeded_code(call: str) -> str:
    """The same draw from a seeded generator; empty for other calls than those known."""
    return next((code for name, code in SEEDED_DRAWS.items() if name in call), "")


def _places_of(phrases: list[str]) -> tuple[Place, ...]:
    matches = [match for phrase in phrases if (match := PLACE.fullmatch(phrase))]
    return tuple(dict.fromkeys(Place(match["file"], int(match["line"])) for match in matches))


DRAWS: list[KnownCause] = []
draw_cause = functools.partial(cause, DRAWS, "draws")


@draw_cause("varied-stream")
def varied_stream(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A stream that the variant varies.

    A variant that varies a stream gives each run a different seed for it, so the runs differ by design.

    Signs: the first difference belongs to a stream that the variant varies
    Cure: compare runs of a variant that holds the stream
    Source: variants.md
    """
    if not evidence.is_touched or not _is_draw(difference):
        return None
    stream = difference.name.partition("/")[2] if difference.kind == "state" else ""
    may_be = (stream,) if stream else STREAMS[difference.phase]
    varying = [stream for stream in may_be if evidence.varies(stream)]
    if not varying or evidence.variant is None:
        return None
    why = f"variant {evidence.variant.name} gives each run a different seed for {', '.join(varying)}"
    certainty: Certainty = "certain" if stream or len(may_be) == len(varying) else "likely"
    return CauseMatch(certainty, why, standing="upstream")


@draw_cause("changing-seed")
def changing_seed(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A seed that changes between runs.

    A seed computed from something that differs between runs (the clock, a process id, an environment variable, the
    number of the run, `hash()`, an unseeded generator) is different in each run. deviate derives its seeds from the
    seed of the script, so every variant is affected.

    Signs: a seeding call received different values in the two runs; or the source computes such a seed
    Cure: pass a constant
    Code: torch.manual_seed(1)  # not int(time.time())
    Source: https://docs.python.org/3/library/random.html#random.seed
    """
    matches = seed_pairs(evidence)
    if matches:
        matches.sort(key=lambda pair: not _reaches(pair[0].call, difference))
        one, other = matches[0]
        places = tuple(dict.fromkeys(Place(event.file, event.line) for event, _ in matches if event.file))
        first, second = evidence.runs
        why = f"{one.call} received {one.value} in {first} and {other.value} in {second}{format_places(places)}"
        is_certain = _is_draw(difference) and _reaches(one.call, difference)
        # If more than values was compared, batches, draws and weights before were equal.
        is_likely = difference.rung == "metrics" or difference.phase == "metric"
        certainty: Certainty = "certain" if is_certain else "likely" if is_likely else "possible"
        origin = seed_origin(one, evidence)
        if origin is not None:
            is_at_line = (origin.place.file, origin.place.line) == (one.file, one.line)
            why += f", from {origin.call}" if is_at_line else f", after {origin.call}{format_places((origin.place,))}"
        return CauseMatch(
            certainty,
            why,
            places,
            code=_with_number(one.call),
            standing="upstream" if certainty != "possible" else "observed",
        )
    finding = source_match(evidence, SEED_HAZARDS, IN_SOURCE)
    if finding is None or difference.phase not in DRAWN:
        return None
    return dataclasses.replace(finding, code=_with_constant(hazards_named(evidence, *SEED_HAZARDS)[0]))


@draw_cause("unseeded")
def unseeded(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """An unseeded generator.

    Python, NumPy, PyTorch and TensorFlow each take their initial state from the operating system unless they are
    seeded. So do generator objects that are created without a seed.

    Signs: the script sets its own seeds, no call seeds the library, and its state, a batch, the order or the initial
        weights differ first
    Cure: seed each library that draws random numbers
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
        certainty: Certainty = "certain" if difference.kind == "state" else "likely"
        return CauseMatch(certainty, why, places, code=code, standing=_standing(difference))
    if difference.kind == "state":
        library = _library(difference.name)
        if library in seeded or library not in SEEDING:
            return None
        is_start = difference.step == 0
        why = f"the generator of {library} is not seeded"
        certainty = "certain" if is_start else "likely"
        return CauseMatch(certainty, why, code=SEEDING[library], standing="upstream")
    # Operations are those of PyTorch: what else is imported has not drawn this number.
    compute = evidence.frameworks & ({"torch"} if difference.kind == "operation" else {"torch", "tensorflow"})
    # These import NumPy themselves, so its import proves nothing; its state does, if compared.
    missing = [library for library in SEEDING if library in (compute or evidence.frameworks) and library not in seeded]
    if not missing:
        return None
    order = f"{PHASES.get(difference.phase, 'a draw')} differs first"
    code = "; ".join(SEEDING[library] for library in missing)
    why = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not seeded"
    return CauseMatch("likely" if not seeded else "possible", why, order=order, code=code)


def _standing(difference: Difference) -> Standing:
    """Whether a draw is itself the first difference, or only happened."""
    return "upstream" if difference.kind == "state" else "observed"


@draw_cause("entropy", phases=DRAWN, sources=("entropy",), code_for=_seeded_draw)
def entropy(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Random numbers from the operating system.

    `os.urandom`, `secrets`, `uuid4` and `random.SystemRandom` have no seed.

    Signs: the run drew such numbers, or the source does, and a batch, an order or the initial weights differ first
    Cure: draw from a seeded generator
    Code: random.Random(1).randbytes(16)  # not os.urandom(16)
    Source: https://docs.python.org/3/library/os.html#os.urandom
    """
    harmless = {(item.place.file, item.place.line) for item in evidence.inputs if item.use in HARMLESS}
    harmless |= {(place.file, place.line) for _, place in used_for_seeds(evidence)}
    phrases = [
        phrase
        for phrase in evidence.uncontrolled
        if SYSTEM.match(phrase) and not any((at.file, at.line) in harmless for at in _places_of([phrase]))
    ]
    places = _places_of(phrases)
    if not phrases:
        finding = source_match(evidence, ("entropy",), IN_SOURCE)
        is_told = finding is not None and all((at.file, at.line) in harmless for at in finding.places)
        return None if is_told else finding
    is_number = any(not phrase.startswith(IDENTIFIERS) for phrase in phrases)
    certainty: Certainty = "likely" if is_number and (_is_draw(difference) or is_at(difference, places)) else "possible"
    return CauseMatch(
        certainty,
        f"the run drew from the operating system: {'; '.join(phrases[:3])}",
        places,
        code=_seeded_code(phrases[0]),
        standing="observed",
    )


@draw_cause("loader-workers", phases=("data", "order"))
def loader_workers(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Unseeded draws in workers of a data loader.

    Each worker gets a copy of the data set. A generator in the data set is the same in all workers; an unseeded one is
    different in each run. PyTorch seeds only the libraries that it knows in workers (NumPy since PyTorch 1.9).

    Signs: batches differ first, and the source draws random numbers in workers
    Cure: seed in `worker_init_fn`, and draw from the generators that it seeds
    Code: DataLoader(…, worker_init_fn=lambda i: numpy.random.seed(torch.initial_seed() % 2**32))
    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    """
    certainty: Certainty = "likely" if difference.phase == "data" and difference.name == FROM_WORKER else "possible"
    why, order = "the source draws random numbers in workers of a data loader", "batches differ first"
    return source_match(evidence, ("loader-workers",), why, certainty, order)


@draw_cause("parallel-draws", phases=DRAWN)
def parallel_draws(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Threads or processes that share a generator.

    The order of their draws is a race, so each gets different numbers in each run.

    Signs: the run or the source draws in threads, and a batch, an order or a state differs first
    Cure: give each piece of work its own generator, seeded by its index
    Code: numpy.random.default_rng([1, index])
    Source: https://numpy.org/doc/stable/reference/random/parallel.html
    """
    phrases = [phrase for phrase in evidence.uncontrolled if "thread" in phrase]
    if phrases:
        certainty: Certainty = "likely" if difference.phase in ("data", "order", "random") else "possible"
        return CauseMatch(certainty, "; ".join(phrases[:3]), _places_of(phrases), standing="observed")
    return source_match(evidence, ("parallel-draws",), IN_SOURCE)


@draw_cause("beyond-control", phases=DRAWN)
def beyond_control(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Draws that deviate cannot control.

    No variant holds a generator state that was loaded, a session of TensorFlow 1, a device whose generator deviate does
    not route, or any other draw that a run reports as uncontrolled.

    Signs: the run reported such a draw, and a batch, an order, a state or a draw differs first
    Cure: draw from a generator that the script seeds
    Source: variants.md
    """
    # Other uncontrolled sources that a run reported.
    phrases = [phrase for phrase in evidence.uncontrolled if not SYSTEM.match(phrase) and "thread" not in phrase]
    if not phrases:
        return None
    places = _places_of(phrases)
    certainty: Certainty = "likely" if is_at(difference, places) else "possible"
    return CauseMatch(certainty, "; ".join(phrases[:3]), places, standing="observed")


@draw_cause("compiled-draws", phases=DRAWN)
def compiled_draws(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Draws in functions compiled by Numba.

    Compiled code has separate generators, seeded by the operating system in each process and thread.

    Signs: the source has such a function, and a batch, an order or the initial weights differ first
    Cure: seed inside a compiled function, or draw outside and pass the numbers in
    Source: https://numba.readthedocs.io/en/stable/reference/numpysupported.html#random
    """
    return source_match(evidence, ("compiled-draws",), IN_SOURCE)


@draw_cause("environment-seed", phases=DRAWN)
def environment_seed(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """An unseeded reinforcement-learning environment.

    An environment and each of its spaces have separate generators, seeded by the operating system.

    Signs: the source resets an environment without a seed, and data from it differ first
    Cure: seed the environment and its spaces
    Code: env.reset(seed=1); env.action_space.seed(1)
    Source: https://gymnasium.farama.org/api/env/#gymnasium.Env.reset
    """
    if evidence.is_held("other"):
        return None
    return source_match(evidence, ("environment-seed",), IN_SOURCE)
