"""Requests to `run`, and how the plans that come of them are executed: in a fair order, until nothing is missing."""

import contextlib
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from deviate.errors import InputError, InUseError, RecordError
from deviate.model.analysis import Analysis
from deviate.model.comparisons import Comparison
from deviate.model.estimates import Test
from deviate.model.findings import Findings
from deviate.model.plan import Settings, Snapshot, Spec, SweptValue, Variant
from deviate.model.records import Experiment, PastComparison, Spending
from deviate.records.layout import snapshot_folder
from deviate.records.plans import Plan, find_experiment, read_plan, record_ended, tell_reported
from deviate.records.runs import run_id
from deviate.replay.protocol import EXECUTORS, Executor, Order, Outcome
from deviate.replay.trackers import OFFLINE
from deviate.replay.variants import HASH, HELD, STREAMS, levels_of, seed_set

WAIT_S = 2.0
"""Seconds between looks whether another worker has ended the first run."""


@dataclass(frozen=True, slots=True)
class SampleSizeRule:
    """The declared rule by which runs are added to the first ones.

    Attributes:
        precision: until an interval is narrow enough, such as "test_acc ±0.5"; empty for a given number.
        least, most: runs per variant, where precision decides.
        looks: numbers of runs per variant at which experiments are compared; empty for the end alone.
        spending: how the error is spent on the looks.
    """

    precision: str = ""
    least: int = 0
    most: int = 0
    looks: tuple[int, ...] = ()
    spending: Spending = "obrien-fleming"

    @property
    def first(self) -> int:
        """Runs before the first look; 0 if none are declared."""
        return self.least or (self.looks[0] if self.looks else 0)


@dataclass(frozen=True, slots=True)
class Request:
    """The user's request to `run`, independent of the command.

    Attributes:
        runs: per variant, before any are added.
        environment: variables for every run, secrets left out.
        prepare: commands that run once in the frozen project before all runs.
        wrap: the beginning of a command that starts a container.
        n_threads: to how many threads each run is limited, None for no limit.
        sample_size: what decides whether runs are added.
        budget_s: seconds for all runs of this call, None for no limit.
        is_strict: add no runs in another environment than that of those on record.
        capture: what the runs are to keep beside their metrics, as in `Spec.capture`, as far as it was said.
        sweep: which value of which argument this is, where it is one of a sweep.
        primary: the metric that is to decide, where the user named one. margin: of the primary metric, where the user
            gave one.
        origins: which flag, variable or file gave each setting its value, by the name of its option; defaults left out.
        needs_metrics: whether there is something to tell only where the script reports values.
    """

    runs: int
    variants: tuple[Variant, ...]
    name: str | None
    seed: int
    settings: Settings = field(default_factory=Settings)
    environment: tuple[tuple[str, str], ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    n_threads: int | None = None
    sample_size: SampleSizeRule = field(default_factory=SampleSizeRule)
    budget_s: float | None = None
    is_strict: bool = False
    capture: tuple[tuple[str, str], ...] = ()
    sweep: SweptValue | None = None
    primary: str | None = None
    margin: float | None = None
    origins: tuple[tuple[str, str], ...] = ()
    needs_metrics: bool = True


@dataclass(frozen=True, slots=True)
class PreparedExperiment:
    """An experiment ready to run.

    Attributes:
        notes: tell the user what differs from the last time.
        script: the analysed script, where runs that report nothing are to be refused; else None.
    """

    folder: Path
    plan: Plan
    notes: tuple[str, ...] = ()
    script: Analysis | None = None

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(snapshot_folder(self.folder), self.plan.root, self.plan.sources_hash)


def fair_order(
    experiments: Sequence[PreparedExperiment], variants: Sequence[str] = (), runs: int | None = None
) -> list[Order]:
    """All orders, replicate by replicate, so that what drifts with time hits all alike.

    Within a replicate the order is random, drawn from the experiment seed, so that no variant and no experiment always
    goes first or always gets the same device.

    Args:
        variants: names of those to run; all when there are none.
        runs: how many of each; all that are planned when it is None.
    """
    blocks: dict[int, list[Order]] = {}
    for experiment in experiments:
        for spec in specs_of(experiment.plan):
            if (not variants or spec.variant in variants) and (runs is None or spec.replicate < runs):
                blocks.setdefault(spec.replicate, []).append(Order(experiment.folder, spec))
    orders: list[Order] = []
    for replicate in sorted(blocks):
        random.Random(f"order {experiments[0].plan.seed} {replicate}").shuffle(blocks[replicate])
        orders += blocks[replicate]
    return orders


def places_without_weights(experiments: Sequence[PreparedExperiment]) -> frozenset[Path]:
    """Experiments whose first runs have to end before further ones begin: they tell which draws are weights."""
    return frozenset(
        experiment.folder
        for experiment in experiments
        if read_plan(experiment.folder).weights is None
        and any("init" in variant.varied for variant in experiment.plan.variants)
    )


def find(folder: Path, name: str) -> PreparedExperiment:
    """A recorded experiment, ready to continue. Raises InputError if none with this name was run here."""
    return open_experiment(find_experiment(folder, name))


def open_experiment(place: Path) -> PreparedExperiment:
    """The experiment in a folder, ready to continue.

    Raises:
        InputError: it was imported.
        RecordError: its plan is missing or damaged.
    """
    plan = read_plan(place)
    if plan.imported:
        raise InputError(f"{plan.name} was imported: there is nothing to run", "import again under another --name")
    return PreparedExperiment(place, plan)


def work(place: Path, *, index: int | None = None, run: str | None = None) -> Outcome:
    """Execute one run of an experiment in this process, for use by any scheduler; before it the one that tells weights.

    Args:
        index: its number in the plan, variant by variant, from 0; or
        run: its id.

    Raises:
        InputError: there is no such run.
        RunError: somebody else runs it, or it cannot be started.
    """
    from deviate.replay.execute import work as work_on  # what compares and reports starts no run

    experiment = open_experiment(place)
    plan = experiment.plan
    specs = specs_of(plan)
    chosen = [spec for at, spec in enumerate(specs) if (at == index if run is None else run_id(spec) == run)]
    if not chosen:
        wanted = f"run {run}" if run is not None else f"index {index}"
        raise InputError(f"experiment {experiment.name} has no {wanted}", f"it has {len(specs)} runs, from index 0")
    spec = chosen[0]
    while spec.replicate and places_without_weights([experiment]):
        first = next(variant.definition for variant in plan.variants if variant.definition and "init" in variant.varied)
        try:
            work_on(Order(place, spec_of(plan, first, 0)), plan.settings)
            break
        except InUseError:  # another worker is at it
            time.sleep(WAIT_S)
    return work_on(Order(place, spec), plan.settings)


def make_executor(settings: Settings) -> Executor:
    """The selected executor.

    Raises:
        InputError: there is none of that name, or what it needs is not installed.
    """
    if settings.executor not in EXECUTORS:
        raise InputError(f"there is no executor {settings.executor!r}", f"there are: {', '.join(EXECUTORS)}")
    return EXECUTORS[settings.executor](settings)


def record_end(outcomes: Mapping[Order, Outcome]) -> None:
    """Record that runs were executed to their end: a verdict waits for none that a budget or failures left out."""
    n_ended: Counter[tuple[Path, str]] = Counter()
    for order, outcome in outcomes.items():
        n_ended[order.experiment, order.spec.variant] += outcome.status not in {"lost", "cancelled"}
    for place in dict.fromkeys(place for place, _ in n_ended):
        with contextlib.suppress(RecordError):
            record_ended(place, max(n for (folder, _), n in n_ended.items() if folder == place))


def record_report(places: Sequence[Path], *, is_comparison: bool) -> None:
    """Record that results of these experiments were shown; write errors are ignored."""
    for place in dict.fromkeys(places):
        with contextlib.suppress(RecordError):
            tell_reported(place, time=time.time(), is_comparison=is_comparison)


def record_comparison(findings: Findings) -> None:
    """Record in the baseline that a comparison was shown, with the candidate and the p-value."""
    baseline = findings.experiments[0].experiment
    candidates = [item.experiment for item in findings.experiments[1:]]
    compared = [
        _past_comparison(candidate, pair.headline) for candidate, pair in zip(candidates, findings.pairs, strict=True)
    ]
    if any(experiment.n_pending for experiment in (baseline, *candidates)):
        return  # no verdict, interval or p was shown
    for place, experiment in {one.folder: one for one in (baseline, *candidates) if one.folder}.items():
        with contextlib.suppress(RecordError):
            tell_reported(
                place,
                time=time.time(),
                is_comparison=True,
                is_cut_short=experiment.is_cut_short,
                compared=compared if place == baseline.folder else (),
            )


def _past_comparison(candidate: Experiment, headline: Comparison | None) -> PastComparison:
    test = headline.deciding_test if headline else None
    return PastComparison(
        candidate=candidate.name,
        variant=candidate.variant,
        created=candidate.created,
        metric=headline.metric.name if headline else "",
        p=test.p_value if isinstance(test, Test) else None,
    )


def interpreter_labels(pythons: Sequence[str]) -> list[str]:
    """Short names for interpreters: the parts of their paths in which they differ."""
    parts = [Path(python).parts for python in pythons]
    for at in range(1, max(map(len, parts)) + 1):
        labels = [names[-at] if at <= len(names) else names[0] for names in parts]
        if len(set(labels)) == len(labels):
            return [re.sub(r"[^A-Za-z0-9._+-]", "_", label).lstrip(".") or "python" for label in labels]
    return [f"python{number}" for number in range(1, len(parts) + 1)]


# Plans become specs: variants and numbers of runs. Deterministic, so more runs only add specs.

THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
)  # fmt: skip
"""Variables that set the number of threads of a library. Source: the reference pages of OpenMP, MKL, OpenBLAS;
tensorflow/core/common_runtime/process_util.cc."""


def specs_of(plan: Plan) -> list[Spec]:
    """Every run of a plan, variant by variant; none of what was imported."""
    return [
        spec_of(plan, variant.definition, replicate)
        for variant in plan.variants
        if variant.definition is not None
        for replicate in range(variant.n_runs)
    ]


def spec_of(experiment: Plan, variant: Variant, replicate: int) -> Spec:
    """The spec of one run.

    A limit of threads is for each run, so that several on one machine do not starve each other; variants that touch
    nothing have none. What the user sets for every run goes before what we set.

    Raises:
        InputError: there is no command.
    """
    if not experiment.command:
        raise InputError("there is no command to run", "name a script, or a command after --")
    shared = dict(OFFLINE) if variant.are_trackers_offline else {}
    if experiment.n_threads and (variant.varied or variant.held):
        shared |= dict.fromkeys(THREADS, str(experiment.n_threads))
    seeds = seed_set(variant, experiment.seed, replicate)
    controls = levels_of(variant, experiment.seed, replicate)
    environment = shared | _process_variables(dict(seeds), dict(controls)) | dict(experiment.environment)
    return Spec(
        sources_hash=experiment.sources_hash,
        command=experiment.command,
        cwd=str(PurePosixPath(experiment.cwd)),
        variant=variant.name,
        replicate=replicate,
        seeds=seeds,
        environment=tuple(sorted(environment.items())),
        controls=controls,
        then=experiment.then,
        wrap=experiment.wrap,
        capture=experiment.capture,
        varied=tuple(stream for stream in variant.varied if stream in STREAMS),
        weights=None if replicate == 0 and experiment.weights else experiment.weights,
    )


def _process_variables(seeds: Mapping[str, int], controls: Mapping[str, str]) -> dict[str, str]:
    """Variables that must be set before Python starts or a library is loaded; the guest does everything else.

    Source: PYTHONHASHSEED, the Python reference; CUBLAS_WORKSPACE_CONFIG, cuBLAS, Results reproducibility;
    NVIDIA_TF32_OVERRIDE, cuBLAS, Floating Point Emulation and TF32; TF_ENABLE_ONEDNN_OPTS, TensorFlow release 2.9.
    """
    variables: dict[str, str] = {}
    if HASH in seeds or HASH in controls:
        variables["PYTHONHASHSEED"] = str(seeds.get(HASH, controls.get(HASH)))
    if controls.get("kernels") == HELD["kernels"]:
        variables["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if controls.get("precision") == HELD["precision"]:
        variables["NVIDIA_TF32_OVERRIDE"] = "0"
    if "threads" in controls:
        variables |= dict.fromkeys(THREADS, controls["threads"])
    if "onednn" in controls:
        variables["TF_ENABLE_ONEDNN_OPTS"] = "1" if controls["onednn"] == "on" else "0"
    return variables
