"""`deviate plan`: how many runs a question takes, before any is made."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import Form, command, complete_sources, print_document
from deviate.cli.options.groups import in_difference, in_output, in_runs, in_verdict
from deviate.cli.options.results import CONFIDENCE, METRIC
from deviate.errors import InputError
from deviate.model.design import Pilot, Question
from deviate.model.estimates import NOT_ASKED
from deviate.model.records import Spending
from deviate.records.experiments import read_one
from deviate.records.layout import records_folder
from deviate.report.data.published import plain
from deviate.report.parts.plan_text import plan_document

MOST_SIDES = 2


@command(
    "plan",
    epilog="Example: deviate plan --effect 0.5 --power 0.8, or: plan base new --difference 0.3",
)
def plan_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT] [EXPERIMENT]",
            help="Experiment on record, or file, that shows the spread, as --pilot. Two: their pooled spread.",
            autocompletion=complete_sources,
        ),
    ] = None,
    effect: float | None = in_difference("D", "Difference to be seen, in standard deviations over runs."),
    difference: float | None = in_difference("X", "Difference to be seen, in units of the metric."),
    pilot: str | None = in_difference(
        "NAME", "Experiment on record, or file, that shows the spread.", autocompletion=complete_sources
    ),
    sd: float | None = in_difference("X", "A guess of the SD, in units of the metric."),
    runs: list[int] | None = in_runs("N", "What so many runs can see. Repeatable.", "--runs", "-r", min=2),
    power: float = in_difference(None, "Chance to see the difference when it is there.", min=0, max=1, default=0.8),
    margin: float | None = in_verdict("X", "Margin of equivalence, in units of the metric (SDs without any)."),
    paired: bool = in_verdict(None, "Runs share their seeds and are compared as pairs.", default=False),
    correlation: float | None = in_difference("R", "With --paired: correlation of the pairs. Default: 0."),
    looks: str | None = in_runs("K", "Number of looks at equal steps: 4, or pocock:4. Default: one."),
    candidates: int = in_difference("K", "Candidates compared with one baseline.", min=1, default=1),
    metric: str | None = METRIC,
    confidence: float = CONFIDENCE,
    form: Form = in_output(None, "For people, or for programs.", "--format", default=Form.table),
) -> None:
    """How many seeds? How many runs a difference takes, and what numbers of runs can see.

    With an experiment on record, in units of its metric; with two, how many more runs of each.
    """
    if names and pilot is not None:
        raise InputError(f"{' and '.join(names)} and --pilot {pilot} both tell the spread", "leave one of them out")
    if names and len(names) > MOST_SIDES:
        raise InputError(f"{len(names)} experiments tell the spread", "name a baseline and one candidate")
    spread = _read_pilot(names or ([pilot] if pilot else []), sd, metric, confidence)
    n_looks, spending = _looks(looks)
    if correlation is not None and not paired:
        raise InputError("--correlation is that of pairs", "add --paired")
    question = Question(
        effect=_effect(effect, difference, spread),
        margin=margin if margin is None or spread is None else margin / spread.sd,
        power=power,
        confidence=confidence,
        correlation=(correlation or 0.0) if paired else None,
        n_looks=n_looks,
        spending=spending,
        n_candidates=candidates,
    )
    from deviate.stats.design.design import SHOWN_RUNS, find_design  # half a second of scipy, which help does not need

    design = find_design(question, spread, runs or SHOWN_RUNS)
    print_document(plan_document(design, lambda: plain(design)), form)


def _read_pilot(names: Sequence[str], sd: float | None, metric: str | None, confidence: float) -> Pilot | None:
    if names and sd is not None:
        raise InputError(f"{' and '.join(names)} and --sd both tell the spread", "leave one of them out")
    if names:
        from deviate.stats.pilot import pilot_of  # scipy again

        folder = records_folder(Path.cwd().resolve())
        return pilot_of([read_one(folder, name) for name in names], metric, confidence=confidence)
    if sd is None:
        return None
    if not sd > 0:
        raise InputError(f"--sd {sd:g} is no spread", "give a positive number, in units of the metric")
    return Pilot(metric or "", "", 0, sd, NOT_ASKED)


def _effect(effect: float | None, difference: float | None, spread: Pilot | None) -> float | None:
    if effect is not None and difference is not None:
        raise InputError("--effect and --difference say the same twice", "leave one of them out")
    if difference is None:
        return effect
    if spread is None:
        raise InputError("--difference is in units of a metric whose spread is not known", "add --pilot NAME or --sd X")
    return abs(difference) / spread.sd


def _looks(text: str | None) -> tuple[int, Spending]:
    if text is None:
        return 1, "obrien-fleming"
    name, _, number = text.rpartition(":")
    words: dict[str, Spending] = {"": "obrien-fleming", "obrien-fleming": "obrien-fleming", "pocock": "pocock"}
    if name not in words or not number.isdigit() or not 1 <= int(number) <= 50:
        raise InputError(f"--looks {text} is no number of looks", "write --looks 4, or --looks pocock:4")
    return int(number), words[name]
