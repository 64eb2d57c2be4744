"""What scripts report to experiment trackers."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record, Scalar, Template
from .registry import Carried, by_keyword, given, methods, sink

# `aim`: `track` of a run (order of arguments: 3.29), of a session and of the module (2).


@sink("aim", ["aim.track", *methods(["aim.*Run()", "aim.*Session()"], ["track"])], ["*run.track", "*aim*.track"])
def track(value: Any, name: Any = None, *rest: Any, **options: Any) -> Iterator[Carried]:
    """`track(value, name, step, epoch, context)`; without a name the value is a mapping."""
    yield Record(value) if name is None else Scalar(name, value)


# `azureml`: runs of Azure Machine Learning's first SDK.


AZUREML_RUNS = ("azureml.*get_context()", "azureml.*start_logging()", "azureml.*Run()")


@sink("azureml", methods(AZUREML_RUNS, ["log"]))
def azureml_log(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, description, step)`."""
    yield Scalar(name, value)


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


@sink("clearml", methods(CLEARML_LOGGERS, ["report_single_value"]), ["*.report_single_value"])
def report_single_value(name: Any, value: Any) -> Iterator[Scalar]:
    """`report_single_value(name, value)`: a result of the whole run."""
    yield Scalar(name, value)


@sink("clearml", methods(CLEARML_LOGGERS, ["report_text"]), ["*.report_text"])
def report_text(
    msg: Any, level: Any = None, print_console: Any = None, *args: Any, **options: Any
) -> Iterator[Template]:
    """`report_text(msg, level, print_console, *args)`."""
    yield Template(msg, args)


# `comet`: experiments of comet_ml, however they were made (orders of arguments: 3.58).


@sink("comet", ["comet_ml.*().log_metric"], ["*experiment.log_metric"])
def comet_log_metric(
    name: Any = None, value: Any = None, *rest: Any, metric: Any = None, **options: Any
) -> Iterator[Scalar]:
    """`log_metric(name, value, step, epoch, …)`; `APIExperiment` calls the first `metric`."""
    if value is not None:
        yield Scalar(given(name, metric), value)


@sink("comet", ["comet_ml.*().log_metrics"], ["*experiment.log_metrics"])
def comet_log_metrics(dic: Any, prefix: Any = None, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(dic, prefix, step, epoch, …)`."""
    yield Record(dic, prefix)


# `deviate`: what a script reports to deviate itself.


@sink("deviate", ["deviate.log"])
def deviate_log(name: Any, value: Any) -> Iterator[Scalar]:
    """`log(name, value)`."""
    yield Scalar(name, value)


# `dvclive`: metrics of a `Live` object (order of arguments: 3.49).


@sink(
    "dvclive",
    ["dvclive.*Live().log_metric", "dvclive.*Live().log", "dvclive.log"],
    ["live.log_metric", "*.live.log_metric"],
)
def dvclive_log_metric(name: Any, val: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(name, val, …)`, in older versions `log`."""
    yield Scalar(name, val)


# `mlflow`: the fluent functions and the client (orders of arguments: 3.17).


@sink("mlflow", ["mlflow.log_metric", "mlflow.tracking.fluent.log_metric"], ["mlflow.log_metric"])
def mlflow_log_metric(key: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(key, value, step, …)`."""
    yield Scalar(key, value)


@sink("mlflow", ["mlflow.log_metrics", "mlflow.tracking.fluent.log_metrics"], ["mlflow.log_metrics"])
def mlflow_log_metrics(metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(metrics, step, …)`."""
    yield Record(metrics)


@sink("mlflow", ["mlflow.*MlflowClient().log_metric"], ["*mlflow*client.log_metric", "client.log_metric"])
def client_log_metric(run_id: Any, key: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`MlflowClient.log_metric(run_id, key, value, timestamp, step, …)`."""
    yield Scalar(key, value)


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


@sink(
    "neptune",
    methods(NEPTUNE_SERIES, ["append", "log"]),
    methods(["run[]", "*.run[]", "*_run[]", "*neptune*[]"], ["append", "log"]),
)
def append(value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`run["train/loss"].append(value)`, in older versions `.log(value)`."""
    yield Scalar(None, value)


@sink("neptune", methods(["neptune", "neptune.create_experiment()", "neptune.legacy"], ["log_metric", "send_metric"]))
def neptune_log_metric(log_name: Any, x: Any, y: Any = None, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(log_name, x, y)` of the older client: with two the second is the value, with three the third."""
    yield Scalar(log_name, x if y is None else y)


@sink("neptune", ["neptune_scale.*Run().log_metrics"])
def neptune_log_metrics(data: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(data, step)` of neptune_scale."""
    yield Record(data)


@sink("neptune", [run + "[]=" for run in (*NEPTUNE_RUNS, "neptune.Run()", "neptune.new.Run()") if "*" not in run])
def assign(key: Any, value: Any) -> Iterator[Scalar]:
    """`run["best/acc"] = value`."""
    yield Scalar(key, value)


# `sacred`: scalars of an experiment or its run (orders of arguments: 0.8).


@sink("sacred", ["sacred.*Experiment().log_scalar", "sacred.*Run().log_scalar"], ["ex.log_scalar", "*_run.log_scalar"])
def log_scalar(
    name: Any = None, value: Any = None, *rest: Any, metric_name: Any = None, **options: Any
) -> Iterator[Scalar]:
    """`log_scalar(name, value, step)` of an experiment; its run calls the first `metric_name`."""
    if value is not None:
        yield Scalar(given(name, metric_name), value)


# `swanlab` (order of arguments: 0.10).


@sink("swanlab", ["swanlab.log", "swanlab.*().log"], ["swanlab.log"])
def swanlab_log(data: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(data, step)` of the module and of a run."""
    yield Record(data)


# `tracker`: methods that many experiment trackers share, for receivers whose type cannot be known.
#
# Lightning's and Composer's loggers, polyaxon, sagemaker, fairseq's `metrics`, detectron2's event storage and home-made
# classes that follow them have these methods.


SCALAR_METHODS = ("log_metric", "log_scalar", "put_scalar", "update_scalar")
OF_LIBRARIES = methods(
    ["fairseq.*metrics", "detectron2.*get_event_storage()", "detectron2.*EventStorage()", "mmengine.*()"],
    SCALAR_METHODS,
)


@sink("tracker", OF_LIBRARIES, methods(["*"], SCALAR_METHODS))
def tracker_log_metric(
    name: Any = None,
    value: Any = None,
    *rest: Any,
    key: Any = None,
    metric: Any = None,
    metric_name: Any = None,
    val: Any = None,
    **options: Any,
) -> Iterator[Scalar]:
    """Name and value first, whatever they are called."""
    number = given(value, val)
    if number is not None:
        yield Scalar(given(name, key, metric, metric_name), number)


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


@sink("tracker", ["fairseq.*progress_bar().log", "fairseq.*progress_bar().print"], ["*tracker.log", "progress.log"])
def tracker_log(values: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """A mapping first."""
    yield Record(values)


# `trackio`: the local tracker of Hugging Face.


@sink("trackio", ["trackio.log", "trackio.*().log"], ["trackio.log"])
def trackio_log(metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(metrics, step)` of the module and of a run."""
    yield Record(metrics)


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


@sink("visdom", ["visdom.Visdom().text"], ["viz.text", "*.viz.text", "vis.text", "*.vis.text"])
def text(text: Any, *rest: Any, **options: Any) -> Iterator[Message]:
    """`text(text, win, env, opts, append)`."""
    yield Message(text)


# `wandb`: Weights & Biases (orders of arguments: 0.31).


@sink(
    "wandb",
    ["wandb.log", "wandb.*.log"],
    ["wandb.log", "*wandb*.log", "run.log", "*.run.log", "*_run.log", "*experiment.log"],
)
def wandb_log(data: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(data, step, commit)` of the module and of a run."""
    yield Record(data)


@sink("wandb", ["wandb.*summary.update"], ["*wandb.summary.update", "*run.summary.update"])
def summary_update(d: Any) -> Iterator[Record]:
    """Results of the whole run."""
    yield Record(d)


@sink("wandb", ["wandb.summary[]=", "wandb.*.summary[]="], ["*wandb.summary[]=", "*run.summary[]="])
def summary_item(key: Any, value: Any) -> Iterator[Scalar]:
    """`wandb.run.summary["best"] = value`."""
    yield Scalar(key, value)
