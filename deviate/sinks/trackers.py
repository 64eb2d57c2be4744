"""What scripts report to experiment trackers."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record, Scalar, Template
from .registry import Carried, by_keyword, declaring, given, methods, nameless, sink

reports = declaring(__name__)

# `aim`: `track` of a run (order of arguments: 3.29), of a session and of the module (2).


@sink("aim", ["aim.track", *methods(["aim.*Run()", "aim.*Session()"], ["track"])], ["*run.track", "*aim*.track"])
def track(value: Any, name: Any = None, *rest: Any, **options: Any) -> Iterator[Carried]:
    """`track(value, name, step, epoch, context)`; without a name the value is a mapping."""
    yield Record(value) if name is None else Scalar(name, value)


# `azureml`: runs of Azure Machine Learning's first SDK.


AZUREML_RUNS = ("azureml.*get_context()", "azureml.*start_logging()", "azureml.*Run()")


reports("name value *", Scalar, "azureml", methods(AZUREML_RUNS, ["log"]))


@sink("azureml", methods(AZUREML_RUNS, ["log_row"]), ["*run.log_row"])
def log_row(name: Any, description: Any = None, **values: Any) -> Iterator[Carried]:
    """`log_row(name, description, **values)`."""
    yield from by_keyword(values)


# `clearml`: the logger of a task (orders of arguments: 2.1).


CLEARML_LOGGERS = ("clearml.*current_logger()", "clearml.*get_logger()", "clearml.Logger", "trains.*get_logger()")


@sink("clearml", methods(CLEARML_LOGGERS, ["report_scalar"]), ["*.report_scalar"])
def report_scalar(title: Any, series: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`report_scalar(title, series, value, iteration)`."""
    yield Scalar(series, value, prefix=title)


# `report_single_value(name, value)`: a result of the whole run.
reports("name value", Scalar, "clearml", methods(CLEARML_LOGGERS, ["report_single_value"]), "*.report_single_value")


@sink("clearml", methods(CLEARML_LOGGERS, ["report_text"]), ["*.report_text"])
def report_text(
    msg: Any, level: Any = None, print_console: Any = None, *args: Any, **options: Any
) -> Iterator[Template]:
    """`report_text(msg, level, print_console, *args)`."""
    yield Template(msg, args)


# `comet`: experiments of comet_ml, however they were made (orders of arguments: 3.58).


# `log_metric(name, value, step, epoch, …)`; `APIExperiment` calls the first `metric`.
reports("name|metric value| *", Scalar, "comet", "comet_ml.*().log_metric", "*experiment.log_metric")


# `log_metrics(dic, prefix, step, epoch, …)`.
reports("dic prefix| *", Record, "comet", "comet_ml.*().log_metrics", "*experiment.log_metrics")


# `deviate`: what a script reports to deviate itself.


reports("name value", Scalar, "deviate", "deviate.log")


# `dvclive`: metrics of a `Live` object (order of arguments: 3.49).


# `log_metric(name, val, …)`, in older versions `log`.
reports(
    "name val *",
    Scalar,
    "dvclive",
    "dvclive.*Live().log_metric dvclive.*Live().log dvclive.log",
    "live.log_metric *.live.log_metric",
)


# `mlflow`: the fluent functions and the client (orders of arguments: 3.17).


reports("key value *", Scalar, "mlflow", "mlflow.log_metric mlflow.tracking.fluent.log_metric", "mlflow.log_metric")


reports("metrics *", Record, "mlflow", "mlflow.log_metrics mlflow.tracking.fluent.log_metrics", "mlflow.log_metrics")


reports(
    "-run_id key value *",
    Scalar,
    "mlflow",
    "mlflow.*MlflowClient().log_metric",
    "*mlflow*client.log_metric client.log_metric",
)


# `neptune`: series of a run, which are named by the subscript, and metrics of the older and newer clients.
#
# Orders of arguments: neptune 1.14 (with its `legacy` module) and neptune_scale 0.30.


NEPTUNE_RUNS = (
    "neptune.init_run()",
    "neptune.init()",
    "neptune.*Run()",
    "neptune.new.init()",
    "neptune.new.init_run()",
)
NEPTUNE_SERIES = tuple(run + "[]" for run in NEPTUNE_RUNS)


# `run["train/loss"].append(value)`, in older versions `.log(value)`.
reports(
    "value *",
    nameless,
    "neptune",
    methods(NEPTUNE_SERIES, ["append", "log"]),
    methods(["run[]", "*.run[]", "*_run[]", "*neptune*[]"], ["append", "log"]),
)


@sink("neptune", methods(["neptune", "neptune.create_experiment()", "neptune.legacy"], ["log_metric", "send_metric"]))
def neptune_log_metric(log_name: Any, x: Any, y: Any = None, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(log_name, x, y)` of the older client: with two the second is the value, with three the third."""
    yield Scalar(log_name, x if y is None else y)


reports("data *", Record, "neptune", "neptune_scale.*Run().log_metrics")


reports(
    "key value",
    Scalar,
    "neptune",
    [run + "[]=" for run in (*NEPTUNE_RUNS, "neptune.Run()", "neptune.new.Run()") if "*" not in run],
)


# `sacred`: scalars of an experiment or its run (orders of arguments: 0.8).


# `log_scalar(name, value, step)` of an experiment; its run calls the first `metric_name`.
reports(
    "name|metric_name value| *",
    Scalar,
    "sacred",
    "sacred.*Experiment().log_scalar sacred.*Run().log_scalar",
    "ex.log_scalar *_run.log_scalar",
)


# `swanlab` (order of arguments: 0.10).


reports("data *", Record, "swanlab", "swanlab.log swanlab.*().log", "swanlab.log")


# `tracker`: methods that many experiment trackers share, for receivers whose type cannot be known.
#
# Lightning's and Composer's loggers, polyaxon, sagemaker, fairseq's `metrics`, detectron2's event storage and home-made
# classes that follow them have these methods.


SCALAR_METHODS = ("log_metric", "log_scalar", "put_scalar", "update_scalar")
OF_LIBRARIES = methods(
    ["fairseq.*metrics", "detectron2.*get_event_storage()", "detectron2.*EventStorage()", "mmengine.*()"],
    SCALAR_METHODS,
)


# Name and value first, whatever they are called.
reports("name|key|metric|metric_name value|val *", Scalar, "tracker", OF_LIBRARIES, methods(["*"], SCALAR_METHODS))


@sink("tracker", (), ["*.log_metrics"])
def tracker_log_metrics(
    mapping: Any = None,
    *rest: Any,
    metrics: Any = None,
    data: Any = None,
    dic: Any = None,
    metrics_dict: Any = None,
    step: Any = None,
    epoch: Any = None,
    timestamp: Any = None,
    **values: Any,
) -> Iterator[Carried]:
    """A mapping first, whatever it is called, or every value under its own keyword."""
    record = given(mapping, metrics, data, dic, metrics_dict)
    if record is not None:
        yield Record(record)
    else:
        yield from by_keyword(values)


@sink(
    "tracker",
    ["detectron2.*get_event_storage().put_scalars", "detectron2.*EventStorage().put_scalars"],
    ["*.put_scalars"],
)
def put_scalars(*, smoothing_hint: Any = None, cur_iter: Any = None, **values: Any) -> Iterator[Carried]:
    """Every value under its own keyword."""
    yield from by_keyword(values)


# A mapping first.
reports(
    "values *",
    Record,
    "tracker",
    "fairseq.*progress_bar().log fairseq.*progress_bar().print",
    "*tracker.log progress.log",
)


# `trackio`: the local tracker of Hugging Face.


reports("metrics *", Record, "trackio", "trackio.log trackio.*().log", "trackio.log")


# `visdom`: points added to a line plot, and texts. The documentation names the arguments in these orders.


@sink("visdom", ["visdom.Visdom().line"], ["viz.line", "*.viz.line", "vis.line", "*.vis.line"])
def line(
    Y: Any,  # noqa: N803
    X: Any = None,  # noqa: N803
    win: Any = None,
    *rest: Any,
    name: Any = None,
    **options: Any,
) -> Iterator[Scalar]:
    """`line(Y, X, win, env, opts, update, name)`: the value is an array, most often of one; a window has a name too."""
    yield Scalar(given(name, win), Y)


reports("text *", Message, "visdom", "visdom.Visdom().text", "viz.text *.viz.text vis.text *.vis.text")


# `wandb`: Weights & Biases (orders of arguments: 0.31).


reports(
    "data *",
    Record,
    "wandb",
    "wandb.log wandb.*.log",
    "wandb.log *wandb*.log run.log *.run.log *_run.log *experiment.log",
)


# Results of the whole run.
reports("d", Record, "wandb", "wandb.*summary.update", "*wandb.summary.update *run.summary.update")


reports("key value", Scalar, "wandb", "wandb.summary[]= wandb.*.summary[]=", "*wandb.summary[]= *run.summary[]=")
