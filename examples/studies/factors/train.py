"""A small or a medium convolutional network on made images of ten kinds of texture, with or without batch norm.

The small one has three convolutions with 16, 32 and 32 channels and two dense layers, the medium one six convolutions
with kernels of any size: both as in Zhuang et al. (2022), for smaller images. The images are computed from their
number, so that no data are downloaded and no random number is drawn for them.
"""

import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 10


def noise(shape, key):
    """Numbers in [-1, 1), the same on every machine: a hash of the position (SplitMix64)."""
    n = np.arange(np.prod(shape), dtype=np.uint64) + np.uint64(key << 40)
    n = n * np.uint64(0x9E3779B97F4A7C15)
    n = (n ^ (n >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    n = (n ^ (n >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((n ^ (n >> np.uint64(31))) >> np.uint64(11)).astype(np.float64).reshape(shape) / 2**52 - 1


def textures(count, size, key):
    """Waves across and down, a pair of frequencies for each class, at random places under noise; and the classes."""
    labels = np.arange(count) % CLASSES
    across, down = 1 + labels % 5, 1 + labels // 5 * 2
    at = np.arange(size) / size
    shift = noise((count, 2), 4 * key + 1)
    waves = np.cos(2 * np.pi * across[:, None] * at + np.pi * shift[:, :1])[:, None, :]
    waves = waves * np.cos(2 * np.pi * down[:, None] * at + np.pi * shift[:, 1:])[:, :, None]
    blur = noise((count, size, size), 4 * key + 2) + noise((count, size, size), 4 * key + 3)
    images = waves + blur
    return torch.tensor(images[:, None], dtype=torch.float32), torch.tensor(labels)


def small(norm, size):
    layers, inputs = [], 1
    for outputs in (16, 32, 32):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), *norm(outputs), nn.ReLU(), nn.MaxPool2d(2)]
        inputs = outputs
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * (size // 8) ** 2, 32), nn.ReLU(), nn.Linear(32, CLASSES))


def medium(norm, size, kernel, width):
    layers, inputs = [], 1
    for stage in range(6):
        outputs = width * 2**stage
        layers += [nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2), *norm(outputs), nn.ReLU()]
        if size // 2 ** (stage + 1) >= 2:
            layers.append(nn.MaxPool2d(2))
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    total_loss, correct = 0.0, 0
    for x, y in zip(images.split(500), labels.split(500)):
        logits = model(x)
        total_loss += F.cross_entropy(logits, y, reduction="sum").item()
        correct += (logits.argmax(dim=1) == y).sum().item()
    return total_loss / len(labels), 100 * correct / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=["small", "medium"], default="small")
    parser.add_argument("--norm", choices=["none", "batch"], default="none")
    parser.add_argument("--kernel", type=int, default=3, help="size of the kernels of the medium network")
    parser.add_argument("--width", type=int, default=4, help="channels of the first layer of the medium network")
    parser.add_argument("--size", type=int, default=16, help="pixels of an image across and down")
    parser.add_argument("--examples", type=int, default=1000, help="for training")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=2e-3, help="divided by 10 after 3/4 of the epochs")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x_train, y_train = (part.to(device) for part in textures(args.examples, args.size, key=1))
    x_test, y_test = (part.to(device) for part in textures(1000, args.size, key=2))

    def norm(channels):
        return [nn.BatchNorm2d(channels)] if args.norm == "batch" else []

    network = small(norm, args.size) if args.network == "small" else medium(norm, args.size, args.kernel, args.width)
    model = network.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [args.epochs * 3 // 4])
    for epoch in range(args.epochs):
        start = time.time()
        model.train()
        for batch in torch.randperm(len(y_train)).to(device).split(args.batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x_train[batch]), y_train[batch])
            loss.backward()
            optimizer.step()
        scheduler.step()
        test_loss, test_accuracy = evaluate(model, x_test, y_test)
        print(
            f"epoch {epoch + 1}: train loss {loss.item():.4f}, test loss {test_loss:.4f}, "
            f"test accuracy {test_accuracy:.2f}%, time {time.time() - start:.2f}s"
        )


if __name__ == "__main__":
    main()
