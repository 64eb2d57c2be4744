import pandas as pd
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :4], y, test_size=0.4)
models = {
    "ExtraTrees": ExtraTreesClassifier(30),
    "MLP": make_pipeline(StandardScaler(), MLPClassifier((10,), max_iter=100)),
    "LogReg-SGD": make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
}
rows = {}
for name, m in models.items():
    m.fit(X_train, y_train)
    p = m.predict_proba(X_test)
    rows[name] = {"accuracy": accuracy_score(y_test, p.argmax(1)), "log_loss": log_loss(y_test, p)}
board = pd.DataFrame(rows).T.sort_values("accuracy", ascending=False)
print(board.round(4).to_string())
