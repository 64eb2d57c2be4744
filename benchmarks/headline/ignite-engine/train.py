"""Digits with an engine that fires events, as in PyTorch-Ignite."""
from collections import defaultdict

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


class Events:
    STARTED, EPOCH_COMPLETED, ITERATION_COMPLETED, COMPLETED = range(4)


class State:
    def __init__(self):
        self.epoch, self.iteration, self.output, self.metrics = 0, 0, None, {}


class Engine:
    def __init__(self, process):
        self.process, self.handlers, self.state = process, defaultdict(list), State()

    def on(self, event, every=1):
        def decorate(handler):
            self.handlers[event].append((every, handler))
            return handler

        return decorate

    def fire(self, event, count=1):
        for every, handler in self.handlers[event]:
            if count % every == 0:
                handler(self)

    def run(self, loader, max_epochs=1):
        self.state = State()
        self.fire(Events.STARTED)
        for _ in range(max_epochs):
            self.state.epoch += 1
            for batch in loader:
                self.state.iteration += 1
                self.state.output = self.process(self, batch)
                self.fire(Events.ITERATION_COMPLETED, self.state.iteration)
            self.fire(Events.EPOCH_COMPLETED, self.state.epoch)
        self.fire(Events.COMPLETED)
        return self.state


def supervised_evaluator(model):
    totals = {}

    def step(engine, batch):
        x, y = batch
        with torch.no_grad():
            out = model(x)
        totals["n"] += len(y)
        totals["correct"] += (out.argmax(1) == y).sum().item()
        totals["nll"] += F.cross_entropy(out, y, reduction="sum").item()

    evaluator = Engine(step)

    @evaluator.on(Events.STARTED)
    def reset(engine):
        totals.update(n=0, correct=0, nll=0.0)

    @evaluator.on(Events.COMPLETED)
    def compute(engine):
        engine.state.metrics = {"accuracy": totals["correct"] / totals["n"], "nll": totals["nll"] / totals["n"]}

    return evaluator


X, y = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y))
train_set, val_set = random_split(data, [1400, 397])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
val_loader = DataLoader(val_set, batch_size=128)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def update(engine, batch):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()
    return loss.item()


trainer = Engine(update)
evaluator = supervised_evaluator(model)


@trainer.on(Events.ITERATION_COMPLETED, every=10)
def log_training_loss(engine):
    print(f"Epoch[{engine.state.epoch}] Iteration[{engine.state.iteration}/{len(train_loader)}] Loss: {engine.state.output:.2f}")


@trainer.on(Events.EPOCH_COMPLETED)
def log_training_results(engine):
    metrics = evaluator.run(train_loader).metrics
    print(
        f"Training Results - Epoch: {engine.state.epoch} Avg accuracy: {metrics['accuracy']:.4f} Avg loss: {metrics['nll']:.4f}"
    )


@trainer.on(Events.EPOCH_COMPLETED)
def log_validation_results(engine):
    metrics = evaluator.run(val_loader).metrics
    print(
        f"Validation Results - Epoch: {engine.state.epoch} Avg accuracy: {metrics['accuracy']:.4f} Avg loss: {metrics['nll']:.4f}"
    )


trainer.run(train_loader, max_epochs=4)
