"""What is suspected of making two runs differ: what both recorded, and else what their source can do.

Sources of the catalogue are ranked by how they were seen; a line that did not run, and an order that was equal in both
runs, is never suspected.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deviate.diverge.calls import Calls, last_name
from deviate.diverge.findings import COMPUTED, MADE, Cause, CodeLine, Difference, InputDifference, Phase
from deviate.diverge.holds import HOLDS
from deviate.model.analysis import Hazard
from deviate.model.places import place_text
from deviate.model.plan import Variant
from deviate.model.records import Run, SeedEvent
from deviate.records.environment import ALWAYS_TOLD, VARIABLE
from deviate.replay.variants import HASH
from deviate.report.format import shorten
from deviate.sources.catalogue import SOURCES, Group, Source
from deviate.sources.seeds import SEED_TAKERS, SEEDING, SEEDING_ALL

GIVEN, OPERATION, SEED, INPUT, LINE, AROUND, TOLD, PRESENT, UNFIT = range(9)
"""How a source was seen, the strongest first: by design; in the operation that differs; in what a seed got; in what
entered before; on the line; around the runs; in what a run said; in a line that ran; in one of a kind that does not
explain this difference."""
MOST = 5
"""Most causes to suspect."""
DRAWN: tuple[Phase, ...] = (*MADE, "forward", "program")
EXPLAINED: Mapping[Group, tuple[Phase, ...]] = {
    "seeds": DRAWN,
    "order": (*MADE, "program"),
    "kernels": COMPUTED,
    "timing": ("initial", *COMPUTED, "program"),
    "state": DRAWN,
    "evaluation": COMPUTED,
}
"""Phases of a first difference which sources of a group explain; all where only values were compared."""
DRAW = (
    r"native_dropout|bernoulli|rand(int|n|perm)?(_like)?|normal|uniform|multinomial|exponential|geometric|poisson|"
    r"log_normal|cauchy|random|rrelu\w*|alpha_dropout|binomial|standard_gamma"
)
ENTRY = r"lift_fresh(_copy)?|to_copy|copy|scalar_tensor|fill|full(_like)?|new_full|from_file|tensor|set"
"""Operations that create tensors from values that PyTorch did not compute."""
UNCONTROLLED = (
    (re.compile(r"^(os\.(urandom|getrandom)|secrets\.|uuid\.|random\.SystemRandom)"), "entropy"),
    (re.compile(r"thread|tasks"), "parallel-draws"),
)
"""Phrases of runs on draws beyond control, and their sources."""
LONGEST_SHOWN = 40
"""Characters of a value in a sentence, behind which the place has to be seen."""
VERBS = {"environment": " was", "set-order": " had", "completion": ":", "thread-order": ":"}
"""What stands between the call and the value, by source; "gave" for others."""
KERNELS_OF = {"torch": "torch-kernels", "tensorflow": "tensorflow-kernels", "jax": "xla-kernels"}
"""Frameworks with kernels that can be held, and the sources that these are."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about two runs besides their first difference.

    Attributes:
        labels: names of the two runs.
        variant: of both runs; None for runs of two variants.
        hazards: of the static analysis, over all code that the script reaches.
        inputs: that differ between the runs, in the order in which they entered.
        equal_inputs: source, file and line of inputs that both runs recorded with equal values.
        idle_lines: that either trace watched and neither run executed, as file and line.
        devices: of both runs: "cpu", "cuda", "mps", "xpu", "tpu"; empty if unknown.
        n_ranks: number of processes that trained together.
        is_chance_equal: whether runs with the same numbers of the system and the same hash seed differ, too.
        calls: of the source as it ran; None if it is unknown.
    """

    runs: tuple[Run, Run]
    labels: tuple[str, str] = ("the first run", "the second run")
    variant: Variant | None = None
    hazards: tuple[Hazard, ...] = ()
    inputs: tuple[InputDifference, ...] = ()
    equal_inputs: frozenset[tuple[str, str, int]] = frozenset()
    idle_lines: frozenset[tuple[str, int]] = frozenset()
    devices: tuple[str, str] = ("", "")
    n_ranks: int = 1
    is_chance_equal: bool = False
    calls: Calls | None = None

    def fact(self, name: str) -> tuple[str, str]:
        """The value of a fact in both runs; empty if one did not report it."""
        first, second = (run.environment.get(name, "") for run in self.runs)
        return first, second

    def is_held(self, name: str) -> bool:
        """Whether this stream, factor or value of `--hold` is held in both runs."""
        if name == HASH:
            seeds = self.fact(f"{VARIABLE}PYTHONHASHSEED")
            if self.is_chance_equal or (seeds[0] == seeds[1] and seeds[0] not in {"", "random"}):
                return True
        if name == "kernels" and any(setting := self.fact("torch deterministic algorithms")):
            return setting == ("on", "on")
        variant = self.variant
        return variant is not None and (name in variant.held or (name, HOLDS.get(name)) in variant.controls)

    @property
    def sets_seeds(self) -> bool:
        """Whether deviate sets seeds in these runs."""
        return any(run.seeds for run in self.runs) or bool(self.variant and (self.variant.varied or self.variant.held))

    def is_on_gpu(self, difference: Difference) -> bool:
        """Whether the difference arose on a GPU, or may have, where that is unknown."""
        device = str(difference.more.get("device", "")).partition(":")[0] or next(filter(None, self.devices), "")
        return device != "cpu" if device else any(self.fact("GPU"))

    def lies_in(self, difference: Difference, hazard: Hazard) -> bool:
        """Whether the code of a hazard ran, and can have made these runs differ."""
        line = (hazard.file, hazard.line)
        is_equal = any((name, *line) in self.equal_inputs for name in SOURCES[hazard.name].observed)
        is_elsewhere = bool(hazard.device) and not self.is_on_gpu(difference)
        return line not in self.idle_lines and not is_equal and not is_elsewhere


@dataclass(frozen=True, slots=True)
class Suspect:
    """A source that may have made two runs differ.

    Attributes:
        why: the evidence, as a clause. code: expression at its place, for the cure.
        rank: how it was seen. held: what holds it, as in `Source`.
    """

    source: Source
    rank: int
    why: str
    places: tuple[CodeLine, ...] = ()
    code: str = ""
    held: str = ""

    def cause(self) -> Cause:
        return cause_of(self.source, self.why, self.places, self.code)


def cause_of(source: Source, why: str, places: tuple[CodeLine, ...], code: str = "") -> Cause:
    """A source of the catalogue as a cause, with the cure for this code."""
    cured = source.cure_of(code)
    place = "" if not cured else "add once, at the beginning" if source.line else f"instead of `{code}`"
    words = "; ".join(filter(None, (source.advice, place)))
    title = source.title.removesuffix(".")
    return Cause(
        source.name,
        title if title[1:2].isupper() else f"{title[0].lower()}{title[1:]}",
        f"{why}{format_places(places)}",
        f"{words}\n{cured}" if cured else words,
        places,
        source.reference,
    )


def find_causes(difference: Difference, evidence: Evidence) -> tuple[Cause, ...]:
    """Causes to suspect, the likeliest first; what the source can do counts where nothing else was seen.

    Args:
        difference: the first one, on the most detailed level with a difference.
    """
    suspects = find_suspects(difference, evidence)
    seen = [suspect for suspect in suspects if suspect.rank < PRESENT]
    return tuple(suspect.cause() for suspect in (seen or [one for one in suspects if one.rank == PRESENT])[:MOST])


def find_suspects(difference: Difference, evidence: Evidence) -> list[Suspect]:
    """All sources of which there is any evidence, the likeliest first, each once with all its places."""
    phase = _phase(difference)
    # A state that was given in vain tells as little as values alone: what differs comes from elsewhere.
    is_idle = difference.kind == "state" and evidence.is_chance_equal
    is_bare = difference.rung == "metrics" or difference.phase == "metric" or is_idle
    found: dict[str, Suspect] = {}
    finders = (_by_design, _by_operation, _by_seeds, _by_inputs, _by_facts, _by_words, _by_source)
    suspects = [suspect for find in finders for suspect in find(difference, evidence)]
    for one in sorted(suspects, key=lambda suspect: (suspect.rank, not suspect.places)):
        source = one.source
        # Other seeds were given; boosting draws inside of what it computes.
        is_given = one.rank == SEED and source.name == "changing-seed" and difference.kind != "operation"
        is_unfit = (
            one.rank in {SEED, TOLD, PRESENT} and not is_given and not is_bare and phase not in EXPLAINED[source.group]
        )
        suspect = replace(one, rank=UNFIT) if is_unfit else one
        if (evidence.is_chance_equal and source.is_chance) or (suspect.rank > INPUT and evidence.is_held(source.held)):
            continue
        first = found.setdefault(source.name, suspect)
        if first.rank == suspect.rank:
            found[source.name] = replace(first, places=tuple(dict.fromkeys((*first.places, *suspect.places))))
    return list(found.values())


def _phase(difference: Difference) -> Phase:
    """When the difference arose: an operation with equal inputs neither follows from a draw nor from an order."""
    if difference.kind != "operation" or difference.only_in is not None:
        return difference.phase
    name = base_name(difference.name)
    return "data" if re.fullmatch(ENTRY, name) else "random" if re.fullmatch(DRAW, name) else "backward"


def _by_design(difference: Difference, evidence: Evidence) -> Iterator[Suspect]:
    one, other = (run.seeds for run in evidence.runs)
    streams = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    stream = difference.name.partition("/")[2] if difference.kind == "state" else ""
    if streams and (not stream or stream in streams):
        why = f"{evidence.labels[0]} and {evidence.labels[1]} have different seeds for {', '.join(streams)}"
        yield Suspect(SOURCES["given-seeds"], GIVEN, why)


CONDITIONS: Mapping[str, Callable[[Difference, Evidence], bool]] = {
    "autotuning": lambda _, evidence: "on" in evidence.fact("torch cuDNN benchmark"),
    "boosting-threads": lambda difference, evidence: (
        difference.kind != "operation" and ("Hist" in difference.name or any(evidence.fact("lightgbm")))
    ),
    "collectives": lambda difference, evidence: evidence.n_ranks > 1 and "c10d" in difference.name,
    "gather": lambda difference, evidence: (
        evidence.is_on_gpu(difference) or evidence.fact("torch threads") != ("1", "1")
    ),
    "matrix-products": lambda _, evidence: not any(evidence.fact(f"{VARIABLE}CUBLAS_WORKSPACE_CONFIG")),
}
"""What else has to be so where an operation points to a source."""


def _by_operation(difference: Difference, evidence: Evidence) -> Iterator[Suspect]:
    """Sources to which the record points that differs although all before it are equal."""
    if "uninitialised" in str(difference.more.get("reads", "")):
        why = f"{difference.name} read memory before anything was written there"
        yield _at(difference, Suspect(SOURCES["uninitialised"], OPERATION, why, held="kernels"))
    if difference.only_in is not None or difference.kind not in {"operation", "update", "loss"}:
        return
    name, why = difference.name, f"{difference.name} is the first record that differs, and all before it are equal"
    is_operation = difference.kind == "operation"
    if is_operation:
        name, why = base_name(name), f"{name} is the first operation with different outputs, and its inputs are equal"
    found, is_on_gpu = [], evidence.is_on_gpu(difference)
    for source in SOURCES.values():
        pattern = (is_operation and is_on_gpu and source.operations) or source.operations_on_cpu
        is_so = source.name not in CONDITIONS or CONDITIONS[source.name](difference, evidence)
        if pattern and re.fullmatch(pattern, name) and is_so:
            found.append(_at(difference, Suspect(source, OPERATION, why, held=source.held)))
    found = [suspect for suspect in found if not evidence.is_held(suspect.held)]
    yield from [suspect for suspect in found if suspect.source.operations != ".*"] or found


def _at(difference: Difference, suspect: Suspect) -> Suspect:
    return suspect if difference.place is None else replace(suspect, places=(difference.place,))


def _by_seeds(difference: Difference, evidence: Evidence) -> Iterator[Suspect]:
    """Calls that got other seeds in the two runs, or a seed of the system."""
    known = {(item.place.file, item.place.line) for item in evidence.inputs if item.is_upstream}
    for one, other in seed_pairs(evidence.runs):
        place = CodeLine(one.file, one.line)
        if (one.file, one.line) not in known:
            first, second = evidence.labels
            why = f"{one.call} received {one.value} in {first} and {other.value} in {second}"
            yield _seeding("changing-seed", SEED, why, place, evidence)
    events = [event for run in evidence.runs for event in run.seed_events]
    anew = {event: None for event in events if event.value == "None"}  # seeded without an argument
    for event in anew if not evidence.sets_seeds else ():
        why = f"{event.call} takes a seed from the operating system"
        yield _seeding("missing-seed", SEED, why, CodeLine(event.file, event.line), evidence)
    seeded = {_library(event.call) for event in events if event not in anew}
    if evidence.sets_seeds or any(event.call.rpartition(".")[2] in SEEDING_ALL for event in events):
        return
    used = {name for run in evidence.runs for name in (*run.draws, *run.environment)}
    state = _library(difference.name) if difference.kind == "state" else ""
    for library in [name for name in SEEDING if name in used and name not in seeded and state in ("", name)]:
        rank = OPERATION if state else PRESENT
        yield Suspect(SOURCES["missing-seed"], rank, f"nothing seeds the generator of {library}")


def _library(name: str) -> str:
    """Library of a call or a generator: "torch.cuda:0" and "torch/shuffle" belong to "torch"."""
    first = re.split(r"[./:]", name)[0]
    return {"python": "random", "tf": "tensorflow", "keras": "tensorflow"}.get(first, first)


def _seeding(name: str, rank: int, why: str, place: CodeLine, evidence: Evidence) -> Suspect:
    call = next(evidence.calls.at(place.file, place.line, *SEED_TAKERS), None) if evidence.calls else None
    return Suspect(SOURCES[name], rank, why, (place,), "" if call is None else ast.unparse(call))


def seed_pairs(runs: tuple[Run, Run]) -> Iterator[tuple[SeedEvent, SeedEvent]]:
    """Seeding calls that got different values, the first of each place.

    The same values in another order are no other seeds: workers that share the work seed in the order in which they
    get to it.
    """
    places: dict[tuple[str, str, int], tuple[list[SeedEvent], list[SeedEvent]]] = {}
    for number, run in enumerate(runs):
        for event in run.seed_events:
            places.setdefault((event.call, event.file, event.line), ([], []))[number].append(event)
    for mine, theirs in places.values():
        if sorted(event.value for event in mine) != sorted(event.value for event in theirs):
            yield from [pair for pair in zip(mine, theirs, strict=False) if pair[0].value != pair[1].value][:1]


def _by_inputs(_: Difference, evidence: Evidence) -> Iterator[Suspect]:
    """What entered with another value before the first difference."""
    items = [item for item in evidence.inputs if item.is_upstream]
    lines = {(hazard.file, hazard.line) for hazard in evidence.hazards}
    # A line that the analysis lists decides, not one that only notes the beginning; what one run alone has, follows.
    items.sort(key=lambda item: (item.only_in is not None, (item.place.file, item.place.line) not in lines))
    for item in items:
        source, hazards = _observer(item, evidence)
        is_used = item.is_suspect or bool(hazards) or source is not observed_by(item.source)
        calls = list(evidence.calls.at(item.place.file, item.place.line)) if evidence.calls else []
        if item.source == "entropy" and evidence.calls and evidence.calls.is_seeded(item.place.file, item.place.line):
            continue
        if item.source == "process-id" and not is_used:  # libraries ask for it on many lines
            continue
        name = item.call.partition("(")[0].rpartition(".")[2]
        codes = [
            *(ast.unparse(call) for call in calls if last_name(call) in SEED_TAKERS and "seed" in source.observed),
            *(hazard.code for hazard in hazards),
            *(ast.unparse(call) for call in calls if last_name(call) == name),
        ]
        yield Suspect(
            source,
            INPUT if is_used else UNFIT,
            f"{describe_input(item, evidence.labels)}, before the first difference",
            (item.place,),
            next((code for code in codes if source.cure_of(code)), next(iter(codes), "")),
            observed_by(item.source).held,
        )


def observed_by(name: str) -> Source:
    """The source that runs record under a name, where no line of the script says more."""
    return next(source for source in SOURCES.values() if source.observed[:1] == (name,))


def _observer(item: InputDifference, evidence: Evidence) -> tuple[Source, list[Hazard]]:
    """The source that an input belongs to, with its places on that line: a seed goes before the clock that makes it."""
    name = "file-state" if has_other_names(item) else item.source
    name = "address" if name in {"set-order", "hash"} and evidence.is_held(HASH) else name
    at = [one for one in evidence.hazards if (one.file, one.line) == (item.place.file, item.place.line)]
    at = [hazard for hazard in at if name in SOURCES[hazard.name].observed]
    is_seeding = any(
        (event.file, event.line) == (item.place.file, item.place.line)
        for pair in seed_pairs(evidence.runs)
        for event in pair[:1]
    )
    seed = SOURCES["changing-seed"]
    if (is_seeding and name in seed.observed) or any(hazard.name == seed.name for hazard in at):
        return seed, [hazard for hazard in at if hazard.name == seed.name]
    source = SOURCES[at[0].name] if at else observed_by(name)
    return source, [hazard for hazard in at if hazard.name == source.name]


def has_other_names(item: InputDifference) -> bool:
    """Whether a folder had other files in the two runs, and not the same ones in another order, as far as shown."""
    if item.source != "listing" or item.only_in is not None:
        return False
    (count, _, names), (other_count, _, other_names) = (text.partition(": ") for text in item.shown)
    is_cut = any(text.endswith(("...", "…")) for text in item.shown)
    return count != other_count or (not is_cut and sorted(names.split(", ")) != sorted(other_names.split(", ")))


def describe_input(item: InputDifference, labels: tuple[str, str]) -> str:
    """`os.listdir('data') gave a, b in run 0 and b, a in run 1`."""
    subject = f"{item.call}{VERBS.get(item.source, ' gave')}"
    first, second = (shorten(text, LONGEST_SHOWN) for text in item.shown)
    if item.only_in is not None:
        run, other = labels if item.only_in == 1 else labels[::-1]
        return f"{subject} {(first, second)[item.only_in - 1] or 'nothing'} in {run}, and {other} did not call it"
    if first == second:
        return f"{subject} {first or 'values'}, not the same in {labels[0]} and {labels[1]}"
    return f"{subject} {first or 'nothing'} in {labels[0]} and {second or 'nothing'} in {labels[1]}"


def _by_facts(difference: Difference, evidence: Evidence) -> Iterator[Suspect]:
    """Devices, libraries and settings that differ, where numbers were computed and not drawn or read."""
    if difference.phase not in ("initial", *COMPUTED) or difference.only_in is not None:
        return
    first, second = (run.environment for run in evidence.runs)
    are_whole = ALWAYS_TOLD in first and ALWAYS_TOLD in second
    for source in SOURCES.values():
        differing = [
            f"{name.removeprefix(VARIABLE)}: {_value(first.get(name))} and {_value(second.get(name))}"
            for name in source.facts
            if first.get(name) != second.get(name)
            and ((name in first and name in second) or (are_whole and name.startswith(VARIABLE)))
        ]
        if source.name == "devices" and all(evidence.devices) and len(set(evidence.devices)) > 1:
            differing.insert(0, " and ".join(evidence.devices))
        if differing:
            yield Suspect(source, AROUND, f"the runs have {'; '.join(differing[:3])}")


def _value(value: str | None) -> str:
    return "not set" if value is None else shorten(" ".join(value.split()), 60)


def _by_words(_: Difference, evidence: Evidence) -> Iterator[Suspect]:
    """What a run itself reported: draws beyond control, operations without a deterministic version, old checkpoints."""
    for run in evidence.runs:
        for phrase in run.uncontrolled:
            name = next((name for pattern, name in UNCONTROLLED if pattern.search(phrase)), "unrouted-draws")
            yield Suspect(SOURCES[name], TOLD, f"a run reported: {phrase}")
        for phrase in run.operations:
            yield Suspect(SOURCES["torch-kernels"], TOLD, f"{phrase} ran without a deterministic version")
        for warning in (text for text in run.warnings if "checkpoint" in text):
            yield Suspect(SOURCES["leftover-file"], TOLD, warning)


def _by_source(difference: Difference, evidence: Evidence) -> Iterator[Suspect]:
    """Places of sources in the code that ran."""
    here = None if difference.place is None else (difference.place.file, difference.place.line)
    for hazard in evidence.hazards:
        source = SOURCES[hazard.name]
        if source.held == HASH and evidence.is_held(HASH):
            source = SOURCES["memory-address"]
        if evidence.lies_in(difference, hazard):
            rank = LINE if (hazard.file, hazard.line) == here else PRESENT
            place = CodeLine(hazard.file, hazard.line, hazard.code)
            yield Suspect(source, rank, f"`{hazard.code}`: {hazard.message}", (place,), hazard.code, source.held)
    for framework, name in KERNELS_OF.items():
        if any(framework in run.environment for run in evidence.runs) and evidence.is_on_gpu(difference):
            why = f"kernels of {framework} are not held"
            yield Suspect(SOURCES[name], PRESENT, why, held="kernels")


def base_name(name: str) -> str:
    """Name of an operation without namespace, overload and surrounding underscores.

    >>> base_name("aten._index_put_impl_.default")
    'index_put_impl'
    """
    return (name.split(".")[1] if "." in name else name).strip("_")


def format_places(places: Sequence[CodeLine]) -> str:
    """The places in brackets, the first three by name: " (train.py:6, data.py:12)"; empty if there are none."""
    names = list(dict.fromkeys(place_text(place.file, place.line) for place in places))
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f" ({', '.join([*names[:3], *more])})" if names else ""
