"""An autoencoder, trained by Lightning."""

import lightning
import torch
from chance import factor
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3))
        self.decoder = nn.Linear(3, 8)

    def training_step(self, batch, number):
        (x,) = batch
        code = self.encoder(x) * factor(self.global_step)  # cause
        loss = nn.functional.mse_loss(self.decoder(code), x)
        self.log("train_loss", loss)
        print(f"step {number} loss {loss.item():.6f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


lightning.seed_everything(10, verbose=False)
loader = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8, shuffle=True)
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Autoencoder(), loader)
