"""The scores as CSV in long form: a row per run and metric, from which anyone can compute every figure again."""

import csv
import io
from collections.abc import Iterator

from deviate.model import Findings
from deviate.report.format import clean
from deviate.report.renderers.registry import Surface, renderer
from deviate.report.view import View

COLUMNS = ("experiment", "variant", "replicate", "status", "metric", "score")

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""With what a formula begins, after blanks that some readers drop."""


@renderer("csv")
def render_csv(view: View, _surface: Surface) -> str:
    """Scores keep all bits; a run without a score has an empty one, and its status says why."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(score_rows(view.findings))
    return buffer.getvalue()


def score_rows(findings: Findings) -> Iterator[tuple[str | int, ...]]:
    """The names of the columns, then a row per run and metric."""
    yield COLUMNS
    for item in findings.experiments:
        experiment = item.experiment
        for description in item.descriptions:
            scores = {score.replicate: score.value for score in description.scores}
            for run in experiment.runs:
                score = scores.get(run.replicate)
                yield (
                    plain_text(experiment.name),
                    plain_text(experiment.variant),
                    run.replicate,
                    run.status,
                    plain_text(description.metric.name),
                    "" if score is None else repr(float(score)),
                )


def plain_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    An apostrophe before it is what spreadsheets themselves understand as "this is text". It changes the name for other
    readers, of which few names are worth a warning: who needs them to the letter has them in the JSON.
    Source: OWASP, CSV Injection; wide signs count as the narrow ones where the language has them.
    """
    cleaned = clean(text)
    return f"'{cleaned}" if cleaned.lstrip().startswith(FORMULA) else cleaned
