"""Ratings from factors: users and items are rows of two tables, picked by index; a small network reads the product.

The gradient of a picked row is added up over the batch; with two threads or on a GPU in no fixed order, so two runs
with the same seeds differ in their last bits, and after some epochs in more.
"""

import argparse

import numpy as np
import torch
from torch import nn

USERS, ITEMS, RATINGS = 90, 60, 65536


def ratings():
    """Users, items and ratings of a made-up world, the same every time: no random number is drawn."""
    number = np.arange(RATINGS)
    user, item = number * 7919 % 104729 % USERS, number * 6101 % 1299709 % ITEMS
    taste = np.sin(0.7 * user) * np.cos(1.3 * item) + 0.5 * np.sin(0.2 * user * item)
    return user, item, (taste + 0.3 * np.sin(number * 12.9898)).astype(np.float32)


class Factors(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.users = nn.Parameter(torch.randn(USERS, size) * 0.3)
        self.items = nn.Parameter(torch.randn(ITEMS, size) * 0.3)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, user, item):
        return self.head(self.users[user] * self.items[item]).squeeze(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batches", type=int, default=2)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    user, item, rating = (torch.as_tensor(column, device=device) for column in ratings())
    is_test = torch.arange(RATINGS, device=device) % 4 == 0
    train, test = (~is_test).nonzero().squeeze(1), is_test.nonzero().squeeze(1)

    model = Factors(args.size).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        order = torch.randperm(len(train)).to(device)
        for batch in train[order].chunk(args.batches):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(user[batch], item[batch]), rating[batch])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            test_error = nn.functional.mse_loss(model(user[test], item[test]), rating[test]).sqrt().item()
        print(f"epoch {epoch}: train loss {loss.item():.8f}, test error {test_error:.8f}")


if __name__ == "__main__":
    main()
