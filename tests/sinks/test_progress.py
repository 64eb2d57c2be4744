from collections.abc import Callable

import numpy as np


def test_keras_shows_pairs(report: Callable[..., object]) -> None:
    pairs = [("loss", np.float32(0.5))]
    assert report("keras.utils.Progbar().update", 3, pairs) == [("Record", pairs, None)]
    assert report("tensorflow.keras.utils.Progbar().add", 1, values=pairs) == [("Record", pairs, None)]
    assert report("?progbar.update", 3) == []


def test_rich_shows_its_description_and_fields(report: Callable[..., object]) -> None:
    shown = report("rich.progress.Progress().update", 0, advance=1, description="epoch 1", loss=0.5)
    assert shown == [("Message", "epoch 1"), ("Scalar", "loss", 0.5, None)]
    assert report("?progress.update", 0, advance=1) == []


def test_progressbar2_shows_keywords(report: Callable[..., object]) -> None:
    assert report("progressbar.ProgressBar().update", 3, loss=0.5) == [("Scalar", "loss", 0.5, None)]
    assert report("progressbar.ProgressBar().update", 3) == []
