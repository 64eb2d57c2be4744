"""Trainers: records values that modules of Lightning log, and that a `Trainer` of Hugging Face Transformers logs.

Lightning: values per epoch, and results of `validate` and `test`. Transformers: what it passes to its callbacks, and
what the script adds to that before it hands it to `log_metrics` or `save_metrics`.
"""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any, Iterable, Mapping
from .managed import Managed

LIGHTNING = ("lightning.pytorch", "pytorch_lightning")
LOOP = ".loops.fit_loop"
CONNECTOR = ".trainer.connectors.logger_connector.logger_connector"
TRANSFORMERS = "transformers"
MODULES = (
    *(package + part for package in LIGHTNING for part in ("", LOOP, CONNECTOR)),
    TRANSFORMERS,
    TRANSFORMERS + ".trainer_callback",
    TRANSFORMERS + ".trainer",
)


def install(module: Any, context: AdapterContext) -> None:
    name: str = module.__name__
    if name in (*LIGHTNING, TRANSFORMERS):
        context.recorder.event("environment", {name.replace(".pytorch", ""): module.__version__})
    elif name.startswith(TRANSFORMERS):
        logs = context.part(_Logs)
        logs.patch(module.Trainer if name.endswith("trainer") else module.CallbackHandler)
    elif name.endswith(LOOP):
        _follow_lightning(module._FitLoop, Managed(context))
    else:
        _record_lightning(module._LoggerConnector, Managed(context))


# ---------------------------------------------------------------- Lightning


def _follow_lightning(loop: Any, managed: Managed) -> None:
    managed.patch(loop, "on_run_start", before=lambda self, *args, **kwargs: managed.begin(self))
    managed.patch(loop, "on_advance_start", before=lambda self, *args, **kwargs: managed.step(self))
    managed.patch(loop, "on_run_end", after=lambda result, self, *args, **kwargs: managed.end(self))


def _record_lightning(connector: Any, managed: Managed) -> None:
    """Record logged values after Lightning has reduced them, so that nothing is computed or gathered again."""

    def train_epoch(self: Any) -> None:
        if self.trainer.is_global_zero:
            results = self.trainer._results
            managed.report(_each_once([results.metrics(False)["callback"], results.metrics(True)["callback"]]))

    def evaluation(self: Any, metrics: Mapping[str, Any]) -> None:
        if self.trainer.is_global_zero and not self.trainer.sanity_checking:
            managed.report(_each_once([self.metrics["callback"], metrics]))

    managed.patch(connector, "update_train_epoch_metrics", before=train_epoch)
    managed.patch(connector, "log_eval_end_metrics", before=evaluation)


def _each_once(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Values by the names under which the module logged them: the mean of an epoch, else the value of its last step.

    A value that is logged by step and by epoch occurs a second time, as the same object, under `name_step` or
    `name_epoch`.
    """
    reported: dict[str, Any] = {}
    names: set[str] = set()
    values: set[int] = set()
    for report in reports:
        for name, value in report.items():
            if name not in names and id(value) not in values:
                reported[name] = value
            names.add(name)
            values.add(id(value))
    return reported


# ---------------------------------------------------------------- Transformers


class _Logs:
    """What Trainers log. An epoch is a step, which ends when the next begins: evaluation and final values follow it."""

    def __init__(self, context: AdapterContext) -> None:
        self.managed = Managed(context)
        self.latest: dict[str, Any] = {}

    def patch(self, owner: Any) -> None:
        """Patch the class `CallbackHandler`, or `Trainer`; the methods of one are not those of the other."""
        managed = self.managed
        managed.patch(owner, "on_train_begin", before=lambda self, *args, **kwargs: managed.begin(self))
        managed.patch(owner, "on_epoch_begin", before=lambda self, *args, **kwargs: managed.step(self))
        managed.patch(owner, "on_log", before=self._log)
        managed.patch(owner, "on_predict", before=self._log)
        managed.patch(owner, "on_train_end", after=lambda result, self, *args, **kwargs: managed.end(self))
        for name in ("log_metrics", "save_metrics"):
            managed.patch(owner, name, before=self._repeat)

    def _log(self, handler: Any, args: Any, state: Any, control: Any, logs: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:  # other processes compute the same values and do not show them
            self.latest.update(logs)
            self.managed.report(logs)

    def _repeat(self, trainer: Any, split: Any, metrics: Any, *args: Any, **kwargs: Any) -> None:
        """The script hands over what a method of the Trainer gave it: only what it added is news."""
        if trainer.is_world_process_zero():
            new = {name: value for name, value in metrics.items() if self.latest.get(name) != value}
            self.latest.update(new)
            self.managed.report(new)
