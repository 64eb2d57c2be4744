"""LightGBM, XGBoost and CatBoost: their seeds follow the streams, and what they evaluate in training is recorded.

Their generators are in C++ and begin with a number among the parameters, so this number is replaced where it is handed
to the library; the script's own parameters stay as they are. A seed that the script does not set is replaced too: the
library's default is the same in all runs and hides what is drawn from it. Equal seeds of the script stay equal.

- **LightGBM** has a seed for each purpose, of which each gets that of its stream (`SEEDS`). `seed` only
  generates those that are not set. All are 32-bit integers with a sign.
  Source: LightGBM documentation, Parameters; `Config::Set` in src/io/config.cpp.
- **XGBoost** draws rows and columns, and the trees that DART drops, from one generator, which `seed` (or its alias
  `random_state`) begins; 0 by default. It is drawn from where `subsample`, a `colsample_by*` or DART asks for it.
  Source: XGBoost documentation, Parameters; include/xgboost/context.h.
- **CatBoost** draws permutations of the examples, bootstrap weights and the noise of scores (`random_strength`) from
  one generator, which `random_seed` (or its synonym `random_state`) begins; 0 by default.
  Source: CatBoost documentation, Training parameters.

Seeds that divide the examples for a cross-validation are kept, as those of scikit-learn are, unless `split` varies.

The noise of the implementation: LightGBM adds histograms in an order that depends on the threads, unless
`deterministic` is set, and measures in each run whether to build them by column or by row, unless it is told. XGBoost
and CatBoost repeat themselves on a CPU at the same number of threads; CatBoost does not on a GPU.
Source: LightGBM documentation, `deterministic`; CatBoost documentation, FAQ.
"""

from __future__ import annotations

import json
import weakref
from hashlib import sha256
from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any, Array, Callable, Iterable, Iterator, Mapping
from ..observations import Observations
from ..observers.arrays import Arrays
from ..regions import Region
from ..seeds import wraps_like
from ..streams import OTHER, spell_seed
from .boosting_trace import BoostingTrace, data_parts
from .managed import Managed

DROPOUT, SHUFFLE, SPLIT = "dropout", "shuffle", "split"
CATBOOST_SEED = "random_seed"
SEEDS: dict[str, dict[str, str]] = {
    "lightgbm": {
        "bagging_seed": SHUFFLE,  # the examples of each tree, by bagging or GOSS
        "feature_fraction_seed": DROPOUT,  # the features that a tree or a node leaves out
        "drop_seed": DROPOUT,  # the trees that DART leaves out
        "extra_seed": OTHER,  # thresholds of extremely randomized trees
        "objective_seed": OTHER,  # of the objective rank_xendcg
        "data_random_seed": OTHER,  # the examples from which the bins are made, where there are very many
        "seed": OTHER,  # the rest: rounding of quantized gradients
    },
    "xgboost": {"seed": OTHER},
    "catboost": {CATBOOST_SEED: OTHER},
}
"""Seeds of each library by purpose, and their streams."""
LIGHTGBM_SEEDS = SEEDS["lightgbm"]
GENERAL = "seed"
"""From which LightGBM generates those that are not set."""
DATA_SEED = "data_random_seed"
XGBOOST_SEEDS = (GENERAL, "random_state")
LIMIT = 2**31
DEFAULT_KEY = "default"
"""Stands for the script's seed where it sets none: two models without a seed have the same one."""


class Default:
    """Stands for the default seed of a library."""

    def __repr__(self) -> str:
        return "default"


def install(module: Any, context: AdapterContext) -> None:
    library, _, name = module.__name__.partition(".")
    if not name:
        context.recorder.event("environment", {library: module.__version__})
    else:
        PARTS[module.__name__](module, context)


class Trees(Arrays):
    """The trees of a model, of which there is a hash and a size in bytes, in place of an array."""

    def exact(self, array: Any) -> Array:
        return "sha256", (1,), array[0]

    def size(self, array: Any) -> int:
        return int(array[1])


class Boosting(Observations):
    """What the adapters of the three libraries have in common.

    Attributes:
        framework: the name of the package, under which its seeds are recorded and derived.
        trains_whole: whether a model is seen when all of it was trained, not at each iteration.
    """

    trains_whole = False

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context, Trees())
        self.streams = context.streams
        self.managed = Managed(context)
        self.controlled: set[tuple[object, ...]] = set()
        self.trained: dict[int, Callable[[], Any]] = {}
        self.digests: dict[int, tuple[bytes, int]] = {}
        self.n_trained = 0
        self.predictions: Any = None
        if context.capture.wants_predictions:
            from .boosting_capture import BoosterPredictions  # most runs keep nothing

            self.predictions = BoosterPredictions(context, self.framework)
        self.tracing = BoostingTrace(self)

    # ------------------------------------------------------------ seeds

    def new_seed(self, name: str, key: str, stream: str) -> int:
        """The seed for a parameter, in [0, 2**31).

        Args:
            key: the script's seed, as text.
        """
        return self.streams.seed("%s.%s" % (self.framework, name), key, stream) % LIMIT

    def record(self, seeds: Iterable[tuple[str, Any]], call: str) -> None:
        """Record the seeds of a training that the project asks for.

        Args:
            seeds: names and values of parameters.
            call: under which the default seed is recorded, where the script sets none.
        """
        if self.context.project.innermost(_getframe(1)) is None:  # a worker's, whose parameters were recorded before
            return
        is_seeded = False
        for name, value in seeds:
            is_seeded = True
            self.context.seeding.record("%s.%s" % (self.framework, name), value)
        if not is_seeded:
            self.context.seeding.record(call, Default())

    def names_of(self, parameter: str) -> tuple[str, ...]:
        """A parameter and its aliases; the first one that is set counts."""
        return (parameter,)

    def value(self, parameters: Mapping[str, Any], parameter: str, default: Any = None) -> Any:
        values = (parameters.get(name) for name in self.names_of(parameter))
        return next((value for value in values if value is not None), default)

    def replace_seeds(self, parameters: dict[str, Any], missing: Iterable[str]) -> None:
        """Replace the seeds that are set, in place under the names by which the script sets them, and those missing."""
        asked = {name: self.value(parameters, name, self.value(parameters, GENERAL)) for name in SEEDS[self.framework]}
        missing = {*missing}
        for parameter, stream in SEEDS[self.framework].items():
            script_names = [name for name in self.names_of(parameter) if parameters.get(name) is not None]
            for name in script_names or ([parameter] if parameter in missing else ()):
                key = DEFAULT_KEY if asked[parameter] is None else spell_seed(asked[parameter])
                parameters[name] = self.new_seed(parameter, key, stream)

    def divide(self, owner: Any, name: str, call: str, place: int, keyword: str) -> None:
        """Keep the seed of a function that divides the examples, or replace it where the split varies.

        Args:
            call: its public name, for the record.
            place, keyword: of the seed among its arguments.
        """
        original = getattr(owner, name, None)
        if original is None:
            return
        seeding, streams = self.context.seeding, self.streams

        def dividing(*args: Any, **kwargs: Any) -> Any:
            with self.recorder.guarded(call):
                seed = _argument(args, kwargs, place, keyword)
                is_replaced = SPLIT in streams.varied
                if seed is not None and self.context.project.innermost(_getframe(1)) is not None:
                    seeding.record(call, seed, is_replaced=is_replaced)
                if streams.is_active and is_replaced:
                    new = self.new_seed(call, DEFAULT_KEY if seed is None else spell_seed(seed), SPLIT)
                    args, kwargs = _with_argument(args, kwargs, place, keyword, new)
                if streams.is_active:
                    streams.tell_drawn(self.framework, SPLIT)
            # NumPy's generator, which it may seed for this, is that of the split.
            with Region(streams, SPLIT):
                return seeding.carry_out(original, args, kwargs)

        setattr(owner, name, wraps_like(dividing, original))

    # ------------------------------------------------------------ factors

    def control(self, factor: str, name: str, value: object, action: str) -> None:
        """Record once that a parameter is set for a factor, or that the script's value is overridden."""
        place = ("", 0) if action == "set" else self.context.project.nearest(_getframe(1))
        change = (factor, "%s.%s" % (self.framework, name), str(value), *place, action)
        if change not in self.controlled:
            self.controlled.add(change)
            self.recorder.event("control", *change)

    def hold_threads(self, parameters: dict[str, Any], names: Iterable[str]) -> None:
        """Override the script's number of threads where the variant sets one; without, the environment has it."""
        count = self.context.controls.get("threads")
        for name in names if count is not None else ():
            if parameters.get(name) is not None:
                self.control("threads", name, parameters[name], "overridden")
                parameters[name] = int(count or 0)

    # ------------------------------------------------------------ models

    def watch(self, module: Any, *names: str) -> None:
        """Capture what these classes predict, where the run asks for it and the library has them."""
        if self.predictions is not None:
            self.predictions.patch(*(getattr(module, name) for name in names if hasattr(module, name)))

    def begin_training(self) -> None:
        if self.predictions is not None:
            self.predictions.begin_training()

    def see_update(self, result: Any, booster: Any, *args: Any, **kwargs: Any) -> None:
        """A method of a model has updated it."""
        self.see_model(booster)

    def see_model(self, model: Any) -> None:
        """A model was trained; while the script keeps it, it is hashed."""
        self.trained = {number: each for number, each in self.trained.items() if each() is not None}
        number = next((number for number, each in self.trained.items() if each() is model), self.n_trained)
        if number == self.n_trained:
            self.trained[number] = weakref.ref(model)
            self.n_trained += 1
        self.digests.pop(number, None)
        self.recorder.train(model, is_anew=self.trains_whole)

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        """Hash and size of the trees of models that still exist.

        A search trains many, each of which ends a main loop: their trees are read once.
        """
        for number, reference in self.trained.items():
            model = reference()
            if model is not None:
                if number not in self.digests:
                    content = self.trees(model)
                    self.digests[number] = sha256(content).digest(), len(content)
                yield str(number), self.digests[number], True

    def kept_weights(self) -> Iterable[tuple[str, Array]]:
        """None: trees are no arrays."""
        return ()

    def trees(self, model: Any) -> bytes:
        """What a model has learned, without what differs between equal models: parameters and times."""
        raise NotImplementedError

    # ------------------------------------------------------------ evaluations

    def replay(
        self, driver: object, history: Mapping[str, Iterable[Any]], at_step: Callable[[], object] = lambda: None
    ) -> None:
        """Record the history of a training that is over, an iteration as a step of the managed loop."""
        columns = {name: list(values) for name, values in history.items()}
        self.managed.begin(driver)
        for step in range(max(map(len, columns.values()), default=0)):
            self.managed.step(driver, step)
            self.managed.report({name: values[step] for name, values in columns.items() if step < len(values)})
            at_step()
        self.managed.end(driver)


class LightGBM(Boosting):
    """LightGBM: all parameters pass through one function that spells them for the library in C++."""

    framework = "lightgbm"

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context)
        self.aliases: dict[str, tuple[str, ...]] = {}
        self.driver: Callable[[], object] = lambda: None
        self.n_iterations = 0

    def patch_basic(self, module: Any) -> None:
        self.module = module
        self.watch(module, "Booster")
        self.context.observe(module.Booster, "__init__", before=self._record_training, where="lightgbm.seed")
        if self.streams.is_active or self.context.controls:
            module._param_dict_to_str = self._spelling(module._param_dict_to_str)
        for name in ("eval_train", "eval_valid"):
            self.context.observe(module.Booster, name, after=self._report)
        self.context.observe(module.Booster, "update", before=self._begin_iteration, after=self._see_iteration)

    def patch_engine(self, module: Any) -> None:
        self.divide(module, "_make_n_folds", "lightgbm.cv.seed", 4, "seed")
        self.context.observe(module, "_agg_cv_result", after=self._report_folds)
        for name in ("train", "cv"):
            self.context.observe(module, name, after=self._end_training)

    def _end_training(self, *args: Any, **kwargs: Any) -> None:
        self.tracing.end_iteration()
        self.managed.end(self.driver())

    # ------------------------------------------------------------ parameters

    def names_of(self, parameter: str) -> tuple[str, ...]:
        if parameter not in self.aliases:
            config = getattr(self.module, "_ConfigAliases", None)
            others = config.get(parameter) if config is not None else ()
            self.aliases[parameter] = (parameter, *sorted({*others} - {parameter}))
        return self.aliases[parameter]

    def _record_training(self, booster: Any, *args: Any, **kwargs: Any) -> None:
        data = _argument(args, kwargs, 1, "train_set")
        if data is not None:  # without data it is read from a file
            self.begin_training()
            own, of_data = _argument(args, kwargs, 0, "params") or {}, getattr(data, "params", None) or {}
            self.record(self._seeds({**own, **of_data}), "lightgbm.seed")
            # A data set has dropped its features where it was read before.
            parts = {part: getattr(data, name, None) for name, part in LIGHTGBM_DATA.items()}
            self.tracing.data(parts, _getframe(1))

    def _seeds(self, parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        names = {name for parameter in LIGHTGBM_SEEDS for name in self.names_of(parameter)}
        return ((name, value) for name, value in parameters.items() if name in names and value is not None)

    def _spelling(self, original: Any) -> Any:
        def spell(data: Any) -> Any:
            with self.recorder.guarded("parameters of lightgbm"):
                data = self._replaced(data, _getframe(1))
            return original(data)

        return wraps_like(spell, original)

    def _replaced(self, data: Any, frame: FrameType) -> Any:
        """The parameters for the library. Whoever reads a data set, or makes a model of one, gets all its seeds."""
        parameters = dict(data or {})
        owner, function = frame.f_locals.get("self"), frame.f_code.co_name
        is_training = isinstance(owner, self.module.Booster) and function == "__init__"
        # Parameters that are compared with those of a data set that exists must be those that the script set.
        is_reading = isinstance(owner, self.module.Dataset) and function != "_update_params"
        missing = {*(LIGHTGBM_SEEDS if is_training else ()), *((DATA_SEED,) if is_reading else ())}
        if self.streams.is_active:
            self.replace_seeds(parameters, missing)
        if function != "_update_params":  # a data set that is read later sets the number of threads for all
            self.hold_threads(parameters, self.names_of("num_threads"))
        if is_training:
            self._hold(parameters)
            with self.recorder.guarded("draws of lightgbm"):
                self._tell_drawn(parameters)
        return parameters

    def _tell_drawn(self, parameters: Mapping[str, Any]) -> None:
        """Report the streams that these parameters draw from."""
        if not self.streams.is_active:
            return
        boosting = str(self.value(parameters, "boosting", "gbdt"))
        fractions = [self.value(parameters, name, 1) for name in BAGGING]
        is_bagged = self.value(parameters, "bagging_freq", 0) and any(float(each) < 1 for each in fractions)
        if is_bagged or "goss" in (boosting, self.value(parameters, "data_sample_strategy")) or boosting in FORESTS:
            self.streams.tell_drawn(self.framework, SHUFFLE)
        if boosting == "dart" or any(float(self.value(parameters, name, 1)) < 1 for name in FEATURES):
            self.streams.tell_drawn(self.framework, DROPOUT)
        objective = str(self.value(parameters, "objective", ""))
        if "xendcg" in objective or any(_is_on(self.value(parameters, name)) for name in RANDOM):
            self.streams.tell_drawn(self.framework, OTHER)

    # ------------------------------------------------------------ factors

    def _hold(self, parameters: dict[str, Any]) -> None:
        controls, device = self.context.controls, self.value(parameters, "device_type", "cpu")
        is_asked = _is_on(self.value(parameters, "deterministic"))
        if controls.get("kernels") == "deterministic":
            parameters["deterministic"] = True
            self.control("kernels", "deterministic", True, "set")
            if device != "cpu":
                what = "lightgbm on %s has no deterministic kernels" % device
                self.recorder.event("uncontrolled", what, *self.context.project.nearest(_getframe(1)))
        elif controls.get("kernels") and is_asked:
            parameters["deterministic"] = False
            self.control("kernels", "deterministic", True, "overridden")
        is_chosen = _is_on(parameters.get("force_row_wise")) or _is_on(parameters.get("force_col_wise"))
        if controls.get("autotune") == "off" and device == "cpu" and not is_chosen:
            parameters["force_col_wise"] = True
            self.control("autotune", "force_col_wise", True, "set")

    def trees(self, model: Any) -> bytes:
        return str(model.model_to_string(num_iteration=-1)).partition("\nparameters:")[0].encode()

    # ------------------------------------------------------------ evaluations

    def _begin_iteration(self, booster: Any, *args: Any, **kwargs: Any) -> None:
        """An iteration of `train`, or of `cv` at its first fold; in a loop of the script's own it has steps there."""
        caller = _getframe(2)
        if caller.f_globals.get("__name__") == "lightgbm.engine":
            folds = caller.f_locals.get("self")
            if folds is None or booster is folds.boosters[0]:
                driver = booster if folds is None else folds
                self.driver = weakref.ref(driver)
                self.managed.step(driver)
        if self.tracing.is_active:
            self.n_iterations = booster.current_iteration()
            self.tracing.iteration(caller)

    def _see_iteration(self, result: Any, booster: Any, *args: Any, **kwargs: Any) -> None:
        self.see_model(booster)
        self.tracing.update(lambda: self._new_trees(booster), _getframe(1))

    def _new_trees(self, booster: Any) -> bytes:
        """Those of the last iteration; none where nothing was left to split."""
        n_iterations = booster.current_iteration()
        if n_iterations == self.n_iterations:
            return b""
        text = booster.model_to_string(num_iteration=1, start_iteration=n_iterations - 1)
        return str(text.partition("\nTree=")[2].partition("\nend of trees")[0]).encode()

    def _report(self, results: Any, booster: Any, *args: Any, **kwargs: Any) -> None:
        caller = _getframe(2)
        values = {"%s_%s" % (data, metric): value for data, metric, value, *_ in map(tuple, results)}
        if caller.f_globals.get("__name__") == "lightgbm.engine" and caller.f_code.co_name == "train":
            self.managed.report(values)
        self.tracing.losses(values, caller)

    def _report_folds(self, results: Any, *args: Any, **kwargs: Any) -> None:
        """Mean and standard deviation over the folds, by the names that `cv` returns them under."""
        for data, metric, mean, _, deviation, *_ in map(tuple, results):
            name = ("%s_%s" % (data, metric)).replace(" ", "_")
            self.managed.report({name + "_mean": mean, name + "_stdv": deviation})


LIGHTGBM_DATA = {"data": "input", "label": "target", "weight": "weight", "init_score": "base"}
"""Attributes of a `Dataset`, and what records call them."""
BAGGING = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
FEATURES = ("feature_fraction", "feature_fraction_bynode")
RANDOM = ("extra_trees", "use_quantized_grad")
FORESTS = ("rf", "random_forest")
"""Parameters and values of LightGBM that make it draw."""


class XGBoost(Boosting):
    """XGBoost: all parameters pass through `set_param`; one booster is one generator."""

    framework = "xgboost"

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context)
        self.seeded: weakref.WeakSet[Any] = weakref.WeakSet()
        self.traced: weakref.WeakSet[Any] = weakref.WeakSet()

    def names_of(self, parameter: str) -> tuple[str, ...]:
        return XGBOOST_SEEDS

    def patch_core(self, module: Any) -> None:
        booster = module.Booster
        self.watch(module, "Booster")
        self.set_param = booster.set_param
        booster.set_param = self._setting(booster.set_param)
        for name in ("update", "boost"):
            self.context.observe(
                booster, name, before=self._begin_update, after=self._see_iteration, where="xgboost.seed"
            )
        if self.context.trace.requested_level:
            self.context.observe(booster, "eval_set", after=self._see_evaluation)

    def patch_training(self, module: Any) -> None:
        self.divide(module, "mknfold", "xgboost.cv.seed", 3, "seed")

    def patch_callbacks(self, module: Any) -> None:
        """The container of callbacks is called at each iteration, also where there are none."""
        container, managed = module.CallbackContainer, self.managed
        managed.patch(container, "before_training", before=lambda self, *args, **kwargs: managed.begin(self))
        managed.patch(container, "before_iteration", before=lambda self, *args, **kwargs: managed.step(self))
        managed.patch(container, "_update_history", before=self._report)
        managed.patch(container, "after_training", after=self._end_training)

    def _end_training(self, result: Any, container: Any, *args: Any, **kwargs: Any) -> None:
        self.tracing.end_iteration()
        self.managed.end(container)

    def _setting(self, original: Any) -> Any:
        def set_param(booster: Any, params: Any, *args: Any, **kwargs: Any) -> Any:
            with self.recorder.guarded("parameters of xgboost"):
                if isinstance(params, str):
                    if params in (*XGBOOST_SEEDS, *XGBOOST_THREADS) and (args or kwargs):
                        params, args, kwargs = [(params, args[0] if args else kwargs["value"])], (), {}
                else:
                    params = list(params.items() if hasattr(params, "items") else params)
                if not isinstance(params, str):
                    params = self._replaced(booster, params)
            return original(booster, params, *args, **kwargs)

        return wraps_like(set_param, original)

    def _replaced(self, booster: Any, pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """The parameters for the library; a metric may stand among them several times."""
        seeds = {name: value for name, value in pairs if name in XGBOOST_SEEDS and value is not None}
        threads = {name: value for name, value in pairs if name in XGBOOST_THREADS}
        self.hold_threads(threads, XGBOOST_THREADS)
        if seeds:
            self.record(seeds.items(), "xgboost.seed")
            self.seeded.add(booster)
            self._replace_seed(seeds)
        replaced = {**threads, **seeds}
        return [(name, replaced.get(name, value)) for name, value in pairs]

    def _begin_update(self, booster: Any, *args: Any, **kwargs: Any) -> None:
        """A booster is trained that may have been given no seed."""
        self.begin_training()
        frame = _getframe(2)
        if booster not in self.seeded:
            self.seeded.add(booster)
            self.record((), "xgboost.seed")
            seeds: dict[str, Any] = {}
            self._replace_seed(seeds)
            if seeds:
                self.set_param(booster, seeds)
        if self.tracing.is_active and not _is_inner(frame):
            if booster not in self.traced:
                self.traced.add(booster)
                self.tracing.data(data_parts(_argument(args, kwargs, 0, "dtrain")), frame)
            self.tracing.iteration(frame)

    def _replace_seed(self, seeds: dict[str, Any]) -> None:
        if self.streams.is_active:
            self.replace_seeds(seeds, (GENERAL,))
            self.streams.tell_drawn(self.framework, OTHER)

    def _see_iteration(self, result: Any, booster: Any, *args: Any, **kwargs: Any) -> None:
        self.see_model(booster)
        frame = _getframe(2)
        if not _is_inner(frame):
            self.tracing.update(lambda: self._new_trees(booster), frame)

    def _new_trees(self, booster: Any) -> bytes:
        """Those of the last iteration, from a slice of the model; of a linear model, all weights.

        Source: XGBoost documentation, "Introduction to Model IO": the format JSON.
        """
        n_rounds = booster.num_boosted_rounds()
        try:
            part = booster[n_rounds - 1 : n_rounds]
        except Exception:  # a linear model has no slices
            part = booster
        return repr(json.loads(bytes(part.save_raw("json")))["learner"]["gradient_booster"]).encode()

    def _see_evaluation(self, text: Any, *args: Any, **kwargs: Any) -> None:
        """Scores as text: `[3]`, then `train-auc:0.5` with all digits of each, with tabs between."""
        pairs = [part.rpartition(":") for part in str(text).split("\t")[1:]]
        self.tracing.losses({name.replace("-", "_"): float(value) for name, _, value in pairs}, _getframe(1))

    def trees(self, model: Any) -> bytes:
        return bytes(model.save_raw())

    def _report(self, container: Any, scores: Any, *args: Any, **kwargs: Any) -> None:
        """Scores by labels as `validation_0-logloss`; in a cross-validation their mean over the folds and deviation."""
        for label, value, *deviation in scores:
            name = label.replace("-", "_")
            if deviation:
                self.managed.report({name + "_mean": value, name + "_std": deviation[0]})
            else:
                self.managed.report({name: value})


def _is_inner(caller: FrameType) -> bool:
    """Whether `boost` is called by `update`, which has an objective of the script."""
    return caller.f_code.co_name == "update" and caller.f_globals.get("__name__") == "xgboost.core"


XGBOOST_THREADS = ("nthread", "n_jobs")


class CatBoost(Boosting):
    """CatBoost trains in C++ without a call in between; history and trees are read when the training is over."""

    framework = "catboost"
    trains_whole = True

    def patch_core(self, module: Any) -> None:
        self.context.observe(
            module.CatBoost,
            "_prepare_train_params",
            after=lambda result, *args, **kwargs: self._set_seed(result["params"], "catboost.random_seed"),
            where="catboost.random_seed",
        )
        if self.context.trace.requested_level:
            self.context.observe(module.CatBoost, "_fit", before=self._see_data)
        self.context.observe(module._CatBoostBase, "_train", after=self._report, where="history of catboost")
        self.divide(module.CatBoost, "_tune_hyperparams", "catboost.partition_random_seed", 6, "partition_random_seed")
        self.context.observe(module, "_cv", before=self._prepare_folds, after=self._report_folds, where="catboost.cv")
        self.divide(module, "_cv", "catboost.partition_random_seed", 4, "partition_random_seed")
        self.watch(module, "CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker")

    def _prepare_folds(self, params: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        self._set_seed(params, "catboost.cv.random_seed")

    def _set_seed(self, params: dict[str, Any], call: str) -> None:
        """Replace the seed in parameters that CatBoost has copied from the script's."""
        self.begin_training()
        seed = params.get(CATBOOST_SEED)
        self.record([(CATBOOST_SEED, seed)] if seed is not None else (), call)
        if self.streams.is_active:
            self.replace_seeds(params, (CATBOOST_SEED,))
            self.streams.tell_drawn(self.framework, OTHER)
        self.hold_threads(params, ("thread_count",))
        if "threads" in self.context.controls and params.get("thread_count") is None:  # it reads no variable
            params["thread_count"] = int(self.context.controls["threads"])
            self.control("threads", "thread_count", params["thread_count"], "set")
        if str(params.get("task_type")) == "GPU" and self.context.controls.get("kernels") == "deterministic":
            place = self.context.project.nearest(_getframe(1))
            self.recorder.event("uncontrolled", "catboost on a GPU adds in no fixed order", *place)

    def _see_data(self, model: Any, data: Any = None, target: Any = None, *args: Any, **kwargs: Any) -> None:
        self.tracing.data(data_parts(data, target), _getframe(1))

    def _report(
        self, result: Any, model: Any, train_pool: Any, test_pool: Any, params: Any, *args: Any, **kwargs: Any
    ) -> None:
        self.see_model(model)
        history = {
            "%s_%s" % (data, metric): values
            for data, metrics in model.get_evals_result().items()
            for metric, values in metrics.items()
        }
        period = int(params.get("metric_period") or 1)
        iterations = (
            self._trace_iterations(model, history, period, _getframe(1)) if self.tracing.is_active else iter(())
        )
        self.replay(model, history, lambda: next(iterations, None))
        for _ in iterations:
            pass

    def _trace_iterations(
        self, model: Any, history: Mapping[str, Any], period: int, frame: FrameType
    ) -> Iterator[None]:
        """Trace the iterations of a model up to each of its evaluations: of every `period`-th iteration and the last.

        Trees after the best iteration are not in the model, so that the last iterations may have losses alone.
        Source: CatBoost documentation, `get_tree_leaf_counts`, `get_leaf_values`.
        """
        values, counts = model.get_leaf_values(), model.get_tree_leaf_counts()
        n_columns = len(values) // max(1, sum(counts))
        n_evaluations = max(map(len, history.values()), default=0)
        evaluations = {number * period: number for number in range(n_evaluations)}
        if n_evaluations > 1:
            del evaluations[(n_evaluations - 1) * period]
            last = (n_evaluations - 2) * period + 1
            evaluations[min(last + period - 1, max(last, len(counts) - 1))] = n_evaluations - 1
        first = 0
        for number in range(max([len(counts), *(at + 1 for at in evaluations)])):
            self.tracing.iteration(frame)
            n_values = n_columns * (counts[number] if number < len(counts) else 0)
            self.tracing.update(values[first : first + n_values].tobytes, frame)
            first += n_values
            at = evaluations.get(number)
            if at is not None:
                self.tracing.losses({name: each[at] for name, each in history.items() if at < len(each)}, frame)
            self.tracing.end_iteration()
            if at is not None:
                yield

    def trees(self, model: Any) -> bytes:
        """The values of the leaves; what CatBoost writes to a file has the time in it."""
        return bytes(model.get_leaf_values().tobytes())

    def _report_folds(self, result: Any, *args: Any, **kwargs: Any) -> None:
        """Means and deviations over the folds, by the names of the columns of the result."""
        table = result[0] if isinstance(result, tuple) else result
        columns = {str(name).replace("-", "_"): table[name] for name in table if name != "iterations"}
        self.replay(self, columns)


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, keyword: str) -> Any:
    return args[place] if len(args) > place else kwargs.get(keyword)


def _with_argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], place: int, keyword: str, value: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if len(args) > place:
        return (*args[:place], value, *args[place + 1 :]), kwargs
    return args, dict(kwargs, **{keyword: value})


def _is_on(value: Any) -> bool:
    """Whether a parameter of LightGBM is true, as a value or as text."""
    return value is True or str(value).lower() in ("true", "+", "1")


PARTS: dict[str, Callable[[Any, AdapterContext], None]] = {
    "lightgbm.basic": lambda module, context: context.part(LightGBM).patch_basic(module),
    "lightgbm.engine": lambda module, context: context.part(LightGBM).patch_engine(module),
    "lightgbm.sklearn": lambda module, context: context.part(LightGBM).watch(module, "LGBMModel", "LGBMClassifier"),
    "xgboost.core": lambda module, context: context.part(XGBoost).patch_core(module),
    "xgboost.training": lambda module, context: context.part(XGBoost).patch_training(module),
    "xgboost.callback": lambda module, context: context.part(XGBoost).patch_callbacks(module),
    "xgboost.sklearn": lambda module, context: context.part(XGBoost).watch(module, "XGBModel", "XGBClassifier"),
    "catboost.core": lambda module, context: context.part(CatBoost).patch_core(module),
}
"""What patches the modules of the libraries."""
MODULES = ("lightgbm", "xgboost", "catboost", *PARTS)
