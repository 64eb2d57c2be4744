r"""Every figure of the table as a LaTeX command, so that the text of a paper cites live numbers."""

from collections.abc import Callable, Iterator, Sequence

from deviate.model import Comparison, Description, Equivalence, Estimate, Findings, Interval, Test, Unavailable
from deviate.report.document import Report
from deviate.report.format import p_cell
from deviate.report.forms.tex import comment, escape, prose
from deviate.report.numbers import Number, Pieces, factor, share
from deviate.report.paper.letters import prefixes
from deviate.report.paper.macro import MISSING, Macro, maths, missing
from deviate.report.paper.stability_macros import stability_macros
from deviate.report.parts.compare import equivalence_texts, places_of_difference, test_text, verdict_word
from deviate.report.parts.describe import n_text, places_of
from deviate.report.parts.metrics import comparison_of, matched_rows
from deviate.report.parts.noise import is_study

OF_DESCRIPTION = ("Mean", "SD", "N", "Runs", "CILow", "CIHigh", "SDLow", "SDHigh", "CV", "Median", "Min", "Max", "Unit")
OF_COMPARISON = (
    "Difference", "DifferenceLow", "DifferenceHigh", "P", "PAdjusted", "Test", "EffectSize", "EffectSizeLow",
    "EffectSizeHigh", "Superiority", "SDRatio", "SDRatioLow", "SDRatioHigh", "Detectable", "Equivalence", "Verdict",
)  # fmt: skip
ENDINGS = (*OF_DESCRIPTION, *OF_COMPARISON)
HOW = r"""Figures of a report by deviate as commands, rounded as in its table. In the preamble: \input{macros}
  accuracy was \deviateBaseTestAccMean{} $\pm$ \deviateBaseTestAccSD{} ($n = \deviateBaseTestAccN$)
An empty pair of braces keeps the space behind a command. Names: deviate, the experiment, the metric, the quantity;
digits are spelt. Of p-values the sign is part: $p \deviate...PAdjusted$.
CI is the interval of the mean, Difference is candidate minus baseline, EffectSize is Hedges' g, Superiority is
P(candidate > baseline). A figure that there is not shows as --, with the reason behind its line.
Of captured predictions the set follows the experiment: Churn, Pearson, CKA in percent or as correlations; WorstClass.
A paper may read several such files: the same figure may stand in each, one name for two figures is an error."""
DEFINED = r"""\providecommand{\deviatefigure}[2]{%
  \long\def\deviatemeant{#2}%
  \ifdefined#1%
    \ifx#1\deviatemeant\else
      \PackageError{deviate}{\string#1 is another figure in a file that was read before}%
        {Compare all in one report, or give one of the experiments another name.}%
    \fi
  \else
    \newcommand{#1}{#2}%
  \fi
}"""


def macros_source(macros: Sequence[Macro]) -> str:
    """The file: how to use it as its first comment, then a command a line."""
    told = [f"% {line}" for line in HOW.splitlines()]
    lines = [
        rf"\deviatefigure{{\{it.name}}}{{{it.body}}}{f' % {comment(it.remark)}' if it.remark else ''}" for it in macros
    ]
    return "\n".join([*told, DEFINED, *lines]) + "\n"


def macros_of(findings: Findings, report: Report) -> tuple[Macro, ...]:
    """All commands of a report, those of the whole first, in the order of experiments and metrics."""
    general = list(_general(findings, report))
    rows = matched_rows(findings)
    places: list[tuple[int, Description, Comparison | None]] = []
    for index in range(len(findings.experiments)):
        for row in rows:
            found, first = row[index], row[0]
            if found is not None:
                pair = comparison_of(findings, index - 1, first.metric.name) if index and first is not None else None
                places.append((index, found, pair))
    whose = _experiments(findings, report)
    names = [(*whose[index], found.metric.name) for index, found, _ in places]
    taken = [it.name.removeprefix("deviate") for it in general]
    made = list(general)
    for (index, found, comparison), prefix in zip(places, prefixes(names, ENDINGS, taken), strict=True):
        made += [_named(prefix, it) for it in _description(found)]
        made += [_named(prefix, it) for it in _comparison(comparison)] if index and findings.pairs else []
    taken = [it.name.removeprefix("deviate") for it in made]
    return (*made, *stability_macros(findings, whose, taken))


def _named(prefix: str, macro: Macro) -> Macro:
    return Macro(f"deviate{prefix}{macro.name}", macro.body, macro.remark)


def _experiments(findings: Findings, report: Report) -> list[tuple[str, ...]]:
    """What the commands of each are called by, also where there is one alone: papers hold several reports."""
    study = (_name(findings),) if is_study(findings) else ()
    return [(*study, it.label) for it in report.experiments]


def _name(findings: Findings) -> str:
    return findings.experiments[0].experiment.name


def _general(findings: Findings, report: Report) -> Iterator[Macro]:
    """Sentences are named by what they are of, so that those on an experiment alone and as a candidate may meet."""
    facts = {it.label: it.cell.text for it in report.facts}
    yield Macro("deviateVersion", escape(facts["deviate"]))
    yield Macro("deviateConfidence", escape(facts["Confidence"]))
    of_candidates = {it.paste: (it.candidate,) for it in report.verdicts}
    others = [text for text in report.paste if text not in of_candidates]
    whose = ("tasks",) if findings.pairs else (_name(findings), "noise" if is_study(findings) else "alone")
    counts = [()] if len(others) == 1 else [(str(index),) for index in range(1, len(others) + 1)]
    names = of_candidates | {text: (*whose, *count) for text, count in zip(others, counts, strict=True)}
    found = prefixes([names[text] for text in report.paste], ("Sentence",), ("Version", "Confidence"))
    for name, text in zip(found, report.paste, strict=True):
        yield Macro(f"deviate{name}Sentence", prose(text))


def _description(it: Description) -> Iterator[Macro]:
    places = places_of(it)

    def figures(value: float) -> Pieces:
        return (Number(value, places),)

    yield _estimate("Mean", it.mean, figures, it.note)
    yield _estimate("SD", it.sd, figures, it.note)
    yield Macro("N", maths(Number(it.n, 0)))
    yield Macro("Runs", maths(Number(it.n_runs, 0)), "" if it.n == it.n_runs else f"with a score: {n_text(it)}")
    yield from _ends("CI", it.mean_interval, places)
    yield from _ends("SD", it.sd_interval, places)
    yield _estimate("CV", it.cv, share)
    yield _estimate("Median", it.median, figures)
    yield _estimate("Min", it.minimum, figures)
    yield _estimate("Max", it.maximum, figures)
    yield Macro("Unit", escape(it.metric.unit), "" if it.metric.unit else "no unit")


def _comparison(it: Comparison | None) -> Iterator[Macro]:
    if it is None:
        yield from (Macro(ending, MISSING, "not reported on both sides") for ending in OF_COMPARISON)
        return
    places = places_of_difference(it)
    test = it.deciding_test
    yield _estimate("Difference", it.difference, lambda value: (Number(value, places, "signed"),), it.note)
    yield from _ends("Difference", it.difference_interval, places)
    yield _estimate("P", test.p_value if isinstance(test, Test) else test, _p_value)
    yield _estimate("PAdjusted", it.p_adjusted, _p_value)
    yield Macro("Test", escape(test_text(test, "t")), test.name) if isinstance(test, Test) else missing("Test", test)
    yield _estimate("EffectSize", it.hedges_g, factor)
    yield from _ends("EffectSize", it.hedges_g_interval, 2)
    yield _estimate("Superiority", it.superiority, factor)
    yield _estimate("SDRatio", it.sd_ratio, factor)
    yield from _ends("SDRatio", it.sd_ratio_interval, 2)
    yield _estimate("Detectable", it.detectable, lambda value: (Number(value, places),), "at 80% power")
    if isinstance(it.equivalence, Equivalence):
        yield Macro("Equivalence", escape("; ".join(equivalence_texts(it))))
    else:
        yield missing("Equivalence", it.equivalence)
    yield Macro("Verdict", escape(verdict_word(it)), it.verdict.reason)


def _estimate(name: str, value: Estimate, written: Callable[[float], Pieces], note: str = "") -> Macro:
    return missing(name, value) if isinstance(value, Unavailable) else Macro(name, maths(*written(value)), note)


def _ends(name: str, interval: Interval | Unavailable, places: int | None) -> Iterator[Macro]:
    for end in ("Low", "High"):
        if isinstance(interval, Unavailable):
            yield missing(f"{name}{end}", interval)
        else:
            value = interval.low if end == "Low" else interval.high
            yield Macro(f"{name}{end}", maths(Number(value, places)), interval.note)


def _p_value(value: float) -> Pieces:
    """With its sign: `< .001`, `= .004`."""
    sign = "" if p_cell(value).startswith("<") else "= "
    return (sign, Number(value, style="p"))
