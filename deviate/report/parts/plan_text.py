"""An experiment plan as a document: how many runs a question needs, and what given numbers of runs can show."""

from collections.abc import Callable, Iterator

from deviate.model.design import Design, DesignRow, Question
from deviate.model.estimates import Estimate, Unavailable
from deviate.report.document import Document, DocumentTable, Fact, Facts, fact, labelled, listing, paragraph
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    counted,
    decimals,
    difference_unit,
    duration,
    number,
    percentage,
    ratio,
    with_unit,
)

LOOKS = {"obrien-fleming": "O'Brien-Fleming", "pocock": "Pocock"}


def plan_document(design: Design, data: Callable[[], object] = dict) -> Document:
    """The design, with `data` for programs."""
    sections = (paragraph(Facts(tuple(_facts(design)))), paragraph(_table(design)), paragraph(*_notes(design)))
    return Document(sections=sections, data=data)


def _facts(design: Design) -> Iterator[Fact]:
    """What the question needs first, else how many seeds."""
    question = design.question
    if question.effect is not None:
        yield from labelled("Runs", _runs(design))
    if question.margin is not None:
        yield fact("Margin", _margin(question.margin, design))
    if question.effect is None and question.margin is None:
        yield fact("Seeds", _usual(design))
    yield fact("Plan", _test(question))
    yield fact("Spread", _describe_spread(design))
    if question.effect is not None:
        yield fact("Effect", _amount(question.effect, design))
    yield from labelled("Looks", _looks(design))


def _table(design: Design) -> DocumentTable:
    """What given numbers of runs can show."""
    columns: list[tuple[str, Callable[[DesignRow], str]]] = [
        ("runs of each" if design.question.correlation is None else "pairs", lambda row: str(row.n)),
        ("detectable difference", lambda row: _said(row.detectable, lambda effect: _amount(effect, design))),
        ("power for the effect", lambda row: _chance(row.power)),
        ("power to show equivalence", lambda row: _chance(row.equivalence)),
        ("± of a mean", lambda row: _amount(row.half_width, design)),
        ("SD known within", lambda row: f"× {ratio(row.sd_low)} … {ratio(row.sd_high)}"),
    ]
    if design.question.margin is None:
        del columns[3]
    if design.question.effect is None:
        del columns[2]
    return listing([head for head, _ in columns], [[text(row) for _, text in columns] for row in design.rows])


def _notes(design: Design) -> Iterator[str]:
    """The assumptions behind the numbers."""
    text = "; ".join(
        f"{ratio(value)}: {_number(runs)}" for value, runs in design.spread_runs if not isinstance(runs, Unavailable)
    )
    yield f"To detect a difference of SDs, runs of each by their ratio: {text}."
    yield "For normal scores of equal spread. A claim about SDs needs 16 runs of each."
    if design.question.correlation is None:
        yield "Runs that share their seeds may be compared as pairs: --paired --correlation, as compare shows it."


def _usual(design: Design) -> str:
    """`5 of each find a difference of 2.1 SD, 10 of 1.3 SD, 20 of 0.9 SD; fewer than 5 give …`."""
    (least, first), *others = design.usual
    more = "".join(f", {n} of {_difference(effect, design)}" for n, effect in others)
    fewer = f"fewer than {least} give a description, no verdict"
    metric = f" in {clean(design.pilot.metric)}" if design.pilot and design.pilot.metric else ""
    return f"{least} {_side(design)} find a difference of {_difference(first, design)}{metric}{more}; {fewer}"


def _difference(effect: Estimate, design: Design) -> str:
    """A detectable difference, in standard deviations with one decimal."""
    return _said(effect, lambda value: _amount(value, design) if design.pilot else f"{number(value, 1)} SD")


def _said(figure: Estimate, written: Callable[[float], str]) -> str:
    return figure.reason if isinstance(figure, Unavailable) else written(figure)


def _test(question: Question) -> str:
    test = "Welch's t and permutation test"
    if question.correlation is not None:
        test = f"paired t-test and sign flips, correlation {question.correlation:g}"
    shared = f", level shared by {question.n_candidates} candidates" if question.n_candidates > 1 else ""
    text = f"{test}, two-sided, {confidence_text(question.confidence)}{shared}; power {percentage(question.power)}"
    return f"{text}; for scores near normal, skewed scores need more"


def _describe_spread(design: Design) -> str:
    pilot = design.pilot
    if pilot is None:
        return "not given: effects are in standard deviations (--pilot NAME or --sd X for units of the metric)"
    places = decimals(pilot.sd / 10)
    text = f"SD {with_unit(number(pilot.sd, places), clean(pilot.unit))}"
    if not pilot.name:
        return f"{text}, as given"
    interval = pilot.interval
    if not isinstance(interval, Unavailable):
        text += f" [{between(interval.low, interval.high, places)}]"
    return (
        f"{text} of {clean(pilot.metric)} in {clean(pilot.name)}, n = {' + '.join(str(side.n) for side in pilot.sides)}"
    )


def _runs(design: Design) -> list[str]:
    text = [f"{_number(design.runs)} {_side(design)}{_more(design.runs, design)}"]
    if not isinstance(design.runs_range, Unavailable):
        low, high = design.runs_range
        text.append(f"{_number(low)} … {_number(high)} over the interval of the pilot's SD, wide with few runs")
    if not isinstance(design.rank_runs, Unavailable):
        text.append(f"{design.rank_runs} of each for a rank test (Mann-Whitney)")
    return text


def _side(design: Design) -> str:
    return "of each" if design.question.correlation is None else "pairs"


def _more(runs: int | Unavailable, design: Design) -> str:
    """`: 27 more of base, 29 more of new (about 37 more starts of new at its 20 % failure rate); about 4 min`."""
    pilot = design.pilot
    if isinstance(runs, Unavailable) or pilot is None or not pilot.sides:
        return ""
    parts: list[str] = []
    starts: list[tuple[int, float | None]] = []
    for side in pilot.sides:
        more = max(0, runs - side.n)
        n_starts = -(-more * side.n_runs // side.n)
        name = clean(side.name)
        text = f"{more or 'no'} more of {name}"
        if n_starts > more:
            rate = percentage(1 - side.n / side.n_runs)
            text += f" (about {counted(n_starts, 'more start')} of {name} at its {rate} failure rate)"
        parts.append(text)
        starts.append((n_starts, side.wall_time_s))
    if n_others := 1 + design.question.n_candidates - len(pilot.sides):
        parts.append(f"{runs} of {'the other method' if n_others == 1 else f'each of {n_others} other methods'}")
        starts.append((n_others * runs, pilot.wall_time_s))
    times = [n * wall_time_s for n, wall_time_s in starts if wall_time_s is not None]
    if len(times) < len(starts) or not sum(times):
        return f": {', '.join(parts)}"
    return f": {', '.join(parts)}; about {duration(sum(times))}, one after the other"


def _margin(margin: float, design: Design) -> str:
    runs = f"{_number(design.margin_runs)} {_side(design)}"
    more = _more(design.margin_runs, design)
    return f"±{_amount(margin, design)}: {runs} show equivalence when there is no difference{more}"


def _looks(design: Design) -> list[str]:
    if not design.looks or isinstance(design.expected_runs, Unavailable):
        return []
    numbers = ",".join(map(str, design.looks))
    name = "" if design.question.spending == "obrien-fleming" else "pocock:"
    mean = f"{number(design.expected_runs, 1)} {_side(design)} on average when the effect is there"
    parts = [f'--looks "{name}{numbers}" ({LOOKS[design.question.spending]}): {mean}']
    if len(design.looks) < design.question.n_looks:
        parts.append(f"{len(design.looks)} looks, not {design.question.n_looks}: so few runs leave no room for more")
    return parts


def _amount(effect: float, design: Design) -> str:
    """An effect in units of the metric if the spread is known, else in standard deviations."""
    pilot = design.pilot
    if pilot is None:
        return f"{number(effect, decimals(effect / 10))} SD"
    return with_unit(number(effect * pilot.sd, decimals(effect * pilot.sd / 10)), difference_unit(clean(pilot.unit)))


def _chance(chance: Estimate) -> str:
    return _said(chance, lambda value: "> 99 %" if value > 0.99 else f"{number(100 * value, 0)} %")


def _number(n: int | Unavailable) -> str:
    return n.reason if isinstance(n, Unavailable) else str(n)
