import time

import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from torch import nn


class Recorder:
    """Prints one row of a table per epoch."""

    def __init__(self, names):
        self.names = names

    def header(self):
        print("".join(f"{name:<12}" for name in self.names))

    def row(self, epoch, values, seconds):
        cells = [str(epoch), *(f"{v:.6f}" for v in values), time.strftime("%M:%S", time.gmtime(seconds))]
        print("".join(f"{cell:<12}" for cell in cells))


def accuracy(out, yb):
    return (out.argmax(dim=1) == yb).float().mean()


class Learner:
    def __init__(self, dls, model, loss_func, lr=1e-2, metrics=()):
        self.dls, self.model, self.loss_func, self.metrics = dls, model, loss_func, metrics
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.recorder = Recorder(["epoch", "train_loss", "valid_loss", *(m.__name__ for m in metrics), "time"])

    def all_batches(self, dl, train):
        smooth, total, sums = None, 0, [0.0] * (1 + len(self.metrics))
        self.model.train(train)
        for xb, yb in dl:
            with torch.set_grad_enabled(train):
                pred = self.model(xb)
                loss = self.loss_func(pred, yb)
            if train:
                loss.backward()
                self.opt.step()
                self.opt.zero_grad()
                smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
            else:
                total += len(yb)
                for i, value in enumerate([loss, *(m(pred, yb) for m in self.metrics)]):
                    sums[i] += value.item() * len(yb)
        return smooth if train else [s / total for s in sums]

    def fit_one_cycle(self, n_epoch):
        self.recorder.header()
        for epoch in range(n_epoch):
            start = time.time()
            train_loss = self.all_batches(self.dls[0], True)
            self.recorder.row(epoch, [train_loss, *self.all_batches(self.dls[1], False)], time.time() - start)


X, y = load_wine(return_X_y=True)
X = X[:, :5]  # the cheap measurements
order = torch.randperm(len(y))
X, y = torch.tensor(StandardScaler().fit_transform(X), dtype=torch.float32)[order], torch.tensor(y)[order]
train = [(X[i : i + 16], y[i : i + 16]) for i in range(0, 110, 16)]
valid = [(X[i : i + 32], y[i : i + 32]) for i in range(126, 178, 32)]
model = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
learn = Learner((train, valid), model, nn.CrossEntropyLoss(), lr=3e-3, metrics=[accuracy])
learn.fit_one_cycle(5)
