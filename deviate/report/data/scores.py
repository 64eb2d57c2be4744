"""Scores in long form, a row per run and metric, safe to open in spreadsheets."""

from collections.abc import Iterable, Iterator

from deviate.model import Findings
from deviate.report.format import clean

COLUMNS = ("experiment", "variant", "replicate", "status", "metric", "score")

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""With what a formula begins, after blanks that some readers drop."""


def score_rows(findings: Findings) -> Iterator[tuple[str | int, ...]]:
    """Yield the column names, then a row per run and metric."""
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


def shield_rows(rows: Iterable[Iterable[str | float]]) -> Iterator[list[str | int]]:
    """CSV rows with exact numbers, and text that spreadsheets do not evaluate as formulas."""
    for row in rows:
        yield [_shield(value) for value in row]


def _shield(value: str | float) -> str | int:
    """Protect text from evaluation; text that is a number, such as the value of an argument, is safe."""
    if not isinstance(value, str):
        return value if isinstance(value, int) else repr(float(value))
    try:
        float(value)
    except ValueError:
        return plain_text(value)
    return value


def plain_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    An apostrophe before it is what spreadsheets themselves understand as "this is text". It changes the name for other
    readers, of which few names are worth a warning: who needs them to the letter has them in the JSON.
    Source: OWASP, CSV Injection; wide signs count as the narrow ones where the language has them.
    """
    cleaned = clean(text)
    return f"'{cleaned}" if cleaned.lstrip().startswith(FORMULA) else cleaned
