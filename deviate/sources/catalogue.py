"""The catalogue: everything that can make two runs of one command differ, each under one name.

An entry is a function that finds the source in code, decorated with `source`. What it is, why it matters, an example
and where that stands come from its docstring. Without an example, only a run shows it. `deviate analyze`, the preview
and the manual tell of it, and `deviate diverge` names by it what was proved or is suspected.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from deviate.model.analysis import Hazard
from deviate.registry import Registry
from deviate.sources.cures import Cure, cured_line

if TYPE_CHECKING:
    import libcst as cst

    from deviate.sources.survey import Survey

Group = Literal["seeds", "order", "kernels", "timing", "state", "evaluation"]
GROUPS: dict[Group, str] = {
    "seeds": "Random draws",
    "order": "Order of items",
    "kernels": "Nondeterministic kernels",
    "timing": "Parallel work and timing",
    "state": "State and surroundings",
    "evaluation": "Evaluation that depends on training",
}
Matches = Iterator["tuple[cst.CSTNode, str] | tuple[cst.CSTNode, str, str]"]
"""Places of a source, each with a clause on what happens there, and "gpu" if it happens on a GPU only."""
Pattern = Callable[["Survey"], Matches]
Described = TypeVar("Described", bound=Callable[..., Any])
PARTS = re.compile(r"^(Advice|Example|Instead|Source):", flags=re.MULTILINE)
CHANCE = frozenset({"algo", "init", "shuffle", "augment", "dropout", "split", "other", "hash", "entropy"})
"""What holds sources that enter by chance alone: a seed, which the host can give to each run."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of difference.

    Attributes:
        name: what the user sees, in lower case with hyphens.
        title: what it is, in one sentence. reason: the paragraphs on why it matters.
        advice: what to do, in words; empty where the cure or the line says it.
        example: code with it. remedy: that code without it, where no cure or line makes it; else empty.
        reference: the documentation that describes it.
        pattern: finds it in the code that a script reaches; None if only a run shows it.
        observed: names under which a traced run records it, its own one first.
        facts: names of what runs record of their environment, where a difference is this source.
        operations: of a trace, by their base names as a regular expression, whose results differ by it on a GPU.
        operations_on_cpu: the same on a CPU with several threads.
        held: what holds it: a value of `--hold`, or a stream or factor of the variants; empty if nothing does.
        cure: writes the expression that stands at its place without it; None if that depends on the program.
        line: a line that removes it, added once, before training.
        is_reported_once: report only the first match of a file, for code of which nearly every model has many.
    """

    name: str
    group: Group
    title: str
    reason: str
    advice: str
    example: str
    remedy: str
    reference: str
    pattern: Pattern | None = None
    observed: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    operations: str = ""
    operations_on_cpu: str = ""
    held: str = ""
    cure: Cure | None = None
    line: str = ""
    is_reported_once: bool = False

    @property
    def is_chance(self) -> bool:
        """Whether it is equal in runs that were given the same numbers of the system and the same hash seed."""
        return self.held in CHANCE

    def cure_of(self, code: str) -> str:
        """What to write in place of an expression, or the line to add; empty if that depends on the program."""
        return self.line or (cured_line(self.cure, code) if self.cure else "")


SOURCES: Registry[Source] = Registry("deviate.sources")


def source(name: str, *parts: Pattern, group: Group, **fields: Any) -> Callable[[Described], Described]:
    """Register the source `name`; the docstring of the decorated function describes it.

    Args:
        parts: patterns that find it; without any, the function itself does, unless it has no example.
        fields: of `Source`.
    """

    def register(described: Described) -> Described:
        first, *more = PARTS.split(inspect.getdoc(described) or "")
        title, _, reason = first.partition("\n")
        texts = dict(zip(more[::2], map(textwrap.dedent, more[1::2]), strict=True))
        example, remedy = (texts.get(part, "").strip() for part in ("Example", "Instead"))
        advice, reference = (" ".join(texts.get(part, "").split()) for part in ("Advice", "Source"))
        found = joined(parts) if parts else described if example else None
        entry = Source(name, group, title, reason.strip(), advice, example, remedy, reference, found, **fields)
        SOURCES.add(name, entry)
        return described

    return register


def joined(parts: Sequence[Pattern]) -> Pattern:
    """A pattern that finds what any of these find."""
    return lambda survey: (match for part in parts for match in part(survey))


def find_hazards(survey: "Survey") -> tuple[Hazard, ...]:
    """All places of sources in code, in its order.

    Each source is reported once per line, and not at all in lines with a comment `# deviate: ignore`.
    """
    graph = survey.graph
    order = {file: number for number, file in enumerate(graph.project.files())}
    found = [
        Hazard(kind.name, place.file, place.line, graph.nodes.code(node), message, *device)
        for kind in SOURCES.values()
        for node, message, *device in (kind.pattern(survey) if kind.pattern else ())
        if survey.is_listed(node)
        for place in [graph.nodes.place(node)]
    ]
    hazards: dict[tuple[str, str, int], Hazard] = {}
    for hazard in sorted(found, key=lambda hazard: (order[hazard.file], hazard.line)):
        line = 0 if SOURCES[hazard.name].is_reported_once else hazard.line
        hazards.setdefault((hazard.name, hazard.file, line), hazard)
    return tuple(hazards.values())
