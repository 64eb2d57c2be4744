import os, pickle
os.environ["WANDB_MODE"] = "offline"; os.environ["WANDB_SILENT"] = "true"
import numpy as np
import wandb
from sklearn.datasets import load_wine
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

CONFIG = dict(alpha=1e-2, epochs=8)
X, y = load_wine(return_X_y=True)
X = scale(X)[:, :5]
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.4)
X_va, X_te, y_va, y_te = train_test_split(X_te, y_te, test_size=0.5)

def measure(model, X, y):
    return {"f1": f1_score(y, model.predict(X), average="macro"), "nll": log_loss(y, model.predict_proba(X), labels=[0, 1, 2])}

run = wandb.init(project="wine", config=CONFIG)
clf = SGDClassifier(loss="log_loss", alpha=CONFIG["alpha"], learning_rate="constant", eta0=0.01)
for epoch in range(CONFIG["epochs"]):
    order = np.random.permutation(len(X_tr))
    clf.partial_fit(X_tr[order], y_tr[order], classes=[0, 1, 2])
    logs = {"epoch": epoch}
    for split, data in {"train": (X_tr, y_tr), "val": (X_va, y_va)}.items():
        logs |= {f"{split}/{k}": v for k, v in measure(clf, *data).items()}
    wandb.log(logs)
final = measure(clf, X_te, y_te)
wandb.log({f"test/{k}": v for k, v in final.items()})
run.finish()
with open("final.pkl", "wb") as f:
    pickle.dump(float(final["f1"]), f)
