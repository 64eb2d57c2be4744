from collections.abc import Callable

import pytest

from deviate.model import Analysis

Analyse = Callable[[str], Analysis]


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
        ('loss="mse", metrics=kinds', "x, y, epochs=3", ["loss", "acc"]),
    ],
)
def test_the_history_is_predicted_from_compile_and_validation_data(
    analyse: Analyse, compiled: str, fitted: str, keys: list[str]
) -> None:
    analysis = analyse(f"import keras\nkinds = ['acc']\nmodel.compile({compiled})\nhistory = model.fit({fitted})\n")
    assert [metric.expression for metric in analysis.metrics] == keys
    assert {(metric.sink, metric.site, metric.line) for metric in analysis.metrics} == {("history", None, 4)}
    assert analysis.main_loop is not None
    assert (analysis.main_loop.kind, analysis.main_loop.line, analysis.main_loop.variable) == ("managed", 4, None)


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


def test_fit_of_another_library_is_no_managed_loop(analyse: Analyse) -> None:
    assert analyse("from sklearn.svm import SVC\nmodel = SVC()\nmodel.fit(x, y)\n").main_loop is None
