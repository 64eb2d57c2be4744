"""First divergence as text: whether the runs of a variant are bitwise equal, and their first difference."""

import math
import shlex
from collections.abc import Sequence
from pathlib import PurePath

from deviate.base.redaction import redact_words
from deviate.model.estimates import value_text
from deviate.model.findings import Findings, Parting, Repeatability
from deviate.model.records import Experiment
from deviate.model.texts import first_few
from deviate.report.document import Absent, Block, Code, DocumentTable, Entry, Items, Section, TableRow, cell
from deviate.report.format import clean, group_pairs, name_text, replicates
from deviate.report.numbers import ShownNumber

DEFAULT_VARIANT = "algo+impl"
CONTROL = "control"
MOST_FACTS = 5
ASK = "deviate run … --variants control holds everything and shows whether runs diverge, and at which step"
EQUAL = {True: "bitwise equal", False: "not equal", None: "not compared"}
ABSENT = frozenset({"not reached", "not seen"})
ADVICE = (
    "Runs with everything held diverge here. This runs two more and finds the update, the operation and the line at "
    "which they diverge:"
)
COLUMNS = (
    "Variant",
    "runs",
    "bitwise",
    "first step that differs",
    "metric",
    "values",
    "final weights",
    "evaluation data",
)


def divergence_section(findings: Findings) -> Section:
    """Repeatability of one experiment, with the first divergence of each variant."""
    experiments = [item.experiment for item in findings.experiments]
    proofs = findings.noise.repeatability if findings.noise else ()
    if all(experiment.imported for experiment in experiments):
        proofs = ()
    broken = [
        experiment
        for proof, experiment in zip(proofs, experiments, strict=False)
        if proof.variant == CONTROL and proof.is_equal is False and experiment.command
    ]
    sentences = tuple(_sentence(proof) for proof in proofs if proof.parting is not None)
    commands = dict.fromkeys(
        diverge_command(experiment.command, command_flags=experiment.flags) for experiment in broken
    )
    rows = tuple(_row(proof, experiment) for proof, experiment in zip(proofs, experiments, strict=False))
    why = _no_divergence(proofs, experiments, is_comparison=bool(findings.pairs))
    blocks: list[Block] = [Absent(why)] if why else []
    blocks += [Items(sentences)] if sentences else []
    blocks += [ADVICE, *map(Code, commands)] if commands else []
    blocks += [DocumentTable("Where the runs of a variant differ first", COLUMNS, rows)] if rows else []
    return Section("divergence", "First divergence", tuple(blocks))


def _no_divergence(proofs: Sequence[Repeatability], experiments: Sequence[Experiment], *, is_comparison: bool) -> str:
    """The reason why there is no divergence; empty if runs of the control variant were compared."""
    if any(proof.variant == CONTROL and proof.is_equal is not None for proof in proofs):
        return ""
    if experiments and all(experiment.imported for experiment in experiments):
        return "Imported runs do not record what was held, so it is unknown whether they should be equal."
    if is_comparison:
        return f"Runs of compared experiments differ by design: {ASK}."
    if any(proof.variant == CONTROL for proof in proofs):
        return "The control variant has fewer than two completed runs to compare: add runs to it."
    return f"No run held everything, so differences are expected: {ASK}."


def _row(proof: Repeatability, experiment: Experiment) -> TableRow:
    first: tuple[Entry, ...] = (Absent("none"),) * 3
    if parting := proof.parting:
        values = " and ".join(map(_value, parting.values))
        first = (cell(_step(parting)), cell(name_text(parting.metric)), cell(values))
    cells = (
        cell(ShownNumber(proof.n, 0), value=float(proof.n)),
        Absent(_state(proof)) if proof.is_equal is None else cell(_state(proof)),
        *first,
        cell(_agreement(proof.weights, proof)),
        cell(_agreement(proof.evaluation, proof)),
    )
    return TableRow(name_text(proof.variant), cells, note=_note(proof, experiment))


def _state(proof: Repeatability) -> str:
    if proof.is_equal is not None:
        return EQUAL[proof.is_equal]
    reason = "fewer than two completed runs" if proof.n < 2 else "neither quality metrics nor weights recorded"
    return f"{EQUAL[None]}: {reason}"


def _step(parting: Parting) -> str:
    return "outside the main loop" if parting.step is None else f"main-loop step {parting.step}"


def _agreement(agreement: str, proof: Repeatability) -> str:
    """Agreement of weights or evaluation data; needs two runs that recorded them, which is stated otherwise."""
    return agreement if proof.n > 1 or agreement in ABSENT else EQUAL[None]


def _value(value: float | None) -> str:
    if value is None:
        return "nothing"
    return "not a number" if math.isnan(value) else value_text(value)


def _sentence(proof: Repeatability) -> str:
    """`control: val_acc differs first at main-loop step 3: 0.5 in replicate 0, 0.25 in replicate 2.`, as a sentence."""
    parting = proof.parting
    if parting is None:
        return ""
    text = ", ".join(
        f"{_value(value)} in replicate {replicate}"
        for value, replicate in zip(parting.values, parting.replicates, strict=True)
    )
    at = "" if parting.step is None else "at "
    return f"{name_text(proof.variant)}: {name_text(parting.metric)} differs first {at}{_step(parting)}: {text}."


def _note(proof: Repeatability, experiment: Experiment) -> str:
    """What a difference means for this variant, and its known causes."""
    if proof.is_equal is not False:
        return ""
    if proof.variant != CONTROL:
        varied = ", ".join(map(clean, experiment.varied)) or "what the script leaves free"
        return f"varied here: {varied}; runs are meant to differ"
    sentences = ["everything is held, so no run should differ"]
    if proof.parting is None:
        sentences.append("metrics are equal at every step, final weights are not")
    for words, facts in (("used without a deterministic version", "operations"), ("beyond control", "uncontrolled")):
        runs_of = group_pairs((clean(fact), run.replicate) for run in experiment.runs for fact in getattr(run, facts))
        if texts := [f"{fact} ({replicates(runs)})" for fact, runs in runs_of.items()]:
            sentences.append(f"{words}: {first_few(texts, MOST_FACTS)}")
    return "; ".join(sentences)


# The command to copy: `deviate diverge` for the command of an experiment.

WARN_ONLY = "--warn-only"
SCRIPTS = (".py", ".ipynb")


def run_command(
    command: Sequence[str], name: str, n_runs: int, variants: Sequence[str], flags: Sequence[str] = ()
) -> str:
    """The command line that plans such runs, without secrets; `flags` are further ones, word by word."""
    before, after = _split(command)
    named = ["--variants", ",".join(variants)] if list(variants) != [DEFAULT_VARIANT] else []
    words = ["deviate", "run", *before, "--name", name, "--runs", str(n_runs), *named, *redact_words(flags)]
    return clean(shlex.join(words) + (f" -- {shlex.join(after)}" if after else ""))


def _split(command: Sequence[str]) -> tuple[list[str], list[str]]:
    """The script, if the command names one, and the words that follow `--`."""
    words = redact_words(command)
    is_script = len(words) > 1 and PurePath(words[0]).name.startswith("python") and words[1].endswith(SCRIPTS)
    if is_script or (words and words[0].endswith(SCRIPTS)):
        script, *arguments = words[1:] if is_script else words
        return [script], arguments
    return [], list(words)


def diverge_command(
    command: Sequence[str], variant: str = CONTROL, flags: str = "", *, command_flags: Sequence[str] = ()
) -> str:
    """The command line that runs the experiment's command twice and finds where the runs diverge.

    Args:
        command: of the experiment; a script behind a bare interpreter is named as a user would name it.
        flags: further ones, as they are to be written.
        command_flags: those that the user gave, word by word.
    """
    before, after = _split(command)
    further = shlex.split(flags)
    has_variant = "--variant" in further or variant in {"", CONTROL}
    option_words = [] if has_variant else ["--variant", variant]
    option_words += [word for word in redact_words(command_flags) if word != WARN_ONLY or WARN_ONLY not in further]
    text = shlex.join(["deviate", "diverge", *before, *option_words])
    text += f" {flags}" if flags else ""
    return clean(text + (f" -- {shlex.join(after)}" if after else ""))
