"""Experiments and comparisons themselves, as `deviate.read` and `results.findings` hand them out, show themselves too.

They are plain values, of which the rooms below know nothing of HTML; IPython is told how to show them.
"""

import sys
from collections.abc import Callable
from html import escape
from typing import Any, Protocol

from deviate import workflows
from deviate.api.results import Results
from deviate.model import Comparison, Experiment
from deviate.report import difference_cell, metric_name, places_of_difference, verdict_word
from deviate.workflows import AnalysisOptions


class Formatter(Protocol):
    """What IPython has for a form of output.

    Source: IPython 8, `IPython.core.formatters.BaseFormatter.for_type`.
    """

    def for_type(self, typ: type, func: Callable[[Any], str], /) -> object: ...


def show_in_notebook() -> None:
    """Tell the running IPython, if there is one; without it nothing is imported."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    formatter = getattr(shell, "display_formatter", None)
    if formatter is not None:
        html_formatter: Formatter = formatter.formatters["text/html"]
        html_formatter.for_type(Experiment, experiment_html)
        html_formatter.for_type(Comparison, comparison_html)


def experiment_html(experiment: Experiment) -> str:
    """Its spread, as `deviate.describe` shows it; no look at a growing experiment is counted for that."""
    return Results(workflows.describe((experiment,), AnalysisOptions()))._repr_html_()


def comparison_html(comparison: Comparison) -> str:
    """The verdict on one metric; its scores are with the experiments, and so are its figures."""
    change = difference_cell(comparison, places_of_difference(comparison)).text
    sentence = f"{metric_name(comparison)}: difference {change}; {comparison.verdict.reason}"
    return f"<p><strong>Verdict: {escape(verdict_word(comparison))}</strong> {escape(sentence)}</p>"
