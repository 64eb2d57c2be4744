"""What scripts report to training frameworks and to services that tune their settings."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import Carried, by_keyword, methods, sink

# `accelerate`: the trackers of Hugging Face Accelerate (order of arguments: 1.15).


@sink("accelerate", ["accelerate.*Accelerator().log", "accelerate.*Tracker().log"], ["*accelerator.log"])
def accelerate_log(values: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(values, step, log_kwargs)`."""
    yield Record(values)


# `chainer`: values reported to the current reporter (order of arguments: 7).


@sink("chainer", ["chainer.report", "chainer.reporter.report", "chainer.Reporter().report"], ["reporter.report"])
def chainer_report(values: Any, observer: Any = None) -> Iterator[Record]:
    """`report(values, observer)`."""
    yield Record(values)


# `hypertune`: metrics for the tuning service of Google Cloud (order of arguments: 0.1).


@sink(
    "hypertune",
    ["hypertune.HyperTune().report_hyperparameter_tuning_metric"],
    ["*.report_hyperparameter_tuning_metric"],
)
def hypertune_report(hyperparameter_metric_tag: Any, metric_value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """Tag and value first."""
    yield Scalar(hyperparameter_metric_tag, metric_value)


# `lightning`: what modules of Lightning log (orders: 2.6). Fabric and loggers are trackers like others.
#
# `self.log` alone says too little; the analysis finds out that `self` is a LightningModule. A call in a step is no
# report and gets no tap: the adapter of Lightning records what the trainer makes of all calls of an epoch.


MODULES = ("lightning.*LightningModule()", "pytorch_lightning.*LightningModule()")
FABRIC = ("lightning.*Fabric()", "lightning_fabric.*Fabric()")
LOGGERS = ("lightning.*Logger()", "pytorch_lightning.*Logger()", "lightning_fabric.*Logger()")


@sink("lightning", methods(MODULES, ["log"]))
def lightning_log(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, …)`."""
    yield Scalar(name, value)


@sink("lightning", methods(MODULES, ["log_dict"]))
def log_dict(dictionary: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_dict(dictionary, …)`."""
    yield Record(dictionary)


@sink("tracker", methods(FABRIC, ["log"]), ["fabric.log", "*.fabric.log"])
def log_of_fabric(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, step)`."""
    yield Scalar(name, value)


@sink(
    "tracker",
    [*methods(FABRIC, ["log_dict"]), *methods(LOGGERS, ["log_metrics"])],
    ["fabric.log_dict", "*.fabric.log_dict"],
)
def lightning_log_metrics(metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_dict(metrics, step)` of Fabric, `log_metrics(metrics, step)` of every logger."""
    yield Record(metrics)


# `metric-writer`: writers of `clu.metric_writers` (order of arguments: 0.0.12).


@sink("metric-writer", ["clu.metric_writers.*.write_scalars"], ["*.write_scalars"])
def write_scalars(step: Any, scalars: Any) -> Iterator[Record]:
    """`write_scalars(step, scalars)`."""
    yield Record(scalars)


# `nni`: what a trial reports (order of arguments: 3.0).


NNI_REPORTS = ("report_intermediate_result", "report_final_result")


@sink("nni", methods(["nni", "nni.trial"], NNI_REPORTS), methods(["*"], NNI_REPORTS))
def nni_report(metric: Any) -> Iterator[Scalar]:
    """One value, without a name."""
    yield Scalar(None, metric)


# `optuna`: intermediate values of a trial (order of arguments: 5.0).


@sink(
    "optuna", ["optuna.*Trial().report", "optuna.*.ask().report"], ["trial.report", "*.trial.report", "*_trial.report"]
)
def optuna_report(value: Any, step: Any = None) -> Iterator[Scalar]:
    """`report(value, step)`: one value, without a name."""
    yield Scalar(None, value)


# `ray`: results that a training function reports to Ray Train or Ray Tune (orders of arguments: 2.60 and 1).


@sink("ray", ["ray.*.report"], ["session.report", "tune.report"])
def ray_report(metrics: Any = None, *rest: Any, checkpoint: Any = None, **values: Any) -> Iterator[Carried]:
    """`report(metrics, checkpoint, …)`; in version 1 every value under its own keyword."""
    if metrics is not None:
        yield Record(metrics)
    else:
        yield from by_keyword(values)


# `transformers`: the Trainer of Hugging Face Transformers and its subclasses (orders of arguments: 5.23).
#
# Its calls get no tap: the adapter of Transformers records what a Trainer logs. A trainer that only has this name may
# be of the script's own, and is a tracker like others.


TRAINERS = ("transformers.*Trainer()", "trl.*Trainer()")


@sink("transformers", methods(TRAINERS, ["log"]))
def transformers_log(logs: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(logs, start_time)`."""
    yield Record(logs)


@sink("transformers", methods(TRAINERS, ["log_metrics", "save_metrics"]))
def transformers_log_metrics(split: Any, metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(split, metrics)`; the names carry the split already."""
    yield Record(metrics)


@sink("tracker", (), ["trainer.log", "*.trainer.log"])
def log_of_any(logs: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """The same of a trainer that is not known."""
    yield Record(logs)


@sink("tracker", (), methods(["*trainer"], ["log_metrics", "save_metrics"]))
def log_metrics_of_any(split: Any, metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """The same of a trainer that is not known."""
    yield Record(metrics)
