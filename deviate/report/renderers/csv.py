"""The scores as CSV in long form: a row per run and metric, from which anyone can compute every figure again."""

import csv
import io

from deviate.report.format import clean
from deviate.report.renderers.registry import Surface, renderer
from deviate.report.view import View

COLUMNS = ("experiment", "variant", "replicate", "status", "metric", "score")


@renderer("csv")
def render_csv(view: View, _surface: Surface) -> str:
    """Scores keep all bits; a run without a score has an empty one, and its status says why."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in view.findings.experiments:
        experiment = item.experiment
        for description in item.descriptions:
            scores = {score.replicate: score.value for score in description.scores}
            for run in experiment.runs:
                score = scores.get(run.replicate)
                writer.writerow(
                    (
                        _plain(experiment.name),
                        _plain(experiment.variant),
                        run.replicate,
                        run.status,
                        _plain(description.metric.name),
                        "" if score is None else repr(float(score)),
                    )
                )
    return buffer.getvalue()


def _plain(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    cleaned = clean(text)
    return f"'{cleaned}" if cleaned.startswith(("=", "+", "-", "@")) else cleaned
