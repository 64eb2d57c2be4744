import pathlib
p = pathlib.Path("lib"); p.mkdir()
(p / "__init__.py").write_text("")
(p / "data.py").write_text('''
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split
def get_loaders(batch_size):
    X, y = load_digits(return_X_y=True)
    ds = TensorDataset(torch.tensor(X).float() / 16, torch.tensor(y))
    a, b, c = random_split(ds, [1100, 300, 397])
    return DataLoader(a, batch_size, shuffle=True), DataLoader(b, batch_size), DataLoader(c, batch_size)
''')
(p / "engine.py").write_text('''
import torch
import torch.nn.functional as F
def train_one_epoch(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)
@torch.no_grad()
def evaluate(model, loader):
    correct = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return correct / len(loader.dataset)
''')
(p / "utils.py").write_text('''
import datetime
def info(msg):
    print(f"[{datetime.datetime.now():%H:%M:%S}] {msg}", flush=True)
''')
