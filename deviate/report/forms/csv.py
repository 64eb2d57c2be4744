"""The scores as CSV in long form: a row per run and metric, from which anyone can compute every figure again."""

import csv
import io

from deviate.report.data.scores import score_rows
from deviate.report.form_registry import Medium
from deviate.report.forms.registry import renderer
from deviate.report.view import View


@renderer("csv")
def render_csv(view: View, _surface: Medium) -> str:
    """Scores keep all bits; a run without a score has an empty one, and its status says why."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(score_rows(view.findings))
    return buffer.getvalue()
