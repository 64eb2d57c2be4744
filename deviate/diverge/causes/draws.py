"""Causes in random numbers: unseeded generators, changing seeds, and sources without a seed."""

import dataclasses
import functools
import re

from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.causes.known_causes import CauseMatch, KnownCause, format_places, hazard_places, is_at
from deviate.diverge.causes.operations import DRAW, FROM_WORKER, is_one_of
from deviate.model.divergence import Certainty, Difference, Place

EARLY = ("initial", "random", "order", "data")
"""Phases in which no kernel has computed anything yet."""
DRAWN = (*EARLY, "forward")
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
    return difference.phase in EARLY


def _varied_by_variant(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The variant itself varies the stream."""
    if not evidence.is_touched or not _is_draw(difference):
        return None
    stream = difference.name.partition("/")[2] if difference.kind == "state" else ""
    may_be = (stream,) if stream else STREAMS[difference.phase]
    varying = [stream for stream in may_be if evidence.varies(stream)]
    if not varying or evidence.variant is None:
        return None
    why = f"variant {evidence.variant.name} gives each run another seed for {', '.join(varying)}"
    return CauseMatch("certain" if stream or len(may_be) == len(varying) else "likely", why)


def _changing(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Seeding calls with a different seed in each run."""
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
    finding = _source(difference, evidence, "changing-seed", "drawn-seed")
    if finding is None or (written := CALL.match(finding.places[0].text)) is None:
        return finding
    return dataclasses.replace(finding, code=f"{written[0]}1)")


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


def _without_seed(difference: Difference, evidence: Evidence) -> CauseMatch | None:
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


def _entropy(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    if difference.phase not in DRAWN:
        return None
    phrases = [phrase for phrase in evidence.uncontrolled if SYSTEM.match(phrase)]
    places = _places_of(phrases)
    if not phrases:
        return _source(difference, evidence, "entropy")
    is_number = any(not phrase.startswith(IDENTIFIERS) for phrase in phrases)
    certainty: Certainty = "likely" if is_number and (_is_draw(difference) or is_at(difference, places)) else "possible"
    return CauseMatch(certainty, f"the run asked the system for numbers: {'; '.join(phrases[:3])}", places)


def _parallel(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    if difference.phase not in DRAWN:
        return None
    phrases = [phrase for phrase in evidence.uncontrolled if "thread" in phrase]
    if phrases:
        certainty: Certainty = "likely" if difference.phase in ("data", "order", "random") else "possible"
        return CauseMatch(certainty, "; ".join(phrases[:3]), _places_of(phrases))
    return _source(difference, evidence, "parallel-draws")


def _beyond(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Other uncontrolled sources that a run reported."""
    phrases = [phrase for phrase in evidence.uncontrolled if not SYSTEM.match(phrase) and "thread" not in phrase]
    if not phrases or difference.phase not in DRAWN:
        return None
    places = _places_of(phrases)
    return CauseMatch("likely" if is_at(difference, places) else "possible", "; ".join(phrases[:3]), places)


def _workers(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    if difference.phase not in ("data", "order"):
        return None
    places = hazard_places(evidence, "loader-workers")
    if not places:
        return None
    certainty: Certainty = "likely" if difference.phase == "data" and difference.name == FROM_WORKER else "possible"
    return CauseMatch(
        certainty, f"the source draws in workers of a loader{format_places(places)}", places, "batches differ first"
    )


def _source(difference: Difference, evidence: Evidence, *hazards: str) -> CauseMatch | None:
    places = hazard_places(evidence, *hazards)
    if not places or difference.phase not in DRAWN:
        return None
    return CauseMatch("possible", f"the source has it{format_places(places)}", places)


def _places_of(phrases: list[str]) -> tuple[Place, ...]:
    matches = [match for phrase in phrases if (match := PLACE.fullmatch(phrase))]
    return tuple(dict.fromkeys(Place(match["file"], int(match["line"])) for match in matches))


ALGORITHM = ("init", "shuffle", "augment", "dropout", "other", "split")

draw_cause = functools.partial(KnownCause, group="draws")
DRAWS: tuple[KnownCause, ...] = (
    draw_cause(
        id="varied-stream",
        title="the variant varies it",
        reason="A variant that varies a stream gives it another seed in each run, and the runs are meant to differ.",
        signs="what differs first belongs to a stream that the variant varies",
        cure="compare runs of a variant that holds it",
        source="variants.md",
        see=_varied_by_variant,
        holds=ALGORITHM,
    ),
    draw_cause(
        id="changing-seed",
        title="a seed that changes by itself",
        reason="A seed that is made from what differs between runs (the clock, a process number, a variable or the "
        "number of the run, `hash()`, a generator without a seed) is another one in each. The seeds of deviate follow "
        "from the one that the script asks for, so it changes every variant.",
        signs="a seeding call was given two values in the two runs; or the source makes such a seed",
        cure="give the call a number",
        code="torch.manual_seed(1)  # not int(time.time())",
        source="https://docs.python.org/3/library/random.html#random.seed",
        see=_changing,
    ),
    draw_cause(
        id="unseeded",
        title="a generator that nobody seeds",
        reason="Python, NumPy, PyTorch and TensorFlow take their first state from the operating system unless they are "
        "seeded, each for itself; so do generator objects that are made without a seed.",
        signs="seeds are the script's own, no call seeds the library, and its state, a batch, the order or the initial "
        "weights differ first",
        cure="seed each library that draws",
        code="random.seed(1); numpy.random.seed(1); torch.manual_seed(1)  # numpy.random.default_rng(1)",
        source="https://docs.pytorch.org/docs/stable/notes/randomness.html, "
        "https://numpy.org/doc/stable/reference/random/bit_generators/generated/numpy.random.SeedSequence.html",
        see=_without_seed,
        holds=ALGORITHM,
    ),
    draw_cause(
        id="entropy",
        title="numbers from the operating system",
        reason="`os.urandom`, `secrets`, `uuid4` and `random.SystemRandom` have no seed.",
        signs="the run asked for such numbers, or the source does, and a batch, an order or the initial weights differ "
        "first",
        cure="draw from a seeded generator",
        code="random.Random(1).randbytes(16)  # not os.urandom(16)",
        source="https://docs.python.org/3/library/os.html#os.urandom",
        see=_entropy,
    ),
    draw_cause(
        id="loader-workers",
        title="workers of a loader whose draws no seed reaches",
        reason="A worker gets a copy of what the data set holds. A generator of its own is the same in all workers; "
        "one that is made without a seed is another one in each run. Libraries that PyTorch does not know are not "
        "seeded in workers (NumPy was not before PyTorch 1.9).",
        signs="batches differ first, and the source draws in workers",
        cure="seed in `worker_init_fn`, and draw from the generators that it seeds",
        code="DataLoader(…, worker_init_fn=lambda i: numpy.random.seed(torch.initial_seed() % 2**32))",
        source="https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader",
        see=_workers,
    ),
    draw_cause(
        id="parallel-draws",
        title="threads or processes that draw from one generator",
        reason="Which of them draws first is a race, so each gets other numbers in each run.",
        signs="the run drew in threads; or the source does; a batch, an order or a state differs first",
        cure="give each piece of work a generator of its own, seeded by its number",
        code="numpy.random.default_rng([1, index])",
        source="https://numpy.org/doc/stable/reference/random/parallel.html",
        see=_parallel,
    ),
    draw_cause(
        id="beyond-control",
        title="draws that deviate cannot control",
        reason="A state of a generator that comes from elsewhere, a session of TensorFlow 1, and whatever else a run "
        "told to be beyond control: no variant holds it.",
        signs="the run told of it, and a batch, an order, a state or a draw differs first",
        cure="draw from a generator that the script seeds",
        source="variants.md",
        see=_beyond,
    ),
    draw_cause(
        id="compiled-draws",
        title="draws in functions that Numba compiles",
        reason="Compiled code has generators of its own, seeded by the operating system in each process and thread.",
        signs="the source has such a function, and a batch, an order or the initial weights differ first",
        cure="seed inside a compiled function, or draw outside and hand the numbers in",
        source="https://numba.readthedocs.io/en/stable/reference/numpysupported.html#random",
        see=lambda difference, evidence: _source(difference, evidence, "compiled-draws"),
    ),
    draw_cause(
        id="environment-seed",
        title="an environment of reinforcement learning that nobody seeds",
        reason="An environment and each of its spaces have generators of their own, seeded by the operating system.",
        signs="the source resets an environment without a seed, and what comes from it differs first",
        cure="seed the environment and its spaces",
        code="env.reset(seed=1); env.action_space.seed(1)",
        source="https://gymnasium.farama.org/api/env/#gymnasium.Env.reset",
        see=lambda difference, evidence: (
            None if evidence.is_held("other") else _source(difference, evidence, "environment-seed")
        ),
        holds=("other",),
    ),
)
