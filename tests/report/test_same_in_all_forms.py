"""All forms of one comparison state the same figures and the same verdict, whatever the scores are.

The JSON has unrounded figures, against which every form is read: a figure of another form has to be that of the JSON,
rounded, and to have the same digits in all of them.
"""

import csv
import html
import io
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from experiments import experiment, run, selected, single
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.data.tables import table_files
from deviate.report.document import Report
from deviate.report.forms.registry import render
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

NAMES = ("base", "new", "wide", "deep", "tall")
METRICS = (selected("acc", unit="%", is_primary=True), selected("loss", direction="min"))
NUMBER = r"[+−]?(?:\d+(?:\.\d+)?|inf)(?:e−?\d+)?"
P = r"(?:< )?\d\.\d+"
DIFFERENCE = re.compile(
    rf"(?P<difference>{NUMBER})(?: points)?(?: +\[(?:[\d.]+% CI )?(?P<low>{NUMBER}) … (?P<high>{NUMBER}))?"
)
INFERENCE = re.compile(
    rf"(?:[\d.]+% CI (?P<low>{NUMBER}) to (?P<high>{NUMBER})[^,;]*)?(?:, )?(?:p(?: =)? (?P<p>{P}))?"
    rf"(?:, adjusted p(?: =)? (?P<p_adjusted>{P}))?"
)
"""Of the answer and of the sentence to paste."""
SENTENCE = re.compile(rf"The difference was (?P<difference>{NUMBER})(?: points)?(?: \((?P<rest>.*)\))?")
ANSWER = re.compile(
    rf"(?P<candidate>\w+) (?:against|is (?P<word>\w+) (?:than|to)) base(?: within [\d.]+ points)?: "
    rf"acc (?P<difference>{NUMBER}|unknown)(?: points)?(?: \({NUMBER} → (?P<mean>{NUMBER}).*?\))?, (?P<rest>.*)"
)
P_VALUES = re.compile(rf"(?P<p>{P})(?: \((?P<p_adjusted>{P})\))?")
SIDE = re.compile(rf"(?P<mean>{NUMBER})(?: ± (?P<sd>{NUMBER}))?")
Key = tuple[str, str]
"""Candidate and metric."""
Figures = dict[str, str | None]
"""Texts of the figures that a form states of a comparison; None where it says that there is none."""

side = st.fixed_dictionaries(
    {
        "n": st.one_of(st.integers(1, 7), st.integers(8, 40)),
        "shift": st.sampled_from((0.0, 0.3, 1.0, -2.0)),
        "sd": st.sampled_from((0.0, 0.5, 0.5, 2.0)),
        "decimals": st.sampled_from((0, 1, 6)),
        "n_nan": st.sampled_from((0, 0, 1, 3)),
        "n_failed": st.sampled_from((0, 0, 1, 4)),
        "seed": st.integers(0, 1000),
    }
)


@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    st.lists(side, min_size=2, max_size=5),
    st.sampled_from((None, 0.5, 3.0)),
    st.booleans(),
)
def test_all_forms_state_the_same_figures_and_verdicts(
    sides: list[dict[str, Any]],
    margin: float | None,
    is_paired: bool,  # noqa: FBT001  (hypothesis passes arguments by place)
) -> None:
    experiments = [_experiment(name, **given_) for name, given_ in zip(NAMES, sides, strict=False)]
    findings = judge(experiments, AnalysisOptions(margin=margin, is_paired=is_paired))
    report = build_report(findings)
    exact = _exact(json.loads(render(report, "json")))
    assert set(exact) == {(name, metric.name) for name in NAMES[1 : len(sides)] for metric in METRICS}
    forms = {
        "terminal": dict(_terminal(render(report, "terminal", width=1000))),
        "markdown": dict(_markdown(render(report, "markdown"))),
        "latex": dict(_latex(render(report, "latex"))),
        "macros": dict(_macros(findings, report)),
        "sentence": dict(_sentences(report)),
    }
    for form, of_form in forms.items():
        assert of_form, form
        assert form == "sentence" or set(of_form) == set(exact), form
        for key, figures in of_form.items():
            _assert_stated(figures, exact[key], f"{form}, {key}")
    for key in exact:
        stated = [of_form[key] for of_form in forms.values() if key in of_form]
        for name in set().union(*stated):
            assert len({figures[name] for figures in stated if name in figures}) == 1, (key, name, stated)
    _assert_rows(findings, exact)


def _experiment(
    name: str, *, n: int, shift: float, sd: float, decimals: int, n_nan: int, n_failed: int, seed: int
) -> Experiment:
    """Runs with scores in two metrics, some of which are NaN, and runs that failed."""
    rng = np.random.default_rng(seed)
    accuracies = np.round(50 + shift + sd * rng.normal(size=n), decimals)
    losses = np.round(2 - 0.1 * shift + 0.1 * sd * rng.normal(size=n), decimals)
    accuracies[n - min(n_nan, n) :] = math.nan
    runs = [
        run(index, {"acc": single(float(accuracy)), "loss": single(float(loss))})
        for index, (accuracy, loss) in enumerate(zip(accuracies, losses, strict=True))
    ]
    runs += [run(n + index, {}, status="crashed") for index in range(n_failed)]
    return experiment(name, runs, METRICS)


def _exact(data: Mapping[str, Any]) -> dict[Key, dict[str, Any]]:
    """The figures of each comparison in the JSON; None for one that is not available."""
    described = {(item["name"], metric["metric"]): metric for item in data["experiments"] for metric in item["metrics"]}
    exact = {}
    for pair in data["pairs"]:
        for comparison in pair["comparisons"]:
            key = pair["candidate"], comparison["metric"]
            interval = comparison["difference_interval"]
            paired = comparison["paired"] if comparison["is_paired"] else {}
            tests = (
                [paired["t_test"], paired["sign_flips"]] if paired else [comparison["welch"], comparison["permutation"]]
            )
            exact[key] = {
                "word": comparison["verdict"],
                "reason": comparison["reason"],
                "difference": _known(comparison["difference"]),
                "low": _known(interval.get("low")),
                "high": _known(interval.get("high")),
                "p": max((test["p_value"] for test in tests if "p_value" in test), default=None),
                "p_adjusted": _known(comparison["p_adjusted"]),
                "mean": _known(described[key]["mean"]),
                "sd": _known(described[key]["sd"]),
                "n": described[key]["n"],
            }
    return exact


def _known(value: object) -> float | None:
    """A number of the JSON, which has infinite ones as text."""
    if isinstance(value, str):
        return float(value)
    return float(value) if isinstance(value, int | float) else None


def _assert_stated(figures: Figures, exact: Mapping[str, Any], where: str) -> None:
    for name, text in figures.items():
        value = exact[name]
        if name == "reason":
            assert str(text).startswith(value), where  # remarks may follow
        elif name == "word":
            assert text == value, where
        elif value is None or text is None:
            assert text is None, f"{where}: {name} is {text}, in the JSON {value}"
            assert value is None or name in ("p", "p_adjusted"), f"{where}: no {name}, in the JSON {value}"
        elif name in ("p", "p_adjusted"):
            assert text == ("< 0.001" if value < 0.001 else f"{value:.3f}"), f"{where}: {name}"
        else:
            assert _is_rounded(text, value), f"{where}: {name} is {text}, in the JSON {value}"


def _is_rounded(text: str, value: float) -> bool:
    """Whether a text is this value, rounded to its last digit."""
    mantissa, _, exponent = text.replace("−", "-").partition("e")
    scale = 10.0 ** int(exponent or 0)
    places = len(mantissa.partition(".")[2])
    stated = float(mantissa) * scale
    if math.isinf(stated) or math.isinf(value):
        return stated == value
    has_tens = not places and abs(stated) >= 10  # without decimals, six significant digits
    unit = scale * 10.0**-places
    return abs(stated - value) <= 0.500001 * unit + (5e-6 * abs(value) if has_tens else 0)


def _difference(text: str) -> Figures:
    stated = DIFFERENCE.match(text.strip())
    return dict(stated.groupdict()) if stated else dict.fromkeys(("difference", "low", "high"))


def _p_values(text: str) -> Figures:
    """The p of the interval, and the adjusted one, which is the same where none stands beside it."""
    stated = P_VALUES.search(text)
    if stated is None:
        return {"p": None, "p_adjusted": None}
    return {"p": stated["p"], "p_adjusted": stated["p_adjusted"] or stated["p"]}


def _inference(text: str) -> Figures:
    """The interval and the p-values with which a text begins, after the reason why there is no interval."""
    stated = re.search(r"[\d.]+% CI |(?<!\w)p [=<] ", text)
    figures = INFERENCE.match(text[stated.start() :] if stated else "")
    assert figures is not None
    return figures.groupdict() | {"p_adjusted": figures["p_adjusted"] or figures["p"]}


def _word(text: str) -> Figures:
    return {"word": text.strip().partition(" within ")[0]}


def _mean(text: str) -> Figures:
    stated = SIDE.match(text.strip())
    return {name: figure for name, figure in stated.groupdict().items() if figure} if stated else {"mean": None}


def _terminal(text: str) -> Iterator[tuple[Key, Figures]]:
    lines = text.splitlines()
    for line, following in itertools.pairwise(lines):
        if line.startswith("Verdict: "):
            word, _, statement = line.removeprefix("Verdict: ").partition("   ")
            stated = ANSWER.fullmatch(statement)
            assert stated is not None, statement
            assert stated["word"] in (None, *_word(word).values())
            figures = {name: stated[name] for name in ("difference", "mean") if stated[name] not in (None, "unknown")}
            figures = {"difference": None, **figures, **_inference(stated["rest"])}
            yield (stated["candidate"], "acc"), {**_word(word), **figures, "reason": following.strip()}
    for line in lines:
        cells = re.split(r"  +", re.sub(r"[⁰¹²³⁴-⁹,]+(?=  |$)", "", line))
        if re.fullmatch(r"loss(, \w+)?", cells[0]) and len(cells) == 6:
            name, _, mean, difference, p_text, word = cells
            yield (name.partition(", ")[2] or "new", "loss"), _row(mean, difference, p_text, word)


def _markdown(text: str) -> Iterator[tuple[Key, Figures]]:
    for line in text.splitlines():
        plain = html.unescape(re.sub(r"<sup>.*?</sup>|\*\*", "", line).replace("\\", ""))
        if stated := re.match(r"\| (acc|loss)[^|,]*(?:, (\w+))? \|", plain):
            _, _, mean, difference, p_text, word = (cell.strip() for cell in plain.strip("|").split("|"))
            yield (stated[2] or "new", stated[1]), _row(mean, difference, p_text, word)


def _latex(text: str) -> Iterator[tuple[Key, Figures]]:
    plain = re.sub(r"\\textsuperscript\{.*?\}|\\bfseries\\boldmath|[${}]", "", text)
    for line in plain.replace("\\pm", "±").replace("-", "−").splitlines():
        if stated := re.match(r" +(acc|loss)[^&,]*(?:, (\w+))? &", line):
            cells = line.strip().removesuffix("\\\\").replace(", ", " … ").split("&")
            _, _, mean, difference, p_text, word = (cell.strip() for cell in cells)
            yield (stated[2] or "new", stated[1]), _row(mean, difference, p_text, word)


def _row(mean: str, difference: str, p_text: str, word: str) -> Figures:
    return {**_mean(mean), **_difference(difference), **_p_values(p_text), **_word(word)}


def _macros(findings: Findings, report: Report) -> Iterator[tuple[Key, Figures]]:
    stated = {}
    for line in macros_source(macros_of(findings, report)).splitlines():
        if found := re.match(r"\\deviatefigure\{\\deviate(\w+)\}\{(?:\\ensuremath\{)?(.*?)\}", line):
            stated[found[1]] = None if found[2] == "--" else found[2].replace("-", "−").removeprefix("= ")
    endings = {"difference": "Difference", "low": "DifferenceLow", "high": "DifferenceHigh", "p": "P"}
    endings |= {"p_adjusted": "PAdjusted", "mean": "Mean", "sd": "SD"}
    for candidate in NAMES[1 : len(findings.experiments)]:
        for metric in METRICS:
            before = f"{candidate.capitalize()}{metric.name.capitalize()}"
            figures = {name: stated[f"{before}{ending}"] for name, ending in endings.items()}
            yield (candidate, metric.name), {**figures, **_word(str(stated[f"{before}Verdict"]))}


def _sentences(report: Report) -> Iterator[tuple[Key, Figures]]:
    for verdict in report.verdicts:
        text = verdict.paste
        figures, mean = SENTENCE.search(text), re.match(rf"acc was ({NUMBER})", text)
        stated: Figures = {"mean": mean[1] if mean else None, "difference": figures["difference"] if figures else None}
        yield (verdict.candidate, "acc"), stated | _inference((figures["rest"] or "") if figures else "")


def _assert_rows(findings: Findings, exact: Mapping[Key, Mapping[str, Any]]) -> None:
    """The CSV of all comparisons has the very figures of the JSON, and the scores have the means that it states."""
    files = {file.name: list(csv.DictReader(io.StringIO("".join(file.chunks())))) for file in table_files(findings)}
    columns = {"word": "verdict", "reason": "verdict_reason", "difference": "difference", "p_adjusted": "p_adjusted"}
    columns |= {"low": "difference_interval_low", "high": "difference_interval_high"}
    for row in files["comparisons.csv"]:
        of_row = exact[row["candidate"], row["metric"]]
        for name, column in columns.items():
            text = row[column]
            value = text if name in ("word", "reason") else float(text) if text else None
            assert value == of_row[name], (row["candidate"], row["metric"], name)
    for (candidate, metric), figures in exact.items():
        scores = [
            float(row["score"])
            for row in files["scores.csv"]
            if (row["experiment"], row["metric"]) == (candidate, metric) and row["score"]
        ]
        assert len(scores) == figures["n"]
        assert figures["mean"] is None if not scores else math.isclose(float(np.mean(scores)), figures["mean"])
