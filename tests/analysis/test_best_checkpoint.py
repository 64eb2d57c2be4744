from collections.abc import Callable

import pytest

from deviate.model import Analysis

Analyse = Callable[[str], Analysis]

LOOP = """
best_loss = 1e9
for epoch in range(9):
    loss.backward()
    val_loss, val_acc = evaluate(model, data)
    print(f"{epoch} val_loss {val_loss:.4f} val_acc {val_acc:.4f}")
"""


@pytest.mark.parametrize(
    ("text", "kept_by"),
    [
        (
            LOOP + "    if val_loss < best_loss:\n        best_loss = val_loss\n        torch.save(model, 'a')\n",
            "val_loss",
        ),
        (
            LOOP + "    is_best = best_loss > val_loss.item()\n    if is_best:\n        save_checkpoint(model)\n",
            "val_loss",
        ),
        (LOOP + "    if val_loss < best_loss:\n        best_loss = val_loss\n", None),
        (
            "import wandb\nmost = 0\nfor epoch in range(9):\n    train_step().backward()\n    out = test()\n"
            "    if out['acc'] > most['acc']:\n        save_checkpoint(model)\n    wandb.log(out)\n".replace(
                "most", "best"
            ),
            "out_acc",
        ),
        (LOOP + "    if val_loss < threshold:\n        torch.save(model, 'a')\n", None),
        (LOOP + "    torch.save(model, 'a')\n", None),
        (
            "from lightning.pytorch.callbacks import ModelCheckpoint\nModelCheckpoint(monitor='val_acc')\n" + LOOP,
            "val_acc",
        ),
        ("import keras\nkeras.callbacks.ModelCheckpoint('a', save_best_only=True)\n" + LOOP, "val_loss"),
        ("import keras\nkeras.callbacks.ModelCheckpoint('a', monitor='val_acc')\n" + LOOP, None),
        ("import keras\nkeras.callbacks.EarlyStopping('val_acc', restore_best_weights=True)\n" + LOOP, "val_acc"),
        (
            "from transformers import TrainingArguments\n"
            "TrainingArguments('a', load_best_model_at_end=True, metric_for_best_model='val_acc')\n" + LOOP,
            "val_acc",
        ),
    ],
)
def test_the_metric_of_the_best_checkpoint_is_the_one_that_decides_what_is_kept(
    analyse: Analyse, text: str, kept_by: str | None
) -> None:
    assert analyse(text).kept_by == kept_by
