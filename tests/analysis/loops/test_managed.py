import textwrap
from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]


MAKING = """\
import keras
kinds = ['acc']
def choose():
    metrics = ["mae"]
    return "mse", metrics
def made():
    return [keras.metrics.AUC(name="auc")]
_, chosen = choose()
"""


@pytest.mark.parametrize(
    ("compiled", "fitted", "keys"),
    [
        ('loss="mse"', "x, y, epochs=3", ["loss"]),
        ('loss="mse", metrics=["accuracy"]', "x, y, epochs=3", ["loss", "accuracy"]),
        ('loss="mse", metrics=["mae"]', "x, y, validation_split=0.1", ["loss", "mae", "val_loss", "val_mae"]),
        ('loss="mse", metrics=["mae"]', "x, y, epochs=3, validation_data=None", ["loss", "mae"]),
        ('loss="mse", metrics=[keras.metrics.AUC(name="area")]', "x, y, epochs=3", ["loss", "area"]),
        (
            'loss="mse", metrics=[keras.metrics.SparseCategoricalAccuracy()]',
            "x, y",
            ["loss", "sparse_categorical_accuracy"],
        ),
        ('loss="mse", metrics=choose()[1]', "x, y, epochs=3", ["loss"]),
    ],
)
def test_the_history_is_predicted_from_compile_and_validation_data(
    analyse: Analyse, compiled: str, fitted: str, keys: list[str]
) -> None:
    analysis = analyse(f"{MAKING}model.compile({compiled})\nhistory = model.fit({fitted})\n")
    assert [metric.expression for metric in analysis.metrics] == keys
    assert {(metric.sink, metric.site, metric.line) for metric in analysis.metrics} == {("history", None, 10)}
    assert analysis.main_loop is not None
    assert (analysis.main_loop.kind, analysis.main_loop.line, analysis.main_loop.variable) == ("managed", 10, None)


@pytest.mark.parametrize(
    ("made", "keys"),
    [
        ("PPO('MlpPolicy', env, verbose=0)", set()),
        ("PPO('MlpPolicy', env)", set()),
    ],
)
def test_the_logger_of_stable_baselines_is_predicted_from_the_algorithm(
    analyse: Analyse, made: str, keys: set[str]
) -> None:
    analysis = analyse(
        f"""
        from stable_baselines3 import DQN, PPO, SAC
        KINDS = {{"dqn": DQN, "sac": SAC}}
        name = "sac"
        model = {made}
        model.learn(10000)
        """
    )
    found = {metric.expression for metric in analysis.metrics}
    assert keys <= found
    assert bool(found) == bool(keys)
    assert ("train/approx_kl" in found) == ("train/approx_kl" in keys)


def test_values_printed_after_fit_are_final_results(analyse: Analyse) -> None:
    analysis = analyse(
        """
        from tensorflow import keras
        print("shape", x.shape)
        model.compile("adam", "mse", metrics=["accuracy"])
        model.fit(x, y, epochs=2)
        score = model.evaluate(x_test, y_test)
        print("Test loss:", score[0])
        """
    )
    assert [(metric.name, metric.sink) for metric in analysis.metrics][-1] == ("test_loss", "print")


def test_fit_of_a_library_counts_only_where_nothing_else_trains(analyse: Analyse) -> None:
    fitted = "from sklearn.svm import SVC\nmodel = SVC()\nmodel.fit(x, y)\n"
    found = analyse(fitted + "print('accuracy', model.score(x, y))\n")
    assert found.main_loop is not None
    assert (found.main_loop.kind, found.main_loop.line) == ("managed", 3)
    assert [metric.sink for metric in found.metrics] == ["print"]
    both = analyse(fitted + "for epoch in range(3):\n    loss.backward()\n")
    assert both.main_loop is not None
    assert both.main_loop.line == 4
    assert analyse(fitted.replace("svm", "preprocessing").replace("SVC", "StandardScaler")).main_loop is None


@pytest.mark.parametrize(
    "text",
    [
        "from transformers import Trainer\ntrainer = Trainer(model)\ntrainer.train()\n",
        "from trl import SFTTrainer as T\ntrainer = T(model)\ntrainer.train(resume)\n",
        "import transformers\nclass Mine(transformers.Seq2SeqTrainer): pass\nMine(model).train()\n",
        "from transformers import Trainer\nfrom elsewhere import build\nself_trainer = build(); self_trainer.train()\n",
        "import pytorch_lightning as pl\ntrainer = pl.Trainer.from_argparse_args(args)\ntrainer.fit(model, data)\n",
        "from lightning import Trainer\n\nTrainer(max_epochs=3).fit(model)\n",
        "import hydra, lightning as L\ntrainer: L.Trainer = hydra.utils.instantiate(c)\ntrainer.fit(model)\n",
        "\nfrom lightning.pytorch.cli import LightningCLI\nLightningCLI(Model, Data)\n",
        "import tensorflow as tf\nestimator = tf.estimator.Estimator(f)\nestimator.train(data, steps=3)\n",
        "\nimport tensorflow as tf\ntf.estimator.train_and_evaluate(e, a, b)\n",
        "from fastai.vision.all import *\nlearn = vision_learner(data, resnet18)\nlearn.fine_tune(3)\n",
        "from ignite.engine import Engine\ntrainer = Engine(step)\ntrainer.run(loader, max_epochs=3)\n",
        "from stable_baselines3 import PPO\nmodel = PPO('MlpPolicy', env)\nmodel.learn(10000)\n",
        "import lightgbm as lgb\n\nbooster = lgb.train(params, data)\n",
    ],
)
def test_training_that_a_framework_drives_is_found(analyse: Analyse, text: str) -> None:
    found = analyse(text).main_loop
    assert found is not None
    assert (found.kind, found.line) == ("managed", 3)
    assert found.evidence[0].startswith("trains: driven by ")


@pytest.mark.parametrize(
    "text",
    [
        "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x')\nmodel.train()\n",
        "import lightning\nfrom elsewhere import model\nmodel.fit(x)\n",
        "from ignite.engine import Engine\nevaluator = Engine(step)\nevaluator.run(loader)\n",
        "import keras\nfrom sklearn.preprocessing import OneHotEncoder\nOneHotEncoder().fit(x, batch_size=3)\n",
        "class Trainer:\n    def fit(self, epochs): pass\nimport keras; Trainer().fit(epochs=3)\n",
    ],
)
def test_what_only_looks_like_it_is_none(analyse: Analyse, text: str) -> None:
    assert analyse(text).main_loop is None


def test_repeats_around_a_managed_loop_keep_it_and_epochs_around_it_do_not(analyse: Analyse) -> None:
    text = "import keras\nfor {} in range(3):\n    model = keras.Sequential()\n    model.fit(x, y, epochs=1)\n"
    kinds = {name: analyse(text.format(name)).main_loop for name in ("seed", "k", "epoch")}
    assert {name: loop.line if loop else None for name, loop in kinds.items()} == {"seed": 4, "k": 4, "epoch": 2}


TRAINER = """
from transformers import Trainer, TrainingArguments
import evaluate
metric = evaluate.load("f1")
def compute(prediction):
    found = metric.compute(predictions=prediction)
    found["exact"] = 1.0
    return {{"accuracy": 0.5, **found}}
args = TrainingArguments("out"{settings})
trainer = Trainer(model, args, train_dataset=a{given})
trainer.train()
"""
TRAINED = ["loss", "grad_norm", "train_loss", "train_runtime", "train_samples_per_second", "train_steps_per_second"]
EVALUATED = ["eval_loss", "eval_runtime", "eval_samples_per_second", "eval_steps_per_second"]


@pytest.mark.parametrize(
    ("settings", "given", "more"),
    [
        ("", "", []),
        (', eval_strategy="epoch"', ", eval_dataset=b", EVALUATED),
    ],
)
def test_what_a_trainer_logs_is_predicted(analyse: Analyse, settings: str, given: str, more: list[str]) -> None:
    analysis = analyse(TRAINER.format(settings=settings, given=given))
    assert [metric.expression for metric in analysis.metrics] == [*TRAINED, *more]
    roles = {metric.name: (metric.role, metric.direction) for metric in analysis.metrics}
    assert roles["loss"] == ("quality", "min")
    assert roles["train_runtime"] == ("time", "min")
    assert roles["train_steps_per_second"] == ("time", "max")


def test_an_evaluation_of_its_own_makes_a_trainer_log_too(analyse: Analyse) -> None:
    analysis = analyse(TRAINER.format(settings="", given=", eval_dataset=b") + "trainer.evaluate()\n")
    assert [metric.expression for metric in analysis.metrics] == [*TRAINED, *EVALUATED]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (
            """
            def build():
                inner = keras.Sequential()
                inner.compile("adam", "mse", metrics=["mae"])
                return inner
            other = keras.Sequential()
            other.compile("adam", "mse", metrics=["accuracy"])
            net = build()
            net.fit(x, y)
            """,
            ["loss", "mae"],
        ),
        (
            """
            class Job:
                def __init__(self):
                    self.net = keras.Sequential()
                    self.net.compile("adam", "mse", metrics=["mae"])
                def run(self):
                    self.net.fit(x, y, validation_data=(x, y))
            Job().run()
            """,
            ["loss", "mae", "val_loss", "val_mae"],
        ),
        (
            """
            class Score(keras.metrics.Metric):
                def __init__(self, name="score", **more):
                    super().__init__(name=name, **more)
            def dice(y, p):
                return y
            model = keras.Sequential()
            model.compile("adam", "mse", metrics=[Score(), dice])
            model.fit(x, y)
            """,
            ["loss", "score", "dice"],
        ),
    ],
)
def test_the_history_follows_the_model_to_where_it_is_made(analyse: Analyse, text: str, keys: list[str]) -> None:
    analysis = analyse("import keras\n" + textwrap.dedent(text))
    assert [metric.expression for metric in analysis.metrics] == keys


def test_a_key_of_the_history_stays_beside_a_metric_of_its_name(analyse: Analyse) -> None:
    text = """
        import keras
        model.compile("adam", "mse")
        model.fit(x, y)
        print("loss", loss)
        model.fit(x, y)
        """
    found = {(metric.name, metric.expression, metric.sink) for metric in analyse(text).metrics}
    assert found == {("loss", "loss", "print"), ("loss_history", "loss", "history")}
