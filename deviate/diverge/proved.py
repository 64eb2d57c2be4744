"""Causes for what was proved: the line, what happens there, and the cure for this line."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deviate.base.notebooks import place_text
from deviate.diverge.causes.kernels import KERNELS as KERNEL_CAUSES
from deviate.diverge.causes.order import without_hash
from deviate.diverge.chance import SHARED
from deviate.diverge.findings import Cause, InputDifference, Place
from deviate.diverge.proof import HAZARDS_OF, HELD_BY, KERNELS, MEMORY, THREADS, Proof
from deviate.diverge.source import Texts
from deviate.model.analysis import Hazard
from deviate.replay.variants import HASH
from deviate.sources.cures import Cure, with_arguments, wrapped

OF_KERNELS = tuple(cause.id for cause in KERNEL_CAUSES)
PROVED_BY: dict[str, tuple[str, ...]] = {
    "listing": ("file-order",),
    "clock": ("changing-seed", "time-limit", "clock"),
    "workers": ("unordered-results", "thread-order", "parallel-draws", "shared-weights"),
    MEMORY: ("uninitialised",),
    KERNELS: ("uninitialised", *OF_KERNELS),
    THREADS: ("forest-threads", *OF_KERNELS),
}
"""Sources that are held, and the causes of the table that they stand for."""
SEEDED_BY = {
    "random": "random.seed(0)",
    "numpy": "np.random.seed(0)",
    "torch": "torch.manual_seed(0)",
    "tensorflow": "tf.random.set_seed(0)",
}
TITLES = {"random": "Python's", "numpy": "NumPy's", "torch": "PyTorch's", "tensorflow": "TensorFlow's"}
GENERATORS = frozenset({
    "default_rng", "RandomState", "SeedSequence", "Random", "PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM", "seed",
})  # fmt: skip
"""Calls whose first argument is the seed."""
OF_SYSTEM = {
    "urandom": "random.Random(0).randbytes({0})",
    "getrandom": "random.Random(0).randbytes({0})",
    "token_bytes": "random.Random(0).randbytes({0})",
    "token_hex": "random.Random(0).randbytes({0}).hex()",
    "randbits": "random.Random(0).getrandbits({0})",
    "randbelow": "random.Random(0).randrange({0})",
    "uuid1": "uuid.UUID(int=random.Random(0).getrandbits(128))",
    "uuid4": "uuid.UUID(int=random.Random(0).getrandbits(128))",
    "SystemRandom": "random.Random(0)",
}
"""Calls that ask the operating system, and what draws the same from a seed; `{0}` is the first argument."""
SPACE = re.compile(r"\b(?P<space>(?:\w+\.)*\w*space)\.sample\(")
RESET = re.compile(r"\b(?P<env>(?:\w+\.)*\w+)\.reset\(")
EMPTY = re.compile(r"\b(?P<module>torch|np|numpy)\.empty(?P<like>_like)?\(")
SEEDED_CALL = wrapped(other="{callee}(0{rest})")
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Namer:
    """Names what was proved.

    Attributes:
        texts: the source as it ran. inputs, hazards: as `Prover.prove` had them.
        table: causes of the table that the evidence matches.
    """

    texts: Texts
    inputs: Sequence[InputDifference]
    hazards: Sequence[Hazard]
    table: Sequence[Cause]

    def name(self, proof: Proof) -> Iterator[Cause]:
        """A cause for each source of the proof."""
        together = f"; needed together with {len(proof.sources) - 1} more" if len(proof.sources) > 1 else ""
        if together and proof.is_cut:
            together = f"; with {len(proof.sources) - 1} more, which the budget did not tell apart"
        for source in proof.sources:
            cause = self._hash() if source == HASH else self._by_chance(source, proof)
            cause = self._held(source) if cause is None else cause
            yield replace(cause, why=f"{cause.why}{together}", certainty="proved", standing="upstream")

    def _hash(self) -> Cause:
        item = next((item for item in self.inputs if item.source in {"set-order", "hash"} and item.is_upstream), None)
        hazards = [hazard for hazard in self.hazards if hazard.name in HAZARDS_OF[HASH]]
        at = [one for one in hazards if item is None or (one.file, one.line) == (item.place.file, item.place.line)]
        hazard = next(iter(at), None)
        code = hazard.code if hazard is not None else item.call if item is not None else ""
        place = None if item is None and hazard is None else self._place(*_where(item, hazard))
        is_number = code.startswith("hash(")
        what = "hash() of a text" if is_number else "the order of a set"
        why = f"{code or 'a set or hash()'} depends on the hash seed, which Python draws for each process"
        cure = without_hash(code) or "PYTHONHASHSEED=0 python …"
        return Cause(
            "hash-order",
            what,
            _at(why, place),
            f"{'take a checksum' if is_number else 'sort the set'}, or set PYTHONHASHSEED\n{cure}",
            places=() if place is None else (place,),
            source="https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
        )

    def _by_chance(self, source: str, proof: Proof) -> Cause | None:
        if source in SHARED:
            return self._shared(source, proof)
        file, _, line = source.rpartition(":")
        return self._unseeded(self._place(file, int(line))) if line.isdecimal() else None

    def _shared(self, library: str, proof: Proof) -> Cause:
        """A generator that all code of a library shares, and that nothing has seeded when the first number is drawn."""
        firsts = [draw for chance in proof.chance for draw in chance.first_draws if draw[0] == library]
        without = list(dict.fromkeys(one for chance in proof.chance for one in chance.without_seed))
        place = self._place(*firsts[0][1:]) if firsts else None
        of_line = [one for one in without if place is None or one[1:] == (place.file, place.line)]
        if library == "numpy" and of_line:
            return self._without_seed(of_line[0])
        is_seeded_later = place is not None and SEEDED_BY[library].partition("(")[0] in self._rest_of(place)
        state = "is drawn from before it is seeded" if is_seeded_later else "is not seeded"
        where = "" if place is None else f"; the first draw is {_quoted(place)}"
        return Cause(
            "unseeded",
            f"{TITLES[library]} generator {state}",
            _at(f"{TITLES[library]} generator begins with a random seed{where}", place),
            f"seed it before this line\n{SEEDED_BY[library]}"
            + ("" if place is None else f"  # before {place_text(place.file, place.line)}"),
            places=() if place is None else (place,),
            source="https://docs.pytorch.org/docs/stable/notes/randomness.html",
        )

    def _without_seed(self, one: tuple[str, str, int]) -> Cause:
        """An object of scikit-learn whose `random_state` is None."""
        name, file, line = one
        lines = self.texts.lines(file)
        made = [at for at, text in enumerate(lines, 1) if re.search(rf"\b{re.escape(name)}\(", text)]
        place = self._place(file, made[0] if made else line)
        code = self._cured(place, name, with_arguments(random_state=0)) or f"{name}(…, random_state=0)"
        return Cause(
            "unseeded",
            f"{name} without random_state",
            _at(f"{name} draws from NumPy's generator, which is not seeded, because its random_state is None", place),
            f"pass a seed\n{code}",
            places=(place,),
            source="https://scikit-learn.org/stable/glossary.html#term-random_state",
        )

    def _unseeded(self, place: Place) -> Cause:
        """A line that draws a seed or a number from the operating system."""
        for call, name in self._calls(place):
            if name in GENERATORS and not any(isinstance(argument, ast.Constant) for argument in call.args):
                code = self._cured(place, name, SEEDED_CALL)
                title = f"{name}() without a seed"
                why = f"{_quoted(place)} takes its seed from the operating system"
                return replace(self._chance(place, title, why, f"pass a seed\n{code or f'{name}(0)'}"), id="unseeded")
        if space := SPACE.search(place.text):
            code = f"{space['space']}.seed(0)"
            why = f"{space['space']} of the environment draws from a generator that nothing seeds"
            return self._chance(place, "an action space without a seed", why, f"seed it once, before it draws\n{code}")
        if env := RESET.search(place.text):
            why = f"{env['env']} is an environment whose generator nothing seeds"
            return self._chance(
                place, "an environment without a seed", why, f"seed the first reset\n{env['env']}.reset(seed=0)"
            )
        for call, name in self._calls(place):
            if name in OF_SYSTEM:
                first = ast.unparse(call.args[0]) if call.args else "8"
                code = f"{OF_SYSTEM[name].format(first)}  # not {ast.unparse(call)}"
                why = f"{ast.unparse(call)} asks the operating system"
                return self._chance(place, "random numbers of the operating system", why, f"draw from a seed\n{code}")
        title, why = "a generator without a seed", f"{_quoted(place)} draws from the operating system"
        return self._chance(place, title, why, "give what draws here a seed")

    def _chance(self, place: Place, title: str, why: str, cure: str) -> Cause:
        source = "https://docs.python.org/3/library/random.html#random.seed"
        return Cause("entropy", title, _at(why, place), cure, places=(place,), source=source)

    def _held(self, source: str) -> Cause:
        """What two runs are equal without: the cause of the table that stands for it, with its line."""
        found = next((cause for cause in self.table if cause.id in PROVED_BY.get(source, ())), None)
        items = [item for item in self.inputs if HELD_BY.get(item.source) == source and item.is_suspect]
        named = [hazard for hazard in self.hazards if hazard.name in HAZARDS_OF.get(source, ())]
        if source == "clock" and items and (found is None or found.id != "time-limit"):
            named_first = found.places[0] if found is not None and found.places else None
            return self._clock(min(items, key=lambda item: item.place != named_first))
        if found is not None and found.id == "uninitialised":
            return self._memory(found)
        if found is None:
            place = self._place(*_where(next(iter(items), None), next(iter(named), None))) if items or named else None
            titles = {
                THREADS: "threads that add in any order",
                MEMORY: "memory that was never written",
                KERNELS: "kernels that are not deterministic",
            }
            title = titles.get(source, f"the {source}")
            found = Cause(
                source, title, _at(f"two runs are equal without {title}", place), "", places=(place,) if place else ()
            )
        return found

    def _memory(self, found: Cause) -> Cause:
        """Memory that was never written: the line that makes it, where the source shows one."""
        files = dict.fromkeys([place.file for place in found.places] + [hazard.file for hazard in self.hazards])
        made = ((file, at) for file in files for at, text in enumerate(self.texts.lines(file), 1) if EMPTY.search(text))
        named = next((one for one in self.hazards if one.name == "uninitialised"), None)
        place = self._place(*_where(None, named)) if named else next((self._place(*one) for one in made), None)
        if place is None:
            return found
        text = EMPTY.search(place.text)
        code = "" if text is None else f"{text['module']}.zeros{text['like'] or ''}(…)  # not {text[0]}…)"
        why = f"{_quoted(place)} makes memory that nothing has written when {found.why}"
        return replace(found, why=_at(why, place), cure=f"fill it, or begin with zeros\n{code}", places=(place,))

    def _clock(self, item: InputDifference) -> Cause:
        place = self._place(item.place.file, item.place.line)
        generator = next((name for _, name in self._calls(place) if name in GENERATORS | {"manual_seed"}), None)
        code = "" if generator is None else self._cured(place, generator, SEEDED_CALL)
        uses = "makes a seed" if generator else "decides or computes with it"
        return Cause(
            "clock",
            "a reading of the clock",
            _at(
                f"{item.call} gave {item.shown[0]} in one run and {item.shown[1]} in the other, and the line {uses}",
                place,
            ),
            f"pass a constant\n{code}" if code else "decide by steps or by an argument of the script, not by the time",
            places=(place,),
            source="https://docs.python.org/3/library/time.html#time.time",
        )

    # The source.

    def _place(self, file: str, line: int) -> Place:
        return self.texts.place(file, line)

    def _rest_of(self, place: Place) -> str:
        return "\n".join(self.texts.lines(place.file))

    def _calls(self, place: Place) -> Iterator[tuple[ast.Call, str]]:
        """Calls that begin on a line, with the last part of their name, the innermost last."""
        try:
            tree = ast.parse("\n".join(self.texts.lines(place.file)))
        except SyntaxError:
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.lineno <= place.line <= (node.end_lineno or node.lineno):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if node.func.end_lineno == place.line:
                    yield node, name

    def _cured(self, place: Place, name: str, cure: Cure) -> str:
        """What stands in the place of the call of this name on a line; empty if there is none."""
        return next((cure(call) for call, called in self._calls(place) if called == name), "")


def _where(item: InputDifference | None, hazard: Hazard | None) -> tuple[str, int]:
    return (item.place.file, item.place.line) if item is not None else (hazard.file, hazard.line) if hazard else ("", 0)


def _quoted(place: Place) -> str:
    text = place.text if len(place.text) <= LONGEST else f"{place.text[: LONGEST - 1]}…"
    return f"`{text}`"


def _at(why: str, place: Place | None) -> str:
    return why if place is None else f"{why} ({place_text(place.file, place.line)})"
