"""A small residual network on made images of ten kinds of texture, with augmentation, dropout and cosine cycles.

Images are flipped and moved by a pixel or more while training. The learning rate falls along a cosine to zero, once or
in several cycles, each with a warm-up. The images are computed from their number, so that no data are downloaded and no
random number is drawn for them; the classes are the same when flipped.
"""

import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

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


class Augmented(Dataset):
    """Each image is flipped or not, and moved by up to `border` pixels."""

    def __init__(self, images, labels, border):
        self.images = F.pad(images, (border, border, border, border))
        self.labels = labels
        self.border, self.size = border, images.shape[-1]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        top, left = torch.randint(0, 2 * self.border + 1, (2,)).tolist()
        image = self.images[index][:, top : top + self.size, left : left + self.size]
        return image.flip(2) if torch.rand(1).item() < 0.5 else image, self.labels[index]


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else nn.Identity()

    def forward(self, x):
        return F.relu(self.short(x) + self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))


class ResNet(nn.Module):
    def __init__(self, width, blocks, dropout):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        layers, inputs = [], width
        for stage in range(3):
            for block in range(blocks):
                layers.append(Block(inputs, width * 2**stage, 2 if stage and not block else 1))
                inputs = width * 2**stage
        self.blocks = nn.Sequential(*layers)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(inputs, CLASSES)

    def forward(self, x):
        return self.head(self.dropout(self.blocks(self.first(x)).mean(dim=(2, 3))))


def rate(epoch, epochs, cycles, peak, warm_up):
    """Learning rate along `cycles` cosines, each from zero to the peak within `warm_up` epochs, and back to zero."""
    length = epochs / cycles
    at = epoch % length
    return peak * (at / warm_up if at <= warm_up and warm_up else 0.5 * (1 + math.cos(math.pi * at / length)))


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total_loss, correct = 0.0, 0
    for images, labels in loader:
        logits = model(images.to(device))
        total_loss += F.cross_entropy(logits, labels.to(device), reduction="sum").item()
        correct += (logits.argmax(dim=1) == labels.to(device)).sum().item()
    return total_loss / len(loader.dataset), 100.0 * correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=12, help="pixels of an image across and down")
    parser.add_argument("--examples", type=int, default=600, help="for training")
    parser.add_argument("--border", type=int, default=1, help="pixels by which images are moved at most")
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--blocks", type=int, default=1, help="residual blocks in each of the three stages")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--cycles", type=int, default=1)
    parser.add_argument("--warm-up", type=float, default=1.0, help="epochs at the beginning of each cycle")
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train_set = Augmented(*textures(args.examples, args.size, key=1), args.border)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True)
    test_loader = DataLoader(TensorDataset(*textures(1000, args.size, key=2)), batch_size=500)

    model = ResNet(args.width, args.blocks, args.dropout).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    for epoch in range(args.epochs):
        model.train()
        for step, (images, labels) in enumerate(train_loader):
            at = epoch + step / len(train_loader)
            optimizer.param_groups[0]["lr"] = rate(at, args.epochs, args.cycles, args.lr, args.warm_up)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
        test_loss, test_accuracy = evaluate(model, test_loader, device)
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, test loss {test_loss:.4f}, accuracy {test_accuracy:.2f}%")


if __name__ == "__main__":
    main()
