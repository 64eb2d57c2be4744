"""Causes for what was proved: the source of the catalogue, its line, and the cure for this line."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deviate.diverge.calls import Calls, last_name, system_cure
from deviate.diverge.findings import Cause, Certainty, CodeLine
from deviate.diverge.proof import KERNELS, THREADS, Proof
from deviate.diverge.suspects import SEED, Suspect, cause_of
from deviate.model.places import place_text
from deviate.replay.variants import HASH
from deviate.report.format import shorten
from deviate.sources.catalogue import SOURCES
from deviate.sources.seeds import SEEDING

UNKNOWN = {
    HASH: "set-order",
    "listing": "file-order",
    "clock": "clock",
    "workers": "thread-updates",
    THREADS: "thread-sums",
}
"""The sources that are named for what was held, where neither the runs nor the source show one."""
TITLES = {"random": "Python", "numpy": "NumPy", "torch": "PyTorch", "tensorflow": "TensorFlow"}
KERAS = re.compile(r"\b(keras|layers)\.")
"""What draws its seeds from Python's generator."""
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Namer:
    """Names what was proved.

    Attributes:
        calls: of the source as it ran. suspects: of the same two runs, the likeliest first.
    """

    calls: Calls
    suspects: Sequence[Suspect]

    def name(self, proof: Proof) -> Iterator[Cause]:
        """A cause for each source of the proof."""
        certainty: Certainty = "suspected" if proof.is_suspected else "proved"
        n_more = len(proof.sources) - 1
        together = f"; needed together with {n_more} more" if n_more else ""
        if n_more and proof.is_cut:
            together = f"; with {n_more} more, which the budget did not tell apart"
        for held in proof.sources:
            if held in SEEDING:
                cause = self._shared(held, proof)
            elif ":" in held:
                cause = self._drawn(held)
            elif (found := self._held(held)) is not None:
                cause = found
            else:
                continue
            yield replace(cause, why=f"{cause.why}{together}", certainty=certainty)

    def _held(self, held: str) -> Cause | None:
        """What two runs are equal without: what is suspected of all that it holds.

        Deterministic kernels round otherwise, which can hide a small difference: they are named where one is known.
        """
        # A seed that is made of the clock goes before a clock that is read.
        for suspect in sorted(self.suspects, key=lambda suspect: suspect.source.name != "changing-seed"):
            is_rounded = held == THREADS and suspect.source.group == "kernels"
            is_of_clock = suspect.rank == SEED or "time" in suspect.code
            is_seed = held == "clock" and suspect.source.name == "changing-seed" and is_of_clock
            if suspect.held == held or is_rounded or is_seed:
                return (self._made(suspect) if suspect.source.name == "uninitialised" else suspect).cause()
        if held == KERNELS:
            return None
        source = SOURCES[UNKNOWN[held]]
        return cause_of(source, f"runs that have the same of it are equal: {source.title.removesuffix('.')}", ())

    def _made(self, suspect: Suspect) -> Suspect:
        """Memory that was never written, with the line that makes it, where the source shows one."""
        if suspect.code or not suspect.places:
            return suspect
        calls = self.calls.of_file(suspect.places[0].file)
        made = next((call for call in calls if suspect.source.cure_of(ast.unparse(call))), None)
        if made is None:
            return suspect
        place = self.calls.texts.place(suspect.places[0].file, made.lineno)
        why = f"{_quoted(place)}: {suspect.why}"
        return replace(suspect, why=why, places=(place,), code=ast.unparse(made))

    def _shared(self, library: str, proof: Proof) -> Cause:
        """A generator that all code of a library shares, and that nothing has seeded when the first number is drawn."""
        firsts = [draw for chance in proof.chance for draw in chance.first_draws if draw[0] == library]
        without = dict.fromkeys(one for chance in proof.chance for one in chance.without_seed)
        place = self.calls.texts.place(*firsts[0][1:]) if firsts else None
        for name, file, line in without if library == "numpy" else ():
            if place is None or (file, line) == (place.file, place.line):
                return self._without_state(name, file, line)
        function = SEEDING[library].partition("(")[0]
        later = [call for call in self.calls.of_file(place.file) if call.lineno > place.line] if place else []
        names = [ast.unparse(call.func).replace("numpy.", "np.").replace("tensorflow.", "tf.") for call in later]
        state = "is drawn from before it is seeded" if function in names else "begins with a random seed"
        where = "" if place is None else f"; the first draw is {_quoted(place)}"
        cause = cause_of(
            SOURCES["missing-seed"],
            f"the generator of {TITLES[library]} {state}{where}",
            () if place is None else (place,),
        )
        before = ""
        if place is not None:
            before = f"  # before {place_text(place.file, self.calls.begin_of(place.file, place.line))}"
        is_keras = library == "random" and place is not None and KERAS.search(place.text)
        seeding = "keras.utils.set_random_seed(0)" if is_keras else SEEDING[library]
        return replace(cause, cure=f"{cause.cure}\n{seeding}{before}")

    def _without_state(self, name: str, file: str, line: int) -> Cause:
        """An object of scikit-learn whose `random_state` is None."""
        named = [call for call in self.calls.of_file(file) if last_name(call) == name]
        made = next(iter([*self.calls.at(file, line, "train_test_split"), *named]), None)
        place = self.calls.texts.place(file, line if made is None else made.lineno)
        why = f"{name} draws from NumPy's generator, which is not seeded, because its random_state is None"
        cause = cause_of(SOURCES["unseeded-split"], why, (place,), f"{name}()" if made is None else ast.unparse(made))
        is_split = name.endswith(("Split", "Fold"))
        return cause if is_split else replace(cause_of(SOURCES["missing-seed"], why, (place,)), cure=cause.cure)

    def _drawn(self, held: str) -> Cause:
        """A line that draws a seed or a number from the operating system."""
        file, _, line = held.rpartition(":")
        place = self.calls.texts.place(file, int(line))
        for call in self.calls.at(place.file, place.line):
            if (cure := system_cure(call)) is not None:
                code = ast.unparse(call)
                return cause_of(cure[0], f"`{code}` takes its numbers from the operating system", (place,), code)
        return cause_of(SOURCES["entropy"], f"{_quoted(place)} draws from the operating system", (place,))


def _quoted(place: CodeLine) -> str:
    return f"`{shorten(place.text, LONGEST)}`"
