import torch
from data import load
from sklearn.metrics import accuracy_score, f1_score

_, _, (X, y) = load()
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
model.load_state_dict(torch.load("model.pt", weights_only=True))
with torch.no_grad():
    pred = model(X).argmax(1)
print(f"evaluating model.pt on {len(y)} images")
rows = [("accuracy", accuracy_score(y, pred)), ("macro F1", f1_score(y, pred, average="macro"))]
print("┏━━━━━━━━━━━━━━┳━━━━━━━━━━┓")
print("┃    Metric    ┃  Value   ┃")
print("┡━━━━━━━━━━━━━━╇━━━━━━━━━━┩")
for name, value in rows:
    print(f"│ {name:<12} │ {value:8.4f} │")
print("└──────────────┴──────────┘")
