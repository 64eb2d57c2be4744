"""Lightning: what modules log is recorded by name, once an epoch, and so are the results of validate and test."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import logging, warnings
import torch
import {package} as L
from {package}.loggers import CSVLogger
warnings.filterwarnings("ignore")
logging.getLogger("{package}").setLevel(logging.ERROR)

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def loss(self, batch):
        return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
    def training_step(self, batch, index):
        loss = self.loss(batch)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        self.log("last_loss", loss)
        return loss
    def validation_step(self, batch, index):
        loss = self.loss(batch)
        self.log_dict({{"val_loss": loss, "val_error": loss > 0.5}}, on_step=True, on_epoch=True)
        self.log("monitored", loss, logger=False)
        print(f"{{loss:.4f}}")
    def test_step(self, batch, index, dataloader_idx=0):
        self.log("test_loss", self.loss(batch))
    def on_test_epoch_end(self):
        self.log("test_size", 16.0)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

torch.manual_seed(0)
x = torch.randn(16, 4)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long()), batch_size=4)
trainer = L.Trainer(
    max_epochs=4, check_val_every_n_epoch=2, log_every_n_steps=2, accelerator="cpu",
    logger=CSVLogger("logs", version=0),
    enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
)
model = Net()
trainer.fit(model, loader, loader)
print({{name: value.item() for name, value in trainer.callback_metrics.items()}})
print(trainer.validate(model, loader))
print(trainer.test(model, [loader, loader]))
"""


@pytest.fixture(params=["lightning.pytorch", "pytorch_lightning"])
def script(request: pytest.FixtureRequest, require) -> str:  # type: ignore[no-untyped-def]
    require("lightning")
    require("pytorch_lightning")
    return SCRIPT.format(package=request.param)


def table(result: Result) -> str:
    """What Lightning's own logger saved."""
    return (result.work / "logs" / "lightning_logs" / "version_0" / "metrics.csv").read_text()


def column(text: str, name: str) -> list[float]:
    return [float(row[name]) for row in csv.DictReader(text.splitlines()) if row[name]]


def test_what_a_module_logs_is_recorded_once_an_epoch(
    script: str, tmp_path: Path, plainly: Callable[[Child], Result]
) -> None:
    child = Child(tmp_path, script).loop("trainer.fit(model, loader, loader)", 40, "managed").tap("{«loss»:.4f}")
    on = child.run()
    assert (on.code, on.of("error")) == (0, []), on.stderr
    saved = table(on)
    named: dict[str, list] = {}
    for name, _, loops, _, value in on.of("named"):
        named.setdefault(name, []).append((loops, value))
    epochs = [[0, epoch] for epoch in range(4)]
    assert named.pop("train_loss") == list(zip(epochs, column(saved, "train_loss_epoch"), strict=True))
    assert named.pop("last_loss") == list(zip(epochs, column(saved, "last_loss")[1::2], strict=True))
    validated = [[0, 1], [0, 3], []]
    losses = column(saved, "val_loss_epoch")
    assert named.pop("val_loss") == named.pop("monitored") == list(zip(validated, losses, strict=True))
    assert named.pop("val_error") == list(zip(validated, column(saved, "val_error_epoch"), strict=True))
    for name in ("test_size", "test_loss/dataloader_idx_0", "test_loss/dataloader_idx_1"):
        assert named.pop(name) == [([], value) for value in column(saved, name)]
    assert named == {}
    # The two batches of the check before the training are in no epoch, as those of `validate` are.
    steps = [event[2] for event in on.of("value")]
    assert steps == [[]] * 2 + [[0, 1]] * 4 + [[0, 3]] * 4 + [[]] * 4
    off = plainly(child)
    assert (on.stdout, on.stderr, saved) == (off.stdout, off.stderr, table(off))
