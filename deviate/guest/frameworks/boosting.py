"""Boosting libraries: their generators are in C++ and cannot be routed, so the seeds that they receive are recorded.

Without a seed, a library uses a default one, which is the same in all runs.
"""

from __future__ import annotations

from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any, Iterator

LIGHTGBM, XGBOOST, CATBOOST = "lightgbm.basic", "xgboost.core", "catboost.core"
MODULES = (LIGHTGBM, XGBOOST, CATBOOST)


class Default:
    """Stands for the default seed of a library."""

    def __repr__(self) -> str:
        return "default"


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == CATBOOST:
        _patch(module._CatBoostBase, "_train", "catboost.random_seed", 3, "params", context)
        _patch(module, "cv", "catboost.cv.random_seed", 1, "params", context)
        for owner, name in (
            (module.CatBoost, "grid_search"),
            (module.CatBoost, "randomized_search"),
            (module.Pool, "quantize"),
        ):
            _patch_keywords(owner, name, "catboost.%s.%s" % (owner.__name__, name), context)
    else:
        # With data, the object is trained; without, it is read from a file.
        call = "%s.seed" % module.__name__.partition(".")[0]
        is_lightgbm = module.__name__ == LIGHTGBM
        _patch(module.Booster, "__init__", call, 1, "params", context, (2, "train_set" if is_lightgbm else "cache"))


def _patch(
    owner: Any,
    name: str,
    call: str,
    place: int,
    keyword: str,
    context: AdapterContext,
    data: tuple[int, str] | None = None,
) -> None:
    """Record the seeds in the parameters of a training call.

    Args:
        place, keyword: of the parameters among its arguments.
        data: the same for an argument without which it does not train.
    """

    def train(*args: Any, **kwargs: Any) -> None:
        examples = data and _argument(args, kwargs, *data)
        if data is None or examples:
            parameters = dict(_argument(args, kwargs, place, keyword) or ())
            _tell(call, {**parameters, **(getattr(examples, "params", None) or {})}, context, _getframe(2))

    context.observe(owner, name, before=train, where=call)


def _patch_keywords(owner: Any, name: str, call: str, context: AdapterContext) -> None:
    """Record seeds that are passed as keywords; a default seed splits the examples in the same way every time."""

    def search(*args: Any, **kwargs: Any) -> None:
        for keyword, seed in _seeds(kwargs):
            context.seeding.leave_free("%s.%s" % (call, keyword), seed, _getframe(2))

    context.observe(owner, name, before=search, where=call)


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, keyword: str) -> Any:
    return args[place] if len(args) > place else kwargs.get(keyword)


def _tell(call: str, parameters: dict[str, Any], context: AdapterContext, frame: FrameType) -> None:
    library, seeds = call.partition(".")[0], list(_seeds(parameters))
    for name, seed in seeds:
        context.seeding.leave_free("%s.%s" % (library, name), seed, frame)
    if not seeds:
        context.seeding.leave_free(call, Default(), frame)


def _seeds(parameters: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each seed in the parameters."""
    for name, value in parameters.items():
        is_seed = str(name).endswith("seed") or name == "random_state"
        if is_seed and value is not None and not isinstance(value, bool):
            yield str(name), value
