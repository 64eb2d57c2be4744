"""What scripts report to training frameworks and to services that tune their settings."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import Carried, by_keyword, declaring, methods, nameless, sink

reports = declaring(__name__)

# `accelerate`: the trackers of Hugging Face Accelerate (order of arguments: 1.15).


reports("values *", Record, "accelerate", "accelerate.*Accelerator().log accelerate.*Tracker().log", "*accelerator.log")


# `chainer`: values reported to the current reporter (order of arguments: 7).


reports(
    "values -observer",
    Record,
    "chainer",
    "chainer.report chainer.reporter.report chainer.Reporter().report",
    "reporter.report",
)


# `hypertune`: metrics for the tuning service of Google Cloud (order of arguments: 0.1).


# Tag and value first.
reports(
    "hyperparameter_metric_tag metric_value *",
    Scalar,
    "hypertune",
    "hypertune.HyperTune().report_hyperparameter_tuning_metric",
    "*.report_hyperparameter_tuning_metric",
)


# `lightning`: what modules of Lightning log (orders: 2.6). Fabric and loggers are trackers like others.
#
# `self.log` alone says too little; the analysis finds out that `self` is a LightningModule. A call in a step is no
# report and gets no tap: the adapter of Lightning records what the trainer makes of all calls of an epoch.


MODULES = ("lightning.*LightningModule()", "pytorch_lightning.*LightningModule()")
FABRIC = ("lightning.*Fabric()", "lightning_fabric.*Fabric()")
LOGGERS = ("lightning.*Logger()", "pytorch_lightning.*Logger()", "lightning_fabric.*Logger()")


reports("name value *", Scalar, "lightning", methods(MODULES, ["log"]))


reports("dictionary *", Record, "lightning", methods(MODULES, ["log_dict"]))


reports("name value *", Scalar, "tracker", methods(FABRIC, ["log"]), "fabric.log *.fabric.log")


# `log_dict(metrics, step)` of Fabric, `log_metrics(metrics, step)` of every logger.
reports(
    "metrics *",
    Record,
    "tracker",
    [*methods(FABRIC, ["log_dict"]), *methods(LOGGERS, ["log_metrics"])],
    "fabric.log_dict *.fabric.log_dict",
)


# `metric-writer`: writers of `clu.metric_writers` (order of arguments: 0.0.12).


reports("-step scalars", Record, "metric-writer", "clu.metric_writers.*.write_scalars", "*.write_scalars")


# `nni`: what a trial reports (order of arguments: 3.0).


NNI_REPORTS = ("report_intermediate_result", "report_final_result")


# One value, without a name.
reports("metric", nameless, "nni", methods(["nni", "nni.trial"], NNI_REPORTS), methods(["*"], NNI_REPORTS))


# `optuna`: intermediate values of a trial (order of arguments: 5.0).


# `report(value, step)`: one value, without a name.
reports(
    "value -step",
    nameless,
    "optuna",
    "optuna.*Trial().report optuna.*.ask().report",
    "trial.report *.trial.report *_trial.report",
)


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


reports("logs *", Record, "transformers", methods(TRAINERS, ["log"]))


# `log_metrics(split, metrics)`; the names carry the split already.
reports("-split metrics *", Record, "transformers", methods(TRAINERS, ["log_metrics", "save_metrics"]))


# The same of a trainer that is not known.
reports("logs *", Record, "tracker", "", "trainer.log *.trainer.log")


# The same of a trainer that is not known.
reports("-split metrics *", Record, "tracker", "", methods(["*trainer"], ["log_metrics", "save_metrics"]))
