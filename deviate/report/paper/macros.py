r"""Every figure of the table as a LaTeX command, so that the text of a paper cites live numbers."""

from collections.abc import Callable, Iterator, Sequence

from deviate.model import Comparison, Description, Equivalence, Estimate, Interval, Test, Unavailable
from deviate.report.format import number, p_cell, percentage, ratio, signed
from deviate.report.forms.tex import comment, escape, prose
from deviate.report.paper.letters import prefixes
from deviate.report.paper.macro import MISSING, Macro, maths, missing
from deviate.report.paper.stability_macros import stability_macros
from deviate.report.parts.compare import equivalence_texts, places_of_difference, test_text, verdict_word
from deviate.report.parts.describe import n_text, places_of
from deviate.report.parts.metrics import comparison_of, matched_rows
from deviate.report.parts.noise import is_study
from deviate.report.view import View

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
    how = [f"% {line}" for line in HOW.splitlines()]
    lines = [
        rf"\deviatefigure{{\{macro.name}}}{{{macro.body}}}{f' % {comment(macro.remark)}' if macro.remark else ''}"
        for macro in macros
    ]
    return "\n".join([*how, DEFINED, *lines]) + "\n"


def macros_of(view: View) -> tuple[Macro, ...]:
    """All commands of a report, those of the whole first, in the order of experiments and metrics."""
    general = list(_general(view))
    findings = view.findings
    rows = matched_rows(findings)
    places: list[tuple[int, Description, Comparison | None]] = []
    for index in range(len(findings.experiments)):
        for row in rows:
            description, first = row[index], row[0]
            if description is not None:
                pair = comparison_of(findings, index - 1, first.metric.name) if index and first is not None else None
                places.append((index, description, pair))
    whose = _experiments(view)
    names = [(*whose[index], description.metric.name) for index, description, _ in places]
    commands = [macro.name.removeprefix("deviate") for macro in general]
    macros = list(general)
    for (index, description, comparison), prefix in zip(places, prefixes(names, ENDINGS, commands), strict=True):
        macros += [_with_prefix(prefix, macro) for macro in _description(description)]
        macros += [_with_prefix(prefix, macro) for macro in _comparison(comparison)] if index and findings.pairs else []
    commands = [macro.name.removeprefix("deviate") for macro in macros]
    return (*macros, *stability_macros(view, whose, commands))


def _with_prefix(prefix: str, macro: Macro) -> Macro:
    return Macro(f"deviate{prefix}{macro.name}", macro.body, macro.remark)


def _experiments(view: View) -> list[tuple[str, ...]]:
    """What the commands of each are called by, also where there is one alone: papers hold several reports."""
    study = (_name(view),) if is_study(view.findings) else ()
    return [(*study, experiment.label) for experiment in view.experiments]


def _name(view: View) -> str:
    return view.findings.experiments[0].experiment.name


def _general(view: View) -> Iterator[Macro]:
    """Sentences are named by what they are of, so that those on an experiment alone and as a candidate may meet."""
    facts = {fact.label: fact.cell.text for fact in view.analysis}
    yield Macro("deviateVersion", escape(facts["deviate"]))
    yield Macro("deviateConfidence", escape(facts["Confidence"]))
    of_candidates = {verdict.paste: (verdict.candidate,) for verdict in view.verdicts}
    sentences = [text for text in view.paste if text not in of_candidates]
    whose = ("tasks",) if view.findings.pairs else (_name(view), "noise" if is_study(view.findings) else "alone")
    counts = [()] if len(sentences) == 1 else [(str(index),) for index in range(1, len(sentences) + 1)]
    names = of_candidates | {text: (*whose, *count) for text, count in zip(sentences, counts, strict=True)}
    chosen = prefixes([names[text] for text in view.paste], ("Sentence",), ("Version", "Confidence"))
    for name, text in zip(chosen, view.paste, strict=True):
        yield Macro(f"deviate{name}Sentence", prose(text))


def _description(description: Description) -> Iterator[Macro]:
    places = places_of(description)

    def figures(value: float) -> str:
        return number(value, places)

    yield _estimate("Mean", description.mean, figures, description.note)
    yield _estimate("SD", description.sd, figures, description.note)
    yield Macro("N", maths(str(description.n)))
    remark = "" if description.n == description.n_runs else f"with a score: {n_text(description)}"
    yield Macro("Runs", maths(str(description.n_runs)), remark)
    yield from _ends("CI", description.mean_interval, places)
    yield from _ends("SD", description.sd_interval, places)
    yield _estimate("CV", description.cv, percentage)
    yield _estimate("Median", description.median, figures)
    yield _estimate("Min", description.minimum, figures)
    yield _estimate("Max", description.maximum, figures)
    yield Macro("Unit", escape(description.metric.unit), "" if description.metric.unit else "no unit")


def _comparison(comparison: Comparison | None) -> Iterator[Macro]:
    if comparison is None:
        yield from (Macro(ending, MISSING, "not reported on both sides") for ending in OF_COMPARISON)
        return
    places = places_of_difference(comparison)
    test = comparison.deciding_test
    yield _estimate("Difference", comparison.difference, lambda value: signed(value, places), comparison.note)
    yield from _ends("Difference", comparison.difference_interval, places)
    yield _estimate("P", test.p_value if isinstance(test, Test) else test, _p_value)
    yield _estimate("PAdjusted", comparison.p_adjusted, _p_value)
    yield Macro("Test", escape(test_text(test, "t")), test.name) if isinstance(test, Test) else missing("Test", test)
    yield _estimate("EffectSize", comparison.hedges_g, ratio)
    yield from _ends("EffectSize", comparison.hedges_g_interval, 2)
    yield _estimate("Superiority", comparison.superiority, ratio)
    yield _estimate("SDRatio", comparison.sd_ratio, ratio)
    yield from _ends("SDRatio", comparison.sd_ratio_interval, 2)
    yield _estimate("Detectable", comparison.detectable, lambda value: number(value, places), "at 80% power")
    if isinstance(comparison.equivalence, Equivalence):
        yield Macro("Equivalence", escape("; ".join(equivalence_texts(comparison))))
    else:
        yield missing("Equivalence", comparison.equivalence)
    yield Macro("Verdict", escape(verdict_word(comparison)), comparison.verdict.reason)


def _estimate(name: str, value: Estimate, written: Callable[[float], str], note: str = "") -> Macro:
    return missing(name, value) if isinstance(value, Unavailable) else Macro(name, maths(written(value)), note)


def _ends(name: str, interval: Interval | Unavailable, places: int | None) -> Iterator[Macro]:
    for end in ("Low", "High"):
        if isinstance(interval, Unavailable):
            yield missing(f"{name}{end}", interval)
        else:
            value = interval.low if end == "Low" else interval.high
            yield Macro(f"{name}{end}", maths(number(value, places)), interval.note)


def _p_value(value: float) -> str:
    cell = p_cell(value)
    return cell if cell.startswith("<") else f"= {cell}"
