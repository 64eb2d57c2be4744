"""A small convolutional network on handwritten digits, trained until its epochs are over and tested at the end.

The 17 grey levels of a pixel are either scaled to a number (`--input scale`) or looked up in a table of learned vectors
(`--input lookup`). The gradient of the table adds up one row per pixel: with two threads, or on a GPU, in no fixed
order. So a lookup makes runs with equal seeds differ on a CPU too, and scaling does not.
"""

import argparse
import time

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LEVELS = 17


class Net(nn.Module):
    def __init__(self, source, channels, width):
        super().__init__()
        self.levels = nn.Parameter(torch.randn(LEVELS, channels) * 0.3) if source == "lookup" else None
        self.conv1 = nn.Conv2d(channels if source == "lookup" else 1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.fc1 = nn.Linear(2 * width * 16, 4 * width)
        self.dropout = nn.Dropout(0.2)
        self.fc2 = nn.Linear(4 * width, 10)

    def forward(self, pixels):
        x = pixels.unsqueeze(1) / 16.0 if self.levels is None else self.levels[pixels].permute(0, 3, 1, 2)
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        return self.fc2(self.dropout(F.relu(self.fc1(x.flatten(1)))))


def train_epoch(model, loader, optimizer, device):
    model.train()
    for pixels, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(pixels.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    correct = sum((model(pixels.to(device)).argmax(1) == labels.to(device)).sum().item() for pixels, labels in loader)
    return 100.0 * correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input", choices=["scale", "lookup"], default="lookup")
    parser.add_argument("--channels", type=int, default=16, help="length of the vector of a grey level")
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    digits, targets = load_digits(return_X_y=True)
    x_train, x_rest, y_train, y_rest = train_test_split(digits, targets, train_size=0.4, random_state=42)
    x_val, x_test, y_val, y_test = train_test_split(x_rest, y_rest, train_size=0.25, random_state=42)

    def dataset(pixels, labels):
        return TensorDataset(torch.tensor(pixels, dtype=torch.long).reshape(-1, 8, 8), torch.tensor(labels))

    train_loader = DataLoader(dataset(x_train, y_train), args.batch_size, shuffle=True)
    val_loader = DataLoader(dataset(x_val, y_val), batch_size=256)
    test_loader = DataLoader(dataset(x_test, y_test), batch_size=256)

    model = Net(args.input, args.channels, args.width).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        start = time.time()
        loss = train_epoch(model, train_loader, optimizer, device)
        val_accuracy = accuracy(model, val_loader, device)
        print(f"epoch {epoch + 1}: loss {loss:.4f}, val accuracy {val_accuracy:.2f}%, time {time.time() - start:.2f}s")
    print(f"test accuracy {accuracy(model, test_loader, device):.2f}%")


if __name__ == "__main__":
    main()
