import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, precision_recall_curve
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = load_breast_cancer()
X_tr, X_te, y_tr, y_te = train_test_split(data.data, data.target, test_size=0.35)

logreg = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
logreg.fit(X_tr, y_tr)
forest = RandomForestClassifier(40, max_depth=3).fit(X_tr, y_tr)

print("Coefficients")
print("------------")
for name, coef in sorted(zip(data.feature_names, logreg[-1].coef_[0]), key=lambda t: -abs(t[1]))[:8]:
    print("%-26s %+8.4f" % (name, coef))
print("%-26s %+8.4f" % ("intercept", logreg[-1].intercept_[0]))

print("\nFeature ranking:")
importances = forest.feature_importances_
for rank, i in enumerate(np.argsort(importances)[::-1][:5]):
    print("%d. feature %d (%f)" % (rank + 1, i, importances[i]))

precision, recall, thresholds = precision_recall_curve(y_tr, logreg.predict_proba(X_tr)[:, 1])
best = np.argmax(2 * precision * recall / (precision + recall + 1e-12))
threshold = thresholds[min(best, len(thresholds) - 1)]
print("\nDecision threshold: %.4f" % threshold)
y_hat = (logreg.predict_proba(X_te)[:, 1] >= threshold).astype(int)
print("Balanced accuracy on held-out data: %.4f" % balanced_accuracy_score(y_te, y_hat))
print("Penalty C: %.2f, iterations: %d" % (logreg[-1].C, logreg[-1].n_iter_[0]))
