import ast
import re
from collections.abc import Callable
from pathlib import Path

import deviate
from deviate.model.analysis import Analysis
from deviate.sources.seeds import MAKERS, SEEDERS, _says_that_it_seeds

Analyse = Callable[[str], Analysis]


def _listed(analysis: Analysis) -> list[tuple[str, str, int]]:
    return [(seed.call, seed.argument, seed.line) for seed in analysis.seeds]


def test_seeding_calls_are_found_through_aliases_of_imports(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import random, torch as t, numpy as np, tensorflow as tf
        from numpy.random import default_rng
        from jax import random as jr
        random.seed(1)
        np.random.seed(args.seed)
        rng = default_rng(3)
        free = default_rng()
        t.manual_seed(seed=4)
        tf.random.set_seed(5)
        key = jr.PRNGKey(6)
        player.seed(7)
        """
    )
    assert [(seed.call, seed.argument, seed.line) for seed in analysis.seeds] == [
        ("random.seed", "1", 5),
        ("numpy.random.seed", "args.seed", 6),
        ("numpy.random.default_rng", "3", 7),
        ("torch.manual_seed", "4", 9),
        ("tensorflow.random.set_seed", "5", 10),
        ("jax.random.PRNGKey", "6", 11),
        ("player.seed", "7", 12),
    ]


def test_a_call_that_says_that_it_seeds_is_listed_whatever_its_library_is_called(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import autograd.numpy as anp, unheard_of
        from flax import nnx
        from lightning.fabric import Fabric
        from numpy.random import Generator, PCG64
        fabric = Fabric()
        fabric.seed_everything(1)
        rngs = nnx.Rngs(0)
        anp.random.seed(2)
        unheard_of.set_global_seed(3)
        rng = Generator(PCG64(4))
        env.action_space.seed(5)
        unheard_of.get_seed(6)
        """
    )
    assert _listed(analysis) == [
        ("lightning.fabric.Fabric().seed_everything", "1", 7),
        ("flax.nnx.Rngs", "0", 8),
        ("autograd.numpy.random.seed", "2", 9),
        ("unheard_of.set_global_seed", "3", 10),
        ("numpy.random.PCG64", "4", 11),
        ("env.action_space.seed", "5", 12),
    ]


def test_arguments_that_are_seeds_are_listed(analyse: Analyse) -> None:
    analysis = analyse(
        """
        from sklearn.linear_model import SGDClassifier
        from scipy import stats
        import gymnasium
        env = gymnasium.make("CartPole-v1")
        env.reset(seed=3)
        model = SGDClassifier(alpha=1, random_state=0)
        stats.norm.rvs(random_state=1)
        lgb.LGBMClassifier(bagging_seed=4, feature_fraction_seed=None)
        free = SGDClassifier(random_state=None)
        settings = dict(seed=5)
        parser.set_defaults(seed=6)
        """
    )
    assert [(seed.argument, seed.line) for seed in analysis.seeds] == [
        ("seed=3", 6),
        ("random_state=0", 7),
        ("random_state=1", 8),
        ("bagging_seed=4", 9),
    ]


def test_seeds_among_the_parameters_of_boosting_are_listed(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import lightgbm as lgb
        params = {"seed": 3, "bagging_seed": args.seed, "verbose": -1}
        model = lgb.train(params, data)
        other = lgb.cv({"data_random_seed": 4}, data)
        """
    )
    assert _listed(analysis) == [
        ("lightgbm.train", "seed=3, bagging_seed=args.seed", 4),
        ("lightgbm.cv", "data_random_seed=4", 5),
    ]


def test_parameters_of_boosting_that_are_changed_or_elsewhere_are_left_to_the_run(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import lightgbm as lgb
        from xgboost import XGBClassifier
        params = dict(objective="binary", seed=3)
        lgb.train(params, data)
        options = {"random_state": 6}
        XGBClassifier(**options)
        changed = {}
        changed["seed"] = 4
        lgb.train(changed, data)
        updated = {"objective": "binary"}
        updated.update(seed=5)
        lgb.train(updated, data)
        lgb.train({**given}, data)
        """
    )
    assert _listed(analysis) == [("lightgbm.train", "seed=3", 5), ("xgboost.XGBClassifier", "random_state=6", 7)]


def test_of_functions_of_the_project_the_calls_in_them_are_listed(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import random
        class Config:
            def __init__(self, seed): self.seed = seed
        def set_seed(seed):
            random.seed(seed)
        config = Config(seed=3)
        set_seed(config.seed)
        """
    )
    assert _listed(analysis) == [("random.seed", "seed", 6)]


def test_every_call_that_the_guest_replaces_is_one_that_is_listed() -> None:
    """The names under which the guest records seeds, as they stand in its text."""
    names = set()
    for path in (Path(deviate.__file__).parent / "guest").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                callee = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                texts = [it.value for it in node.args if isinstance(it, ast.Constant)]
                is_input = ast.unparse(node.func).endswith("inputs.record")
                if callee in {"record", "override"} and not is_input:
                    names.update(text for text in texts if isinstance(text, str) and re.fullmatch(r"[\w.]+\.\w+", text))
    assert len(names) > 10
    for name in names:
        last = name.rpartition(".")[2]
        is_listed = name in SEEDERS or last in MAKERS or _says_that_it_seeds(last)
        assert is_listed or last == "random_state", name
