import numpy as np
from catboost import CatBoostClassifier, Pool
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True)
X_rest, X_test, y_rest, y_test = train_test_split(X, y, test_size=0.25, stratify=y)
X_train, X_val, y_train, y_val = train_test_split(X_rest, y_rest, test_size=0.25)
print("Trainingsdaten: %d Zeilen, Testdaten: %d Zeilen" % (len(X_train), len(X_test)))

modell = CatBoostClassifier(iterations=60, depth=4, learning_rate=0.1, eval_metric="AUC", thread_count=1,
                            random_seed=np.random.randint(10000))
modell.fit(Pool(X_train, y_train), eval_set=Pool(X_val, y_val), verbose=15)

p = modell.predict_proba(X_test)[:, 1]
print("Anzahl der Bäume: %d" % modell.tree_count_)
print("AUC auf den Testdaten: %.4f" % roc_auc_score(y_test, p))
print("Brier-Wert auf den Testdaten: %.4f" % brier_score_loss(y_test, p))
