"""Every library's own order and names of arguments, and what its sink takes from them."""

import ast
import importlib
import inspect
from importlib.util import find_spec
from pathlib import Path

import pytest
from each import check_each

from deviate.sinks import SINKS, find_sink

# Callable, its parameters in order (`*` before those given by keyword alone), and what carries values. Here every
# argument is the text of its own name, so that a value taken from the wrong place has the wrong name.
CALLS = """
wandb.log | data step commit | Record data
wandb.init().log | data step commit | Record data
wandb.run.summary.update | d | Record d
mlflow.log_metric | key value step synchronous | Scalar key value
mlflow.log_metrics | metrics step synchronous | Record metrics
mlflow.tracking.MlflowClient().log_metric | run_id key value timestamp step | Scalar key value
comet_ml.Experiment().log_metric | name value step epoch include_context | Scalar name value
comet_ml.start().log_metrics | dic prefix step epoch | Record dic prefix
comet_ml.APIExperiment().log_metric | metric value step epoch timestamp | Scalar metric value
neptune.init_run()[].append | value * step timestamp wait | Scalar - value
neptune.init_run()[].log | value * step timestamp wait | Scalar - value
neptune.log_metric | log_name x | Scalar log_name x
neptune.log_metric | log_name x y timestamp | Scalar log_name y
neptune_scale.Run().log_metrics | data step * timestamp | Record data
clearml.Task.init().get_logger().report_scalar | title series value iteration | Scalar series value title
clearml.Logger.current_logger().report_single_value | name value | Scalar name value
aim.Run().track | value name step epoch * context | Scalar name value
sacred.Experiment().log_scalar | name value step | Scalar name value
sacred.run.Run().log_scalar | metric_name value step | Scalar metric_name value
dvclive.Live().log_metric | name val timestamp plot | Scalar name val
swanlab.log | data step | Record data
trackio.log | metrics step | Record metrics
deviate.log | name value | Scalar name value
azureml.core.Run.get_context().log | name value description step | Scalar name value
ray.train.report | metrics checkpoint checkpoint_dir_name | Record metrics
ray.air.session.report | metrics * checkpoint | Record metrics
nni.report_intermediate_result | metric | Scalar - metric
nni.report_final_result | metric | Scalar - metric
optuna.trial.Trial().report | value step | Scalar - value
hypertune.HyperTune().report_hyperparameter_tuning_metric \
| hyperparameter_metric_tag metric_value global_step checkpoint_path | Scalar hyperparameter_metric_tag metric_value
accelerate.Accelerator().log | values step log_kwargs | Record values
lightning.LightningModule().log | name value prog_bar logger on_step on_epoch | Scalar name value
pytorch_lightning.core.module.LightningModule().log | name value prog_bar logger | Scalar name value
lightning.pytorch.LightningModule().log_dict | dictionary prog_bar logger on_step | Record dictionary
lightning.fabric.Fabric().log | name value step | Scalar name value
lightning.fabric.Fabric().log_dict | metrics step | Record metrics
lightning.pytorch.loggers.CSVLogger().log_metrics | metrics step | Record metrics
transformers.Trainer().log | logs start_time | Record logs
transformers.Seq2SeqTrainer().log_metrics | split metrics | Record metrics
transformers.Trainer().save_metrics | split metrics combined | Record metrics
chainer.report | values observer | Record values
clu.metric_writers.create_default_writer().write_scalars | step scalars | Record scalars
fairseq.logging.metrics.log_scalar | key value weight priority round | Scalar key value
stable_baselines3.common.logger.configure().record | key value exclude | Scalar key value
tensorboardX.SummaryWriter().add_scalar \
| tag scalar_value global_step walltime display_name summary_description | Scalar tag scalar_value
visualdl.LogWriter().add_scalar | tag value step walltime | Scalar tag value
tensorboard_logger.log_value | name value step | Scalar name value
flax.metrics.tensorboard.SummaryWriter().scalar | tag value step | Scalar tag value
torch.utils.tensorboard.SummaryWriter().add_scalar \
| tag scalar_value global_step walltime new_style double_precision | Scalar tag scalar_value
torch.utils.tensorboard.SummaryWriter().add_scalars \
| main_tag tag_scalar_dict global_step walltime | Record tag_scalar_dict main_tag
torch.utils.tensorboard.SummaryWriter().add_hparams \
| hparam_dict metric_dict hparam_domain_discrete run_name global_step | Record metric_dict
torch.utils.tensorboard.SummaryWriter().add_text | tag text_string global_step walltime | Message text_string
tensorflow.summary.scalar | name data step description | Scalar name data
tensorflow.compat.v1.summary.scalar | name tensor collections family | Scalar name tensor
tensorflow.compat.v1.summary.FileWriter().add_summary | summary global_step | Summary summary
keras.utils.Progbar().update | current values finalize | Record values
keras.utils.Progbar().add | n values | Record values
tqdm.tqdm().set_description | desc refresh | Message desc
tqdm.auto.tqdm().set_description_str | desc refresh | Message desc
tqdm.notebook.trange().set_postfix_str | s refresh | Message s
tqdm.tqdm().set_postfix | ordered_dict refresh | Record ordered_dict
tqdm.tqdm.write | s file end nolock | Message s
rich.progress.Progress().update | task_id * total completed advance description visible refresh | Message description
fastprogress.fastprogress.master_bar().write | line table | Message line
ignite.handlers.ProgressBar().log_message | message | Message message
json.dump | obj fp * skipkeys ensure_ascii indent default | Record obj
jsonlines.open().write | obj | Record obj
pandas.DataFrame().append | other ignore_index verify_integrity sort | Record other
pathlib.Path().write_text | data encoding errors newline | Message data
typer.echo | message file nl err color | Message message
typer.secho | message file nl err color | Message message
visdom.Visdom().line | Y X win env opts update * name | Scalar name Y
visdom.Visdom().text | text win env opts append | Message text
""".replace("\\\n", "")

TABLE = [tuple(part.strip() for part in line.split("|")) for line in CALLS.strip().splitlines()]


def split_parameters(listed: str) -> tuple[list[str], list[str]]:
    positional, _, named = listed.partition("*")
    return positional.split(), named.split()


def carried(callee: str, positional: list[str], named: list[str]) -> list[str]:
    """Kind and contents of what a call carries, as in the table: `-` for what is absent, left out at the end."""
    sink = find_sink(callee, "")
    assert sink is not None, callee
    found = sink.carried(positional, {name: name for name in named})
    texts = [" ".join([type(item).__name__, *(part or "-" for part in item)]) for item in found]
    return [text.removesuffix(" -") for text in texts]


def check_places(row: tuple[str, ...]) -> None:
    callee, listed, expected = row
    positional, named = split_parameters(listed)
    assert carried(callee, positional, named) == [expected]


def check_keywords(row: tuple[str, ...]) -> None:
    callee, listed, expected = row
    positional, named = split_parameters(listed)
    assert carried(callee, [], positional + named) == [expected]


def test_values_are_taken_from_their_place() -> None:
    check_each(((row[0], row) for row in TABLE), check_places)


def test_values_are_found_by_keyword() -> None:
    check_each(((row[0], row) for row in TABLE), check_keywords)


IMPORTABLE = {
    "tensorflow.summary.scalar": "tensorflow:summary.scalar",
    "tensorflow.compat.v1.summary.scalar": "tensorflow:compat.v1.summary.scalar",
    "tensorflow.compat.v1.summary.FileWriter().add_summary": "tensorflow:compat.v1.summary.FileWriter.add_summary",
    "keras.utils.Progbar().update": "keras:utils.Progbar.update",
    "keras.utils.Progbar().add": "keras:utils.Progbar.add",
    "rich.progress.Progress().update": "rich.progress:Progress.update",
    "typer.echo": "typer:echo",
    "typer.secho": "typer:secho",
    "json.dump": "json:dump",
    "pathlib.Path().write_text": "pathlib:Path.write_text",
}


@pytest.mark.parametrize("callee", IMPORTABLE)
def test_the_table_has_the_order_of_the_real_signature(callee: str) -> None:
    module, _, path = IMPORTABLE[callee].partition(":")
    real: object = importlib.import_module(module)
    for name in path.split("."):
        real = getattr(real, name)
    assert callable(real)
    parameters = list(inspect.signature(real).parameters)
    (listed,) = [row[1] for row in TABLE if row[0] == callee]
    positional, named = split_parameters(listed)
    wanted = [name for name in parameters if name != "self"]
    assert wanted[: len(positional)] == positional
    assert set(named) <= set(wanted)


def test_the_table_has_the_orders_of_torch() -> None:
    # Its module needs tensorboard to be imported; its source does not.
    spec = find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).with_name("utils").joinpath("tensorboard/writer.py").read_text(encoding="utf-8"))
    (writer,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "SummaryWriter"]
    real = {node.name: [p.arg for p in node.args.args[1:]] for node in writer.body if isinstance(node, ast.FunctionDef)}
    rows = [row for row in TABLE if row[0].startswith("torch.")]
    assert len(rows) == 4
    for callee, listed, _ in rows:
        assert real[callee.rpartition(".")[2]] == listed.split()


def test_every_file_has_a_row_or_a_test_of_its_own() -> None:
    in_table = {sink.key.partition(".")[0] for row in TABLE if (sink := find_sink(row[0], ""))}
    tested = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert {key.partition(".")[0] for key in SINKS} - in_table <= tested
