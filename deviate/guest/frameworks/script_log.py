"""`deviate.log_predictions` and similar functions; provides the module where deviate is not installed."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any, Array, Callable, Mapping
from ..observers.arrays import array_of
from ..observers.capture import SCRIPT, example_keys
from ..seeds import wraps_like

MODULES = ("deviate",)


def install(module: Any, context: AdapterContext) -> None:
    logs = Logs(context)
    for name in ("log_predictions", "log_weights", "log_groups"):
        setattr(module, name, wraps_like(logs.safe(getattr(logs, name)), getattr(module, name)))


class Logs:
    """Passes logged data to the capture."""

    def __init__(self, context: AdapterContext) -> None:
        self.capture = context.capture
        self.recorder = context.recorder
        self.weights: list[tuple[str, Array]] = []

    def safe(self, function: Callable[..., None]) -> Callable[..., None]:
        def call_safely(*args: Any, **kwargs: Any) -> None:
            with self.recorder.guarded("deviate.%s" % function.__name__):
                function(*args, **kwargs)

        return call_safely

    def log_predictions(
        self, outputs: Any, truth: Any = None, *, name: str = "test", inputs: Any = None, **columns: Any
    ) -> None:
        arrays = {"outputs": array_of(outputs)}
        if truth is not None:
            arrays["truth"] = array_of(truth)
        if inputs is not None:
            arrays["keys"] = example_keys(array_of(inputs))
        arrays.update((column, array_of(values)) for column, values in columns.items())
        rows = {column: array[1][0] for column, array in arrays.items()}
        if len(set(rows.values())) > 1:
            counts = ", ".join("%s %d" % item for item in rows.items())
            raise ValueError("rows of one batch differ in number: %s" % counts)
        self.capture.begin()
        self.capture.rows(name, arrays, SCRIPT)

    def log_groups(self, *, name: str = "test", **columns: Any) -> None:
        self.capture.add_columns(name, {column: array_of(values) for column, values in columns.items()})

    def log_weights(self, weights: Mapping[str, Any]) -> None:
        self.weights = [(str(name), array_of(value)) for name, value in weights.items()]
        self.capture.begin()
        self.capture.weights_of[SCRIPT] = lambda: self.weights
