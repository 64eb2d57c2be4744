"""Names of metrics: readable, in snake case, unique within the script; and metrics that only repeat an earlier one."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.metrics.collect import Judged
from deviate.analysis.metrics.contexts import Context
from deviate.analysis.metrics.judge import TRACKERS, Candidate
from deviate.analysis.resolve.identifier_words import (
    MOST_WORDS,
    PHASES,
    SPENT,
    STATISTICS,
    TELLING,
    VARIANTS,
    clause,
    expression_words,
    phase_of,
    phases_in,
    tag_words,
    text_words,
    unit_after,
)
from deviate.analysis.resolve.index import Nodes
from deviate.analysis.resolve.message_items import decimals
from deviate.analysis.resolve.tree import dotted_name, walk
from deviate.model.metric_vocabulary import CONTAINERS, QUALITY, split_identifier


@dataclass(slots=True)
class NameParts:
    """The words from which a name is built.

    Attributes:
        text: words before the value in its message.
        expression: words of the expression.
        phase: train, test, val or eval, where message, function or expression say so.
        hint: words that distinguish this call path or label from the others of the site.
        function: words of the function that reports.
        variant: words such as `best` and `final` around the value.
        statistic: what of a meter is shown: `current`, `avg`, ….
        is_tag: whether the text is a tag under which a tracker keeps the value: the name by itself.
    """

    text: Sequence[str]
    expression: Sequence[str]
    phase: str | None = None
    hint: str = ""
    function: Sequence[str] = ()
    variant: Sequence[str] = ()
    statistic: str = ""
    sink: str = ""
    is_tag: bool = False


def give_names(name_parts: Sequence[NameParts]) -> list[str]:
    """A name for each, in order: as short as uniqueness allows."""
    names = [_first(item) for item in name_parts]
    for change in CHANGES:
        names = _lengthen(names, name_parts, change)
    return _number(names)


def _first(item: NameParts) -> str:
    chosen = list(item.text or item.expression)
    if item.text and not item.is_tag and not _stems(chosen) & TELLING and "per" not in chosen:
        chosen += [word for word in item.expression if word in TELLING][:1]
    if all(word in PHASES for word in chosen):
        chosen += item.expression
    name = "_".join(dict.fromkeys(PHASES.get(word, word) for word in chosen))
    if item.phase and _stems(chosen) & QUALITY and not set(chosen) & PHASES.keys():
        name = f"{item.phase}_{name}"
    name = re.sub(r"\W", "_", name)
    return name if not name[:1].isdigit() else f"m_{name}"


def _lengthen(names: list[str], name_parts: Sequence[NameParts], change: Callable[[str, NameParts], str]) -> list[str]:
    """Lengthen the names that several share, where that distinguishes at least two of them."""
    changed = [change(name, item) for name, item in zip(names, name_parts, strict=True)]
    result = list(names)
    shared: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        shared.setdefault(name, []).append(place)
    for name, places in shared.items():
        if len(places) > 1 and len({changed[place] for place in places}) > 1:
            helped = _improved_by(change, places, name_parts)
            for place in places:
                result[place] = name if place in helped else changed[place]
    return result


def _improved_by(
    change: Callable[[str, NameParts], str], places: list[int], name_parts: Sequence[NameParts]
) -> list[int]:
    """The metrics that keep the short name: of several sinks, those of the first."""
    if change is not _with_sink:
        return []
    return [place for place in places if name_parts[place].sink == name_parts[places[0]].sink]


def _with_sink(name: str, item: NameParts) -> str:
    return _join(name, item.sink.replace("-", "_").split("_"))


CHANGES: tuple[Callable[[str, NameParts], str], ...] = (
    lambda name, item: _prefix(name, item.hint),
    lambda name, item: _prefix(name, item.phase),
    _with_sink,
    lambda name, item: _join(name, [PHASES.get(word, word) for word in item.expression]),
    lambda name, item: _join(name, [item.statistic] if item.statistic else []),
    lambda name, item: _join(name, item.variant[-1:]),
    lambda name, item: _join(name, [PHASES.get(word, word) for word in item.function]),
)
"""What is added, one after the other, as long as several share a name."""


def _prefix(name: str, prefix: str | None) -> str:
    return name if not prefix or name.split("_", maxsplit=1)[0] == prefix else f"{prefix}_{name}"


def _join(name: str, more: Sequence[str]) -> str:
    present = _stems(name.split("_"))
    rest = [word for word in more if not _stems([word]) & present]
    return "_".join([name, *rest]) if rest else name


def _stems(names: Sequence[str]) -> set[str]:
    """The words, also without plural endings and numbers: `losses` counts as `loss`."""
    return {
        form for word in names for form in (word, word.rstrip("0123456789"), re.sub(r"(?<=s)es$|(?<!s)s$", "", word))
    }


def _number(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    used = set(names)
    result = []
    for name in names:
        seen[name] += 1
        number = seen[name]
        while number > 1 and f"{name}_{number}" in used:
            number += 1
        result.append(name if number == 1 else f"{name}_{number}")
        used.add(result[-1])
    return result


LISTING = re.compile(r"\s*(?:,|/|&|\band\b)\s*")
PIECES = ("epoch", "step", "iteration", "batch", "episode")
BETWEEN = re.compile(r"[\s,;/|(\[]*")


def name_parts(metrics: Sequence[tuple[Judged, Context]]) -> list[NameParts]:
    """What each metric's name can be made of.

    Args:
        metrics: in the order of files and lines, those of one site side by side.
    """
    places = _places(metrics)
    titles = [_alone(judged, context, place) for (judged, context), place in zip(metrics, places, strict=True)]
    for number, neighbour in _neighbours(metrics):
        this, other = metrics[number][0].candidate, metrics[neighbour][0].candidate
        if titles[number].text:
            continue
        if this.before.strip() == "(" and _root(this) == _root(other):
            titles[number].text = list(titles[neighbour].text)  # `Loss {loss.val} ({loss.avg})`
        elif decimals(this.value.spec) is not None and decimals(other.value.spec) is None:
            # `Accuracy: {correct}/{n} ({share:.0f}%)` names the figure with decimals, not the one next to it.
            titles[number].text, titles[neighbour].text = titles[neighbour].text, []
    return titles


def _alone(judged: Judged, context: Context, place: int | None) -> NameParts:
    candidate, role = judged.candidate, judged.decision.role
    value = candidate.value
    if candidate.sink == "deviate" and (name := _declared_name(candidate)):
        return NameParts(text=[name], expression=[], hint=context.hint, sink=candidate.sink)
    name_text = _listed_name(candidate, place) or candidate.lead
    text = tag_words(name_text) if candidate.sink in TRACKERS else text_words(name_text, candidate.earlier)
    if role == "time":
        text = _time_words(text, candidate)
    of_label = split_identifier(context.label or "")
    if not text and set(of_label) & TELLING:
        text = of_label
    function = [] if value.function.is_module else split_identifier(value.function.name)
    head = candidate.message.split("{}")[0]
    return NameParts(
        text=text,
        expression=_expression_words(candidate),
        phase=_phase(candidate, context, place),
        hint=context.hint,
        function=function,
        variant=[word for word in split_identifier(f"{head} {name_text}") if word in VARIANTS],
        statistic=STATISTICS.get(value.spelled.rpartition(".")[2].removesuffix("()"), ""),
        sink=candidate.sink,
        is_tag=candidate.sink in TRACKERS and "{}" not in candidate.message.removesuffix("{}"),
    )


def _expression_words(candidate: Candidate) -> list[str]:
    """Words of the expression; those of the mapping whose item the label chooses: `epoch_logs[name]`."""
    spelled, label = candidate.value.spelled, re.escape(candidate.label or "")
    match = re.fullmatch(rf"(.+)\[[^\[\]]*\b{label}\b[^\[\]]*\]", spelled) if label else None
    if match is None:
        return expression_words(spelled)
    of_mapping = expression_words(match[1])
    return of_mapping[-1:] if of_mapping[-1] in CONTAINERS - QUALITY else of_mapping


def _declared_name(candidate: Candidate) -> str:
    """The name that `deviate.log` was given, as an identifier; empty where only a run can tell it."""
    is_constant = candidate.message.count("{}") == 1
    return re.sub(r"\W+", "_", candidate.before).strip("_") if is_constant else ""


# ---------------------------------------------------------------- times


def _time_words(text: list[str], candidate: Candidate) -> list[str]:
    """Words of a time: `took` says nothing, the step that took it does."""
    kind, unit = unit_after(candidate.after)
    if not text and kind == "speed":
        return split_identifier(unit.replace("/s", " per second"))
    rest = [word for word in text if word not in SPENT]
    if rest and rest != ["time"]:
        return rest if set(rest) & TELLING or set(rest) - PHASES.keys() else [*rest, "time"]
    if text or kind == "time":
        of_expression = expression_words(candidate.value.spelled)
        if len(of_expression) > 1 and of_expression[-1] == "time" and of_expression[0] != "time":
            return of_expression
        done = {word for word in split_identifier(candidate.message) if word in PIECES}
        near = [word for word in split_identifier(candidate.before) if word in PIECES]
        return [*(near[-1:] or (done if len(done) == 1 else ())), "time"]
    return text


# ---------------------------------------------------------------- messages


def _places(metrics: Sequence[tuple[Judged, Context]]) -> list[int | None]:
    """The number of each value in its message; None where that cannot be told."""
    latest: dict[tuple[int, str], int] = {}
    places: dict[int, int | None] = {}
    for judged, _ in metrics:
        candidate = judged.candidate
        if id(candidate) in places:
            continue
        texts = candidate.message.split("{}")
        key = (candidate.line, candidate.message)
        places[id(candidate)] = next(
            (
                place
                for place in range(latest.get(key, -1) + 1, len(texts) - 1)
                if texts[place] == candidate.before and texts[place + 1] == candidate.after
            ),
            None,
        )
        latest[key] = places[id(candidate)] or latest.get(key, -1)
    return [places[id(judged.candidate)] for judged, _ in metrics]


def _neighbours(metrics: Sequence[tuple[Judged, Context]]) -> Iterator[tuple[int, int]]:
    """Each metric with the one before it in the same message and context."""
    latest: dict[object, int] = {}
    for number, (judged, context) in enumerate(metrics):
        candidate = judged.candidate
        key = (context.path, context.label, candidate.message, candidate.line)
        if key in latest:
            yield number, latest[key]
        latest[key] = number


def _listed_name(candidate: Candidate, place: int | None) -> str:
    """The name that a list of names gives the value: `loss, accuracy: ({}, {})`."""
    texts = candidate.message.split("{}")
    if place is None:
        return ""
    first = place
    while first > 0 and BETWEEN.fullmatch(texts[first]):
        first -= 1
    last = place
    while last + 2 < len(texts) and BETWEEN.fullmatch(texts[last + 1]):
        last += 1
    names = LISTING.split(clause(texts[first].rpartition("\n")[2].replace(",", "&")).strip(" :=([&\t"))
    if not len(names) == last - first + 1 > 1 or not all(
        0 < len(split_identifier(name)) <= MOST_WORDS for name in names[1:]
    ):
        return ""
    shared = split_identifier(names[-1])[-1:]  # `min/max reward`
    is_short = shared and set(shared) & TELLING and not set(split_identifier(names[place - first])) & TELLING
    return f"{names[place - first]} {shared[0]}" if is_short else names[place - first]


def _root(candidate: Candidate) -> str:
    return re.split(r"[.\[(]", candidate.value.spelled)[0]


def _phase(candidate: Candidate, context: Context, place: int | None) -> str | None:
    """Train, test, val or eval: by the nearest text, the expression, the message up to here, or the function."""
    spelled = re.sub(r"(?<=\w)\.val\b", "", candidate.value.spelled)  # the latest value of a meter
    if phases_in(context.hint) or context.label or len(set(phases_in(spelled))) > 1:  # what compares phases is of none
        return None
    texts = candidate.message.split("{}")
    before = texts[place::-1] if place is not None else [candidate.message]
    owner = candidate.value.function.owner
    around = [candidate.value.function.name, owner.name if owner is not None else ""]
    return phase_of(candidate.before, spelled, *before, *around)


# ---------------------------------------------------------------- repeats
# A variable reported by a second sink under the same name, as when a result is printed and saved.

LOOPS = (cst.For, cst.While)
BARRIERS = (cst.FunctionDef, cst.Lambda, cst.CompFor)


def find_repeats(
    metrics: Sequence[tuple[Judged, Context]], name_parts: Sequence[NameParts], nodes: Nodes
) -> dict[int, int]:
    """Number of each metric that repeats an earlier one, and the number of that one.

    Both report the same local variable on one call path and under the same words, the second one whenever the first was
    reported, and nothing gives the variable another value in between. So the two would always have the same score: as
    two metrics they would leave open which of them decides, and count twice where p-values are adjusted.
    """
    repeats: dict[int, int] = {}
    first: dict[tuple[object, ...], int] = {}
    for number, ((judged, context), words) in enumerate(zip(metrics, name_parts, strict=True)):
        value = judged.candidate.value
        if not isinstance(value.source, cst.Name) or value.form != "value" or value.path or judged.candidate.label:
            continue
        key = (value.function, value.source.value, context.path, context.label, tuple(words.text))
        earlier = first.setdefault(key, number)
        if metrics[earlier][0].candidate.sink != judged.candidate.sink and _is_same(metrics[earlier][0], judged, nodes):
            repeats[number] = earlier
    return repeats


def _is_same(earlier: Judged, later: Judged, nodes: Nodes) -> bool:
    one, other = earlier.candidate.value, later.candidate.value
    bindings = other.function.bindings.get(dotted_name(other.source), [])
    if not bindings:  # of another scope: any function called in between may change it
        return False
    source = other.function.source
    begin, end = source.start(one.node).line, source.start(other.node).line
    if begin > end or any(
        begin <= source.start(binding.node).line <= end for binding in bindings if binding.how != "parameter"
    ):
        return False
    return _is_followed(one.node, other.node, nodes)


def _is_followed(one: cst.CSTNode, other: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether the first site has always reported its last value before the second site runs.

    The second is after it in one block, or, in no loop itself, after the loop whose every iteration ends with the
    first.
    """
    blocks = _blocks(one, nodes, is_beyond_loops=not nodes.loops_around(other))
    for parent in nodes.ancestors(other):
        if parent in blocks:
            return True
        if isinstance(parent, BARRIERS + LOOPS):
            return False
    return False


def _blocks(one: cst.CSTNode, nodes: Nodes, *, is_beyond_loops: bool) -> set[cst.CSTNode]:
    """The blocks that reach the statement of a node whenever they run."""
    source = nodes.source(one)
    blocks: set[cst.CSTNode] = set()
    for parent in nodes.ancestors(one):
        if isinstance(parent, cst.IndentedBlock | cst.Module):
            blocks.add(parent)
        elif isinstance(parent, (*BARRIERS, cst.If, cst.Try, cst.Else)):
            break
        elif isinstance(parent, LOOPS):
            leaves = (leave for leave in walk(parent.body) if isinstance(leave, cst.Break | cst.Continue))
            if not is_beyond_loops or any(source.start(leave).line < source.start(one).line for leave in leaves):
                break
    return blocks
