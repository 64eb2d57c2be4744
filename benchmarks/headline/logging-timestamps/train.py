import logging
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

logger = logging.getLogger("trainer")


def setup_logging():
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s | %(levelname)-8s | %(name)s:%(funcName)s:%(lineno)d - %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def train(epochs=6):
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_val, y_train, y_val = train_test_split(scale(X), y, test_size=0.4)
    clf = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.003)
    logger.info("Loaded %d samples with %d features", *X.shape)
    begin = time.perf_counter()
    for epoch in range(1, epochs + 1):
        order = np.random.permutation(len(X_train))
        clf.partial_fit(X_train[order], y_train[order], classes=[0, 1])
        train_loss = log_loss(y_train, clf.predict_proba(X_train))
        val_loss = log_loss(y_val, clf.predict_proba(X_val))
        val_f1 = f1_score(y_val, clf.predict(X_val))
        logger.info("Epoch %02d/%02d: train_loss=%.5f val_loss=%.5f val_f1=%.5f", epoch, epochs, train_loss, val_loss, val_f1)
    logger.info("Done in %.3fs (%.1f epochs/s)", time.perf_counter() - begin, epochs / (time.perf_counter() - begin))
    if np.abs(clf.coef_).max() > 5:
        logger.warning("Large weights: %.2f", np.abs(clf.coef_).max())


if __name__ == "__main__":
    setup_logging()
    train()
