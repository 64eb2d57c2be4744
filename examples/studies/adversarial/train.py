"""Adversarial training of a small or a wide residual network on handwritten digits, attacked by FGSM or by PGD.

Each step attacks the current network and learns from the attacked images alone, as in Madry et al. (2018): FGSM is one
step of size epsilon without a random start, PGD several smaller ones from a random start. The networks are tested on
natural images and under both attacks. The images are the 8 x 8 digits of scikit-learn.
"""

import argparse
import time

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        x = F.relu(self.norm1(x))
        return self.short(x) + self.conv2(F.relu(self.norm2(self.conv1(x))))


class ResNet(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        sizes = [width, 2 * width, 4 * width]
        self.first = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.blocks = nn.Sequential()
        inputs = width
        for stage, outputs in enumerate(sizes):
            for block in range(blocks):
                self.blocks.append(Block(inputs, outputs, 2 if stage and not block else 1))
                inputs = outputs
        self.norm = nn.BatchNorm2d(inputs)
        self.head = nn.Linear(inputs, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.blocks(self.first(x))))
        return self.head(x.mean(dim=(2, 3)))


def input_gradient(model, images, labels):
    images = images.detach().requires_grad_()
    loss = F.cross_entropy(model(images), labels)
    return torch.autograd.grad(loss, images)[0]


def fgsm(model, images, labels, epsilon):
    return (images + epsilon * input_gradient(model, images, labels).sign()).clamp(0, 1).detach()


def pgd(model, images, labels, epsilon, steps):
    attacked = images + epsilon * (2 * torch.rand_like(images) - 1)
    for _ in range(steps):
        attacked = attacked + 2.5 / steps * epsilon * input_gradient(model, attacked, labels).sign()
        attacked = (images + (attacked - images).clamp(-epsilon, epsilon)).clamp(0, 1).detach()
    return attacked


@torch.no_grad()
def accuracy(model, parts):
    correct = sum((model(images).argmax(dim=1) == labels).sum().item() for images, labels in parts)
    return 100 * correct / sum(len(labels) for _, labels in parts)


def evaluate(model, images, labels, epsilon):
    model.eval()
    parts = list(zip(images.split(256), labels.split(256)))
    natural = accuracy(model, parts)
    by_fgsm = accuracy(model, [(fgsm(model, x, y, epsilon), y) for x, y in parts])
    by_pgd = accuracy(model, [(pgd(model, x, y, epsilon, steps=10), y) for x, y in parts])
    return natural, by_fgsm, by_pgd


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=4, help="channels of the first stage")
    parser.add_argument("--blocks", type=int, default=1, help="residual blocks in each of the three stages")
    parser.add_argument("--attack", choices=["fgsm", "pgd"], default="fgsm")
    parser.add_argument("--steps", type=int, default=3, help="of PGD while training; it is tested with 10")
    parser.add_argument("--epsilon", type=float, default=0.3, help="largest change of a pixel, of a range of 1")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--size", type=int, default=16, help="the images are resized to so many pixels a side")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    digits, targets = load_digits(return_X_y=True)
    x = torch.tensor(digits / 16, dtype=torch.float32, device=device).reshape(-1, 1, 8, 8)
    x = F.interpolate(x, size=args.size, mode="nearest")
    y = torch.tensor(targets, device=device)
    train, test = train_test_split(range(len(y)), test_size=0.25, random_state=42, stratify=targets)
    x_train, y_train, x_test, y_test = x[train], y[train], x[test], y[test]

    model = ResNet(args.width, args.blocks).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=2e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [args.epochs // 2, args.epochs * 3 // 4])
    for epoch in range(args.epochs):
        start = time.time()
        for batch in torch.randperm(len(y_train)).to(device).split(args.batch_size):
            model.train()
            images, labels = x_train[batch], y_train[batch]
            if args.attack == "fgsm":
                attacked = fgsm(model, images, labels, args.epsilon)
            else:
                attacked = pgd(model, images, labels, args.epsilon, args.steps)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(attacked), labels)
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, time {time.time() - start:.2f}s")

    for split, x, y in (("train", x_train, y_train), ("test", x_test, y_test)):
        natural, by_fgsm, by_pgd = evaluate(model, x, y, args.epsilon)
        print(f"{split} natural accuracy {natural:.2f}%, under FGSM {by_fgsm:.2f}%, under PGD {by_pgd:.2f}%")


if __name__ == "__main__":
    main()
