import warnings
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

X, y = load_diabetes(return_X_y=True)
grid = {"alpha": [0.01, 0.1, 1.0]}
outer = KFold(5, shuffle=True)
inner = KFold(3, shuffle=True)
search = GridSearchCV(Lasso(), grid, cv=inner)
outer_scores = []
for i, (tr, te) in enumerate(outer.split(X), 1):
    search.fit(X[tr], y[tr])
    s = search.score(X[te], y[te])
    outer_scores.append(s)
    print(f"outer {i}/5: inner best {search.best_score_:.3f} with alpha={search.best_params_['alpha']} -> outer R2 {s:.3f}")
    if search.best_params_["alpha"] == 0.01:
        warnings.warn("alpha at the edge of the grid")
plain = GridSearchCV(Lasso(), grid, cv=inner).fit(X, y).best_score_
print(f"non-nested R2 = {plain:.3f}")
print("nested CV R2 = %.3f ± %.3f (mean ± sd)" % (np.mean(outer_scores), np.std(outer_scores)))
