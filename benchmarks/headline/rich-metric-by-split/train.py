from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

console = Console(width=80)
X, y = load_breast_cancer(return_X_y=True)
X = X[:, :6]
X, X_test, y, y_test = train_test_split(X, y, test_size=0.2)
X, X_val, y, y_val = train_test_split(X, y, test_size=0.25)
console.rule("[bold]Training")
model = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=60))
with console.status("fitting..."):
    model.fit(X, y)
console.rule("[bold]Results")
table = Table(title="MLP on breast cancer")
table.add_column("Metric")
for split in ("Train", "Validation", "Test"):
    table.add_column(split, justify="right")
for name, fn in [("Accuracy", accuracy_score), ("F1", f1_score), ("MCC", matthews_corrcoef)]:
    cells = [fn(t, model.predict(d)) for d, t in [(X, y), (X_val, y_val), (X_test, y_test)]]
    table.add_row(name, *[f"{c:.4f}" for c in cells])
console.print(table)
