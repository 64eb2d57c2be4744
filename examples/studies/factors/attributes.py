"""One attribute of made portraits is learned; who is shown, a man or a woman, young or old, is not told to the network.

Composition as of the attribute in Zhuang et al. (2022), Table 3: 15% of the portraits have it, of the men 2%, and of
all portraits that have it, one in eighteen is of a man. `--groups FILE` writes who is shown in the test set, as a
table, and ends. No data are downloaded, and no random number is drawn for them.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# (has the attribute, is a man, is young): share. The margins are those of Table 3; within them sex and age are taken
# to be independent, which the paper does not tell.
MALE, YOUNG = {True: 0.0572, False: 0.4828}, {True: 0.8336, False: 0.7693}
POSITIVE = 0.1491


def noise(shape, key):
    """Numbers in [-1, 1), the same on every machine: a hash of the position (SplitMix64)."""
    n = np.arange(np.prod(shape), dtype=np.uint64) + np.uint64(key << 40)
    n = n * np.uint64(0x9E3779B97F4A7C15)
    n = (n ^ (n >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    n = (n ^ (n >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((n ^ (n >> np.uint64(31))) >> np.uint64(11)).astype(np.float64).reshape(shape) / 2**52 - 1


def people(count, key):
    """Whether each has the attribute, is a man, is young."""
    chance = (noise((3, count), key) + 1) / 2
    has = chance[0] < POSITIVE
    male = chance[1] < np.where(has, MALE[True], MALE[False])
    young = chance[2] < np.where(has, YOUNG[True], YOUNG[False])
    return has, male, young


def portraits(has, male, young, size, key):
    """Sex, age and the attribute are each a faint wave at a random place; a man's attribute is the faintest."""
    count = len(has)
    at = np.arange(size) / size
    shift = np.pi * noise((count, 3), key)
    waves = [np.cos(2 * np.pi * speed * at + shift[:, k : k + 1]) for k, speed in enumerate((1, 2, 3))]
    images = np.where(male, 1.0, -1.0)[:, None, None] * waves[0][:, :, None]
    images = images + np.where(young, 0.5, -0.5)[:, None, None] * waves[1][:, None, :]
    strength = np.where(has, 0.6, 0.0) * np.where(male, 0.8, 1.0)
    images = images + strength[:, None, None] * waves[2][:, :, None] * waves[2][:, None, :]
    images = images + 1.2 * noise((count, size, size), key + 1)
    return torch.tensor(images[:, None], dtype=torch.float32)


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    correct, missed = 0, 0
    for x, y in zip(images.split(1000), labels.split(1000)):
        predicted = model(x).argmax(dim=1)
        correct += (predicted == y).sum().item()
        missed += (predicted[y == 1] == 0).sum().item()
    return 100 * correct / len(labels), 100 * missed / max(labels.sum().item(), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--width", type=int, default=12)
    parser.add_argument("--examples", type=int, default=3000, help="for training, and as many for testing")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--groups", type=Path, help="write the groups of the test set here, and end")
    args = parser.parse_args()

    has, male, young = people(args.examples, key=21)
    if args.groups:
        sexes, ages = np.where(male, "Male", "Female"), np.where(young, "Young", "Old")
        args.groups.write_text("sex,age\n" + "".join(f"{sex},{age}\n" for sex, age in zip(sexes, ages)))
        sys.exit()
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x_test, y_test = portraits(has, male, young, args.size, key=22).to(device), torch.tensor(has).long().to(device)
    has, male, young = people(args.examples, key=11)
    x_train, y_train = portraits(has, male, young, args.size, key=12).to(device), torch.tensor(has).long().to(device)

    model = nn.Sequential(
        nn.Conv2d(1, args.width, 3, padding=1),
        nn.BatchNorm2d(args.width),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(args.width, 2 * args.width, 3, padding=1),
        nn.BatchNorm2d(2 * args.width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * args.width, 2),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for batch in torch.randperm(len(y_train)).to(device).split(args.batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x_train[batch]), y_train[batch])
            loss.backward()
            optimizer.step()
        accuracy, missed = evaluate(model, x_test, y_test)
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, test accuracy {accuracy:.2f}%, missed {missed:.2f}%")


if __name__ == "__main__":
    main()
