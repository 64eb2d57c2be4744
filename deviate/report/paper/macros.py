r"""LaTeX commands for every number of the results table, so that a paper can cite current numbers."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from deviate.model.comparisons import Comparison, Description, Equivalence
from deviate.model.estimates import Estimate, Interval, Test, Unavailable
from deviate.model.findings import Findings
from deviate.report.data.published import figure_of
from deviate.report.document import Report
from deviate.report.format import p_cell
from deviate.report.forms.tex import comment, escape, prose, typeset
from deviate.report.numbers import PERCENT, Piece, Pieces, ShownNumber, factor, share
from deviate.report.numbers import Style as NumberStyle
from deviate.report.parts.compare import equivalence_texts, places_of_difference, test_text, verdict_word
from deviate.report.parts.describe import n_text, places_of
from deviate.report.parts.metrics import comparison_of, matched_rows
from deviate.report.parts.noise import is_study
from deviate.report.verdicts import verdict_reason
from deviate.stats.registry import Statistic, labelled_statistics

MISSING = "--"
"""What stands in the text where there is no figure: seen by whoever reads it."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A command; `remark` is the reason for a missing number, or a caveat."""

    name: str
    body: str
    remark: str = ""

    def behind(self, prefix: str) -> "Macro":
        """A copy of the command with a prefix before its name."""
        return Macro(f"deviate{prefix}{self.name}", self.body, self.remark)


def missing(name: str, why: Unavailable) -> Macro:
    return Macro(name, MISSING, why.reason)


def maths(*pieces: Piece) -> str:
    """A number that works in text and in math mode; a percent sign stays with it."""
    numbers, percent = (pieces[:-1], r"\,\%") if pieces[-1] == PERCENT else (pieces, "")
    return rf"\ensuremath{{{typeset(numbers).replace('$', '')}}}{percent}"


def of_estimate(name: str, value: Estimate, written: Callable[[float], Pieces], note: str = "") -> Macro:
    return missing(name, value) if isinstance(value, Unavailable) else Macro(name, maths(*written(value)), note)


def of_ends(name: str, interval: Interval | Unavailable, written: Callable[[float], Pieces]) -> Iterator[Macro]:
    for end in ("Low", "High"):
        if isinstance(interval, Unavailable):
            yield missing(f"{name}{end}", interval)
        else:
            value = interval.low if end == "Low" else interval.high
            yield Macro(f"{name}{end}", maths(*written(value)), interval.note)


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
P(candidate > baseline). A missing figure is --, with the reason behind its line.
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
    """Contents of the file: a comment that explains its use, then one command per line."""
    how = [f"% {line}" for line in HOW.splitlines()]
    lines = [
        rf"\deviatefigure{{\{macro.name}}}{{{macro.body}}}{f' % {comment(macro.remark)}' if macro.remark else ''}"
        for macro in macros
    ]
    return "\n".join([*how, DEFINED, *lines]) + "\n"


def macros_of(findings: Findings, report: Report) -> tuple[Macro, ...]:
    """All commands of a report: general ones first, then by experiment and metric."""
    general = list(_general(findings, report))
    rows = matched_rows(findings)
    places = [
        (index, description, comparison_of(findings, index - 1, row[0].metric.name) if index and row[0] else None)
        for index in range(len(findings.experiments))
        for row in rows
        if (description := row[index]) is not None
    ]
    experiment_prefixes = _experiments(findings, report)
    names = [(*experiment_prefixes[index], description.metric.name) for index, description, _ in places]
    commands = [macro.name.removeprefix("deviate") for macro in general]
    macros = list(general)
    endings = (*ENDINGS, *_further_endings())
    for (index, description, comparison), prefix in zip(places, prefixes(names, endings, commands), strict=True):
        macros += [macro.behind(prefix) for macro in _description(description)]
        macros += [macro.behind(prefix) for macro in _comparison(comparison)] if index and findings.pairs else []
    return tuple(macros)


def _experiments(findings: Findings, report: Report) -> list[tuple[str, ...]]:
    """Command prefixes of the experiments, also for a single experiment, since a paper may include several reports."""
    study = (_name(findings),) if is_study(findings) else ()
    return [(*study, experiment.label) for experiment in report.experiments]


def _name(findings: Findings) -> str:
    return findings.experiments[0].experiment.name


def _general(findings: Findings, report: Report) -> Iterator[Macro]:
    """General commands. Sentences name their subject, as an experiment can appear alone and as a candidate."""
    facts = {fact.label: fact.cell.text for fact in report.facts}
    yield Macro("deviateVersion", escape(facts["deviate"]))
    yield Macro("deviateConfidence", escape(facts["Confidence"]))
    of_candidates = {verdict.paste: (verdict.candidate,) for verdict in report.verdicts}
    sentences = [text for text in report.paste if text not in of_candidates]
    prefix = ("tasks",) if findings.pairs else (_name(findings), "noise" if is_study(findings) else "alone")
    counts = [()] if len(sentences) == 1 else [(str(index),) for index in range(1, len(sentences) + 1)]
    names = of_candidates | {text: (*prefix, *count) for text, count in zip(sentences, counts, strict=True)}
    chosen = prefixes([names[text] for text in report.paste], ("Sentence",), ("Version", "Confidence"))
    for name, text in zip(chosen, report.paste, strict=True):
        yield Macro(f"deviate{name}Sentence", prose(text))


def _description(description: Description) -> Iterator[Macro]:
    figures = _rounded(places_of(description))
    yield of_estimate("Mean", description.mean, figures, description.note)
    yield of_estimate("SD", description.sd, figures, description.note)
    yield Macro("N", maths(ShownNumber(description.n, 0)))
    remark = "" if description.n == description.n_runs else f"with a score: {n_text(description)}"
    yield Macro("Runs", maths(ShownNumber(description.n_runs, 0)), remark)
    yield from of_ends("CI", description.mean_interval, figures)
    yield from of_ends("SD", description.sd_interval, figures)
    yield of_estimate("CV", description.cv, share)
    yield of_estimate("Median", description.median, figures)
    yield of_estimate("Min", description.minimum, figures)
    yield of_estimate("Max", description.maximum, figures)
    yield Macro("Unit", escape(description.metric.unit), "" if description.metric.unit else "no unit")


def _comparison(comparison: Comparison | None) -> Iterator[Macro]:
    if comparison is None:
        endings = (*OF_COMPARISON, *_further_endings())
        yield from (Macro(ending, MISSING, "not reported on both sides") for ending in endings)
        return
    places, test = places_of_difference(comparison), comparison.deciding_test
    figures, with_sign = _rounded(places), _rounded(places, "signed")
    yield of_estimate("Difference", comparison.difference, with_sign, comparison.note)
    yield from of_ends("Difference", comparison.difference_interval, figures)
    yield of_estimate("P", test.p_value if isinstance(test, Test) else test, _p_value)
    yield of_estimate("PAdjusted", comparison.p_adjusted, _p_value)
    yield Macro("Test", escape(test_text(test, "t")), test.name) if isinstance(test, Test) else missing("Test", test)
    yield of_estimate("EffectSize", comparison.hedges_g, factor)
    yield from of_ends("EffectSize", comparison.hedges_g_interval, factor)
    yield of_estimate("Superiority", comparison.superiority, factor)
    yield of_estimate("SDRatio", comparison.sd_ratio, factor)
    yield from of_ends("SDRatio", comparison.sd_ratio_interval, factor)
    yield of_estimate("Detectable", comparison.detectable, figures, "at 80% power")
    if isinstance(comparison.equivalence, Equivalence):
        yield Macro("Equivalence", escape("; ".join(equivalence_texts(comparison))))
    else:
        yield missing("Equivalence", comparison.equivalence)
    yield Macro("Verdict", escape(verdict_word(comparison)), verdict_reason(comparison))
    for statistic in labelled_statistics():
        yield from _further(statistic, comparison)


def _further_endings() -> list[str]:
    """Commands of registered statistics that define how they are shown."""
    return [
        f"{letters(statistic.name)}{end}"
        for statistic in labelled_statistics()
        for end in (("",) if statistic.interval is None else ("", "Low", "High"))
    ]


def _further(statistic: Statistic, comparison: Comparison) -> Iterator[Macro]:
    figure, name = figure_of(comparison, statistic.name), letters(statistic.name)
    figures = _rounded(places_of_difference(comparison) if statistic.kind == "difference" else 2)
    if isinstance(figure.value, Test):
        yield Macro(name, escape(test_text(figure.value, statistic.letter)), statistic.label)
    else:
        yield of_estimate(name, figure.value, figures, statistic.label)
    if statistic.interval is not None:
        yield from of_ends(name, figure.interval, figures)


def _rounded(places: int | None, style: NumberStyle = "plain") -> Callable[[float], Pieces]:
    return lambda value: (ShownNumber(value, places, style),)


def _p_value(value: float) -> Pieces:
    """A p-value with its relation sign: `< 0.001`, `= 0.004`."""
    sign = "" if p_cell(value).startswith("<") else "= "
    return (sign, ShownNumber(value, style="p"))


# Names of commands for experiments and metrics: letters only, and unique.

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
LONGEST = 40
"""Letters of a name in a command: longer ones end in letters of their hash."""
N_HASHED = 6


def letters(name: str) -> str:
    """A name in letters: words begin with a capital, digits are spelt, other letters go by their name in Unicode.

    >>> letters("test_acc"), letters("Resnet50"), letters("top-5 (%)"), letters("σ"), letters("valLoss")
    ('TestAcc', 'ResnetFiveZero', 'TopFive', 'Sigma', 'ValLoss')
    """
    words: list[str] = []
    for word in re.findall(r"[A-Za-z]+|[0-9]|[^\x00-\x7f]", unicodedata.normalize("NFKC", name)):
        if word.isascii():
            words.append(DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:])
        else:
            words.append(_spelt(word))
    text = "".join(words)
    return text if len(text) <= LONGEST else text[: LONGEST - N_HASHED] + hash_letters(name)


def hash_letters(name: str) -> str:
    """A few letters derived from a hash of the name, which do not depend on other names."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest[:N_HASHED]).capitalize()


def prefixes(names: Sequence[tuple[str, ...]], endings: Iterable[str], used_names: Iterable[str] = ()) -> list[str]:
    """Unique command prefixes for the names, which stay unique with any of the given endings.

    A name keeps its prefix unless an earlier name uses it, so appending names does not change it.

    Args:
        names: distinct; parts of one, such as experiment and metric, follow each other.
        used_names: commands that are there already.
    """
    endings, commands, chosen = tuple(endings), set(used_names), []
    for name in names:
        plain = "".join(map(letters, name))
        prefix, mark = plain or "X", "\x1f".join(name)
        while any(f"{prefix}{ending}" in commands for ending in endings):
            prefix, mark = plain + hash_letters(mark), mark + "\x1f"
        commands |= {f"{prefix}{ending}" for ending in endings}
        chosen.append(prefix)
    return chosen


def _spelt(character: str) -> str:
    """The last word of a character's Unicode name; for Greek letters that is the letter: GREEK SMALL LETTER SIGMA."""
    plain = unicodedata.normalize("NFD", character)[0]
    if plain.isascii() and plain.isalpha():
        return plain
    if not unicodedata.category(character).startswith(("L", "N")):
        return ""
    words = re.findall(r"[A-Z]+", unicodedata.name(character, "").rpartition("-")[0] or unicodedata.name(character, ""))
    return words[-1].capitalize() if words else ""
