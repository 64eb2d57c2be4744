"""Traces the iterations within `fit` of estimators whose training is a loop in Python.

They are seen in methods that scikit-learn keeps to itself, as it calls no public one in every iteration. Where a
version has other methods, the call of `fit` is one step. All have these names in versions 1.3 to 1.9.

- `MLPClassifier`, `MLPRegressor` with the solvers `sgd` and `adam`: a batch, in `_backprop` and `update_params`.
- `GradientBoosting*`: a stage, in `_fit_stage`. `AdaBoost*`: an estimator, in `_boost`.
- `HistGradientBoosting*`: a tree, in `TreeGrower`.

Estimators in other threads and processes have no steps, because their order is not the same in two runs.
"""

from __future__ import annotations

import weakref
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from .trace import SklearnTrace

NETWORKS = "sklearn.neural_network._multilayer_perceptron"
OPTIMIZERS = "sklearn.neural_network._stochastic_optimizers"
STAGES = "sklearn.ensemble._gb"
WEIGHTED = "sklearn.ensemble._weight_boosting"


class Iterations:
    """Reports iterations to the trace of the call that they are in."""

    def __init__(self, context: AdapterContext, tracing: SklearnTrace) -> None:
        self.context = context
        self.tracing = tracing
        self.network: Callable[[], Any] = lambda: None
        self.n_scores = 0

    def patch(self, module: Any) -> None:
        observe = self.context.observe
        if module.__name__ == NETWORKS:
            network = module.BaseMultilayerPerceptron
            observe(network, "_fit_stochastic", before=self._begin_network, after=self._end_network)
            observe(network, "_backprop", before=self._begin_batch, after=self._end_pass)
        elif module.__name__ == OPTIMIZERS:
            observe(module.BaseOptimizer, "update_params", before=self._see_gradients, after=self._end_batch)
        elif module.__name__ == STAGES:
            observe(module.BaseGradientBoosting, "_fit_stage", before=self._begin_stage, after=self._end_stage)
        elif module.__name__ == WEIGHTED:
            for owner in (module.AdaBoostClassifier, module.AdaBoostRegressor):
                observe(owner, "_boost", before=self._begin_boost, after=self._end_boost)
        else:
            observe(module.TreeGrower, "__init__", before=self._begin_tree)
            observe(module.TreeGrower, "make_predictor", after=self._end_tree)

    # ------------------------------------------------------------ networks

    def _begin_network(self, network: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            self.network = weakref.ref(network)

    def _end_network(self, *args: Any, **kwargs: Any) -> None:
        self.network = lambda: None

    def _is_training(self, network: Any) -> bool:
        """Whether this network trains in batches; the solver `lbfgs` computes gradients without an update."""
        return network is not None and self.network() is network and self.tracing.is_iterating()

    def _begin_batch(self, network: Any, *args: Any, **kwargs: Any) -> None:
        if self._is_training(network):
            self.tracing.iteration(getattr(network, "_random_state", None))
            parts = _argument(args, kwargs, 0, "X"), _argument(args, kwargs, 1, "y")
            self.tracing.batch(zip(("input", "target"), parts))

    def _end_pass(self, result: Any, network: Any, *args: Any, **kwargs: Any) -> None:
        if self._is_training(network):
            self.tracing.loss(float(result[0]))

    def _see_gradients(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        network = self.network()
        if self._is_training(network):
            self.tracing.gradients(_named(network, _argument(args, kwargs, 1, "grads")))

    def _end_batch(self, result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        network = self.network()
        if self._is_training(network):
            self.tracing.update(_named(network, _argument(args, kwargs, 0, "params")))

    # ------------------------------------------------------------ ensembles

    def _begin_stage(self, ensemble: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            self.tracing.iteration(_argument(args, kwargs, 6, "random_state"))

    def _end_stage(self, result: Any, ensemble: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            number = _argument(args, kwargs, 0, "i")
            trees = list(ensemble.estimators_[number])
            self.tracing.update(self._arrays(ensemble, trees), lambda: [float(ensemble.train_score_[number])])

    def _begin_boost(self, ensemble: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            self.tracing.iteration(_argument(args, kwargs, 4, "random_state"))
            self.tracing.batch([("weight", _argument(args, kwargs, 3, "sample_weight"))])

    def _end_boost(self, result: Any, ensemble: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            error = result[2]
            arrays = [*self._arrays(ensemble, ensemble.estimators_[-1:])]
            self.tracing.update(arrays, lambda: [] if error is None else [float(error)])

    def _arrays(self, ensemble: Any, members: Any) -> Iterator[tuple[str, Any]]:
        """Arrays of what an iteration has added to an ensemble."""
        return self.tracing.arrays_of("%s.estimators_" % type(ensemble).__name__, members, 1)

    # ------------------------------------------------------------ histograms

    def _begin_tree(self, grower: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            if not self.tracing.n_iterations:
                self.n_scores = 0
            self.tracing.iteration()
            arrays = _argument(args, kwargs, 1, "gradients"), _argument(args, kwargs, 2, "hessians")
            self.tracing.gradients(zip(("gradient", "hessian"), arrays))

    def _end_tree(self, predictor: Any, *args: Any, **kwargs: Any) -> None:
        if self.tracing.is_iterating():
            ensemble = _getframe(2).f_locals.get("self")
            arrays = self.tracing.arrays_of("%s.tree.nodes" % type(ensemble).__name__, predictor.nodes, 4)
            self.tracing.update(arrays, lambda: self._new_scores(ensemble))

    def _new_scores(self, ensemble: Any) -> list[float]:
        """Scores of the iterations since the last tree; they are computed only for early stopping."""
        scores = list(getattr(ensemble, "train_score_", ()))
        new = scores[self.n_scores :]
        self.n_scores = len(scores)
        return [float(score) for score in new]


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, keyword: str) -> Any:
    return args[place] if len(args) > place else kwargs.get(keyword)


def _named(network: Any, arrays: Any) -> Iterator[tuple[str, Any]]:
    """Weights of a network, or what belongs to them: those of the layers, then their intercepts."""
    n_layers = len(arrays) // 2
    for number, array in enumerate(arrays):
        kind = "coefs_" if number < n_layers else "intercepts_"
        yield "%s.%s.%d" % (type(network).__name__, kind, number % n_layers), array
