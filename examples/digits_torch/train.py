"""A small convolutional network on handwritten digits, with shifted images as augmentation."""

import argparse
import time

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    """The 8 x 8 images of scikit-learn; with `augment`, each is moved by up to one pixel."""

    def __init__(self, images, labels, augment=False):
        self.images = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16.0
        self.labels = torch.tensor(labels)
        self.augment = augment

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if self.augment:
            top, left = torch.randint(0, 3, (2,)).tolist()
            image = F.pad(image, (1, 1, 1, 1))[:, top : top + 8, left : left + 8]
        return image, self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.3)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout(x.flatten(1))
        x = self.dropout(F.relu(self.fc1(x)))
        return self.fc2(x)


def train_epoch(model, loader, optimizer):
    model.train()
    total_loss = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(labels)
    return total_loss / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    total_loss, correct = 0.0, 0
    for images, labels in loader:
        logits = model(images)
        total_loss += F.cross_entropy(logits, labels, reduction="sum").item()
        correct += (logits.argmax(dim=1) == labels).sum().item()
    return total_loss / len(loader.dataset), 100.0 * correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", default="best.pt", help="file for the weights of the best epoch")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    images, labels = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.25, random_state=42)
    train_set = Digits(x_train, y_train, augment=True)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, num_workers=args.workers)
    test_loader = DataLoader(Digits(x_test, y_test), batch_size=256)

    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)

    best_accuracy = 0.0
    for epoch in range(args.epochs):
        start = time.time()
        lr = scheduler.get_last_lr()[0]
        train_loss = train_epoch(model, train_loader, optimizer)
        test_loss, test_accuracy = evaluate(model, test_loader)
        scheduler.step()
        print(
            f"Epoch {epoch + 1}/{args.epochs} lr {lr:.6f} train loss {train_loss:.4f} "
            f"test loss {test_loss:.4f} test accuracy {test_accuracy:.2f}% time {time.time() - start:.2f}s"
        )
        if test_accuracy > best_accuracy:
            best_accuracy = test_accuracy
            torch.save(model.state_dict(), args.checkpoint)
    print(f"Best test accuracy: {best_accuracy:.2f}%")


if __name__ == "__main__":
    main()
