"""Forests and their cross-validation by two processes, with scikit-learn."""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

x, y = make_classification(200, 8, n_informative=4, random_state=3)
for depth in (1, 2, 3):
    model = make_pipeline(StandardScaler(), RandomForestClassifier(8, max_depth=depth, random_state=0))
    scores = cross_val_score(model, x, y, cv=3, scoring="neg_log_loss", n_jobs=2)
    print(f"depth {depth} loss {-scores.mean():.8f}")
