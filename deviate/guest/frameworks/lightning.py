"""Lightning: records values that modules log, per epoch, and results of `validate` and `test`."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any, Iterable, Mapping
from .managed import Managed

PACKAGES = ("lightning.pytorch", "pytorch_lightning")
LOOP = ".loops.fit_loop"
CONNECTOR = ".trainer.connectors.logger_connector.logger_connector"
MODULES = tuple(package + part for package in PACKAGES for part in ("", LOOP, CONNECTOR))


def install(module: Any, context: AdapterContext) -> None:
    name: str = module.__name__
    if name in PACKAGES:
        context.recorder.event("environment", {name.replace(".pytorch", ""): module.__version__})
    elif name.endswith(LOOP):
        _follow(_class(module, "FitLoop"), Managed(context))
    else:
        _record(_class(module, "LoggerConnector"), Managed(context))


def _class(module: Any, name: str) -> Any:
    """A class, by its current name, or by its former public name before Lightning 2."""
    return getattr(module, "_" + name, None) or getattr(module, name)


def _follow(loop: Any, managed: Managed) -> None:
    managed.patch(loop, "on_run_start", before=lambda self, *args, **kwargs: managed.begin(self))
    managed.patch(loop, "on_advance_start", before=lambda self, *args, **kwargs: managed.step(self))
    managed.patch(loop, "on_run_end", after=lambda result, self, *args, **kwargs: managed.end(self))


def _record(connector: Any, managed: Managed) -> None:
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
