"""Noise studies made of numbers: variants of one experiment with what the guest tells of randomness."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from experiments import experiment, run, selected, with_moments

from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric
from deviate.model.records import DrawEvent, EvaluationData, Experiment, Flip, Run, Series, Weights
from deviate.report.statements import with_statements
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

STREAMS = ("init", "shuffle", "augment", "dropout", "split", "other")
IMPLEMENTATION = ("kernels", "autotune", "precision")
ALGO = tuple(stream for stream in STREAMS if stream != "split")
EVERYTHING = (*STREAMS, "hash", *IMPLEMENTATION)
VARIED = {
    "as-is": (),
    "algo+impl": (*ALGO, "hash", *IMPLEMENTATION),
    "algo": ALGO,
    "impl": IMPLEMENTATION,
    "control": (),
    "one-bit": (),
    "config": ("threads", "onednn"),
    **{stream: (stream,) for stream in STREAMS},
}
DRAWS = {"torch": ("init", "shuffle", "dropout")}
DRAWN = (DrawEvent("torch.randn", "split", "data.py", 7),)
EVALUATION = (EvaluationData("torch", "e" * 64, 100, "loader"),)


def curve(*values: float) -> Series:
    return Series(tuple(range(len(values))), values)


def weights(text: str, moment: str = "exit", framework: str = "torch") -> Weights:
    return Weights(moment, framework, (text * 64)[:64], 1000)


def flip(index: int, parameter: str = "fc.weight") -> Flip:
    return Flip("torch", parameter, (index, 3), 0.25, 0.25000003)


def noisy_run(replicate: int, values: Sequence[float], digest: str, **changes: object) -> Run:
    """A run of the metric `test_acc`, by default with weights, evaluation data and draws."""
    plain = run(replicate, {"test_acc": curve(*values)})
    told: dict[str, object] = {
        "weights": (weights(digest),),
        "evaluation": EVALUATION,
        "draws": DRAWS,
        "drawn": DRAWN,
        **changes,
    }
    return dataclasses.replace(plain, **told)  # type: ignore[arg-type]


def variant(
    name: str,
    runs: Sequence[Run],
    metric: SelectedMetric | None = None,
    *,
    varied: tuple[str, ...] | None = None,
    jobs: int = 1,
) -> Experiment:
    """One variant of the experiment `train`; what is not varied is held, but in `as-is`."""
    free = VARIED[name] if varied is None else varied
    return dataclasses.replace(
        experiment("train", runs, [metric or selected(is_primary=True, unit="%")], variant=name),
        varied=free,
        held=() if name == "as-is" else tuple(it for it in EVERYTHING if it not in free),
        jobs=jobs,
    )


def spread(name: str, scores: Sequence[float], **changes: object) -> Experiment:
    """A variant whose runs all end differently."""
    return variant(name, [noisy_run(i, (50.0, score), f"{name}{i}", **changes) for i, score in enumerate(scores)])


def equal(name: str, n: int, score: float = 93.0, **changes: object) -> Experiment:
    """A variant whose runs are bitwise equal."""
    return variant(name, [noisy_run(i, (50.0, score), "same", **changes) for i in range(n)])


def usual() -> list[Experiment]:
    """The four variants of Zhuang et al. on a machine that is quiet: all the spread is algorithmic."""
    rng = np.random.default_rng(2)
    return [
        spread("algo+impl", with_moments(10, 93.4, 0.22, rng)),
        spread("algo", with_moments(10, 93.4, 0.2, rng)),
        equal("impl", 5),
        equal("control", 5),
    ]


def study(*experiments: Experiment, **settings: object) -> Findings:
    return with_statements(judge(experiments, AnalysisOptions(compares=False, **settings)))  # type: ignore[arg-type]
