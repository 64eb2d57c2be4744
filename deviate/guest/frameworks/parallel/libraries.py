"""joblib, Ray and PyTorch's data loaders, where they give results as soon as these are complete."""

from __future__ import annotations

from itertools import count
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like
from .orders import Order, places_of, record_complete

NUMBER, ORDER, NUMBERS = "_deviate_number", "_deviate_order", "_deviate_numbers"
"""Attributes of joblib's callbacks and of `Parallel`, and of data loaders."""


def record_joblib(module: Any, context: AdapterContext) -> None:
    """The order of `Parallel(return_as="generator_unordered")`."""
    parallel, callback = module.Parallel, module.BatchCompletionCallBack
    if not hasattr(callback, "_register_outcome"):  # before joblib 1.3, there are no generators
        return
    places = places_of(context)
    call, create, register = parallel.__call__, callback.__init__, callback._register_outcome

    def start(self: Any, iterable: Any) -> Any:
        with context.recorder.guarded("joblib.Parallel"):
            place = -1 if getattr(self, "return_ordered", True) else places.of(_getframe(1))
            setattr(self, ORDER, Order(context.inputs, "joblib.Parallel", place, "batches", has_end=True))
            setattr(self, NUMBERS, count())
        return call(self, iterable)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        create(self, *args, **kwargs)
        setattr(self, NUMBER, next(getattr(self.parallel, NUMBERS, count())))

    def _register_outcome(self: Any, outcome: Any) -> Any:
        if not getattr(self.parallel, "return_ordered", True) and hasattr(self, NUMBER):
            with context.recorder.guarded("joblib.Parallel"):
                getattr(self.parallel, ORDER).add(self.__dict__.pop(NUMBER))  # later outcomes are ignored
        return register(self, outcome)

    parallel.__call__ = wraps_like(start, call)
    callback.__init__ = wraps_like(__init__, create)
    callback._register_outcome = wraps_like(_register_outcome, register)


def order_joblib(module: Any, context: AdapterContext) -> None:
    """Calls by the program run one after the other; those within libraries give results in order anyway."""
    create, places = module.Parallel.__init__, places_of(context)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        create(self, *args, **kwargs)
        if places.is_in_project(_getframe(1)):
            self.n_jobs = 1

    module.Parallel.__init__ = wraps_like(__init__, create)


def record_ray(module: Any, context: AdapterContext) -> None:
    """The results that `ray.wait` gives, by their position among its arguments."""
    original, places = module.wait, places_of(context)

    def wait(ray_waitables: Any, **options: Any) -> Any:
        items = list(ray_waitables) if isinstance(ray_waitables, (list, tuple)) else None
        result = original(ray_waitables, **options)
        place = places.of(_getframe(1))
        if place >= 0 and items is not None and result[1]:
            with context.recorder.guarded("ray.wait"):
                record_complete(context.inputs, "ray.wait", place, map(items.index, result[0]), len(items))
        return result

    module.wait = wraps_like(wait, original)


def record_loaders(module: Any, context: AdapterContext) -> None:
    """The order of batches of a `DataLoader` with `in_order=False`."""
    iterator = module._MultiProcessingDataLoaderIter
    original = iterator._get_data

    def _get_data(self: Any) -> Any:
        answer = original(self)
        if not getattr(self, "_in_order", True):
            with context.recorder.guarded("DataLoader"):
                if not hasattr(self, ORDER):
                    place = context.inputs.place(_getframe(1))
                    setattr(self, ORDER, Order(context.inputs, "DataLoader", place, "batches"))
                getattr(self, ORDER).add(answer[0])
        return answer

    iterator._get_data = wraps_like(_get_data, original)


def order_loaders(module: Any, context: AdapterContext) -> None:
    create = module.DataLoader.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if kwargs.get("in_order") is False:
            kwargs["in_order"] = True
        create(self, *args, **kwargs)

    module.DataLoader.__init__ = wraps_like(__init__, create)
