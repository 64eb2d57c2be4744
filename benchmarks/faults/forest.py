"""Random forests of growing size on a random split, with scikit-learn."""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

x, y = make_classification(300, 8, n_informative=4, random_state=13)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3)  # cause

for n_trees in (2, 4, 8, 16):
    model = RandomForestClassifier(n_trees, max_depth=4, random_state=0)
    model.fit(x_train, y_train)
    loss = log_loss(y_test, model.predict_proba(x_test))
    print(f"trees {n_trees} test_loss {loss:.6f}")
