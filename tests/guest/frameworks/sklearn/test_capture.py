"""scikit-learn: what fitted estimators predict and score is kept with its true labels, and nothing changes for it."""

import pytest
from capturing import Kept, kept
from harness import Child

SCRIPT = """\
import hashlib
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

np.random.seed(3)
inputs, species = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(inputs, species, random_state=0)
kinds = np.array(["setosa", "versicolor", "virginica"])

line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
print("score", line.score(X_test, y_test))
print("probable", np.mean(line.predict_proba(X_test).argmax(1) == y_test))
line.predict(X_test)

search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, cv=2).fit(X_train, kinds[y_train])
guess = search.predict(X_test)
print("named", accuracy_score(kinds[y_test], guess))

def few(net, them, labels):
    found = net.predict(them)
    return accuracy_score(labels, found)

print("few", few(line, inputs[:40] + 0.5, species[:40]))
slow = SGDClassifier()
for epoch in range(3):
    slow.partial_fit(X_train, y_train, classes=np.arange(3))
    print("slow", np.mean(slow.predict(X_test) == y_test))
print(hashlib.sha256(slow.coef_.tobytes()).hexdigest(), np.random.rand())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, require) -> Kept:  # type: ignore[no-untyped-def]
    require("sklearn")
    return kept(tmp_path_factory.mktemp("sklearn"), lambda folder: Child(folder, SCRIPT).loop("in «range(3)»:", 31))


def test_nothing_changes_for_what_is_kept(run: Kept) -> None:
    assert run.on.stdout == run.off.stdout
    assert run.on.of("weights") == run.off.of("weights")
    assert not run.off.of("artifact")


def test_scores_of_classes_are_kept_where_labels_say_the_same(run: Kept) -> None:
    assert run.arrays("test")["outputs"].shape == (38, 3)
    assert run.accuracy("test") == run.printed("score") == run.printed("probable")
    assert len(set(run.arrays("test")["keys"])) == 38


def test_estimators_that_are_there_at_once_are_told_apart(run: Kept) -> None:
    assert [name for name, _ in run.artifacts("predictions")] == ["test", "test_2", "them", "test_3"]
    assert run.accuracy("test_3") == run.printed("slow")


def test_texts_are_kept_as_places_among_the_classes(run: Kept) -> None:
    arrays = run.arrays("test_2")
    assert arrays["outputs"].dtype.kind == arrays["truth"].dtype.kind == "i"
    assert set(arrays["truth"]) == {0, 1, 2}
    assert run.accuracy("test_2") == run.printed("named")


def test_a_metric_that_is_given_the_predictions_tells_the_true_labels(run: Kept) -> None:
    assert run.accuracy("them") == run.printed("few")


def test_weights_are_what_was_fitted(run: Kept) -> None:
    arrays = run.arrays("loop", "weights")
    assert arrays["2.SGDClassifier.coef_"].shape == (3, 4)
    assert all(array.size for array in arrays.values())
