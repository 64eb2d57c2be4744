"""Routes of scikit-learn; those of its splitters are tested in test_splitters.py."""

import warnings

import numpy as np
from showing import show
from sklearn import (
    cluster,
    datasets,
    decomposition,
    ensemble,
    inspection,
    linear_model,
    manifold,
    mixture,
    model_selection,
    neural_network,
    preprocessing,
    random_projection,
    svm,
    tree,
)
from sklearn.utils import extmath, random, resample

warnings.simplefilter("ignore")
X = np.column_stack([np.sin(np.arange(80.0) * k) for k in (1.0, 2.7, 3.1, 4.9)])
Y = (X[:, 0] + X[:, 1] ** 2 > 0.4).astype(int)
np.random.seed(3)
show("SGDClassifier(random_state=0)", lambda: linear_model.SGDClassifier(random_state=0, max_iter=2).fit(X, Y).coef_)
show("SGDClassifier()", lambda: linear_model.SGDClassifier(max_iter=2).fit(X, Y).coef_)
show(
    "SGDClassifier(RandomState)",
    lambda: linear_model.SGDClassifier(random_state=np.random.RandomState(3)).fit(X, Y).coef_,
)
show("RandomForestClassifier", lambda: ensemble.RandomForestClassifier(3, random_state=0).fit(X, Y).predict_proba(X))
show(
    "GradientBoostingClassifier",
    lambda: (
        ensemble.GradientBoostingClassifier(n_estimators=2, subsample=0.5, random_state=0).fit(X, Y).predict_proba(X)
    ),
)
show(
    "HistGradientBoostingClassifier",
    lambda: (
        ensemble.HistGradientBoostingClassifier(max_iter=3, max_features=0.3, min_samples_leaf=3, random_state=0)
        .fit(X, Y)
        .predict_proba(X)
    ),
)
show("BaggingClassifier", lambda: ensemble.BaggingClassifier(n_estimators=2, random_state=0).fit(X, Y).predict_proba(X))
show("ExtraTreeClassifier", lambda: tree.ExtraTreeClassifier(random_state=0).fit(X, Y).tree_.threshold)
show("MLPClassifier", lambda: neural_network.MLPClassifier(3, random_state=0, max_iter=2).fit(X, Y).coefs_[0])
show("KMeans", lambda: cluster.KMeans(9, n_init=1, max_iter=1, random_state=0).fit(X).cluster_centers_)
show("MiniBatchKMeans", lambda: cluster.MiniBatchKMeans(9, n_init=1, random_state=0).fit(X).cluster_centers_)
show(
    "GaussianMixture",
    lambda: mixture.GaussianMixture(2, init_params="random", max_iter=1, random_state=0).fit(X).means_,
)
show(
    "PCA(randomized)",
    lambda: decomposition.PCA(1, svd_solver="randomized", iterated_power=0, random_state=0).fit(X).components_,
)
show("NMF", lambda: decomposition.NMF(2, init="random", max_iter=2, random_state=0).fit(abs(X)).components_)
show("TSNE", lambda: manifold.TSNE(init="random", max_iter=250, perplexity=5, random_state=0).fit_transform(X[:12]))
show(
    "GaussianRandomProjection", lambda: random_projection.GaussianRandomProjection(2, random_state=0).fit(X).components_
)
show("LinearSVC(dual)", lambda: svm.LinearSVC(dual=True, max_iter=2, random_state=0).fit(X, Y).coef_)
show(
    "QuantileTransformer",
    lambda: preprocessing.QuantileTransformer(n_quantiles=9, subsample=20, random_state=0).fit(X).quantiles_,
)
show(
    "permutation_importance",
    lambda: (
        inspection.permutation_importance(
            tree.DecisionTreeRegressor(random_state=0).fit(X, X[:, 0]), X, X[:, 0], n_repeats=2, random_state=0
        ).importances
    ),
)
show("ParameterSampler", lambda: str(list(model_selection.ParameterSampler({"a": range(10**6)}, 2, random_state=0))))
show("randomized_svd", lambda: extmath.randomized_svd(X, 1, n_iter=0, n_oversamples=1, random_state=0))
show("sample_without_replacement", lambda: random.sample_without_replacement(10**6, 3, random_state=0))
show("resample", lambda: resample(np.arange(500), random_state=0))
show("make_classification()", lambda: datasets.make_classification(20)[0])
show("make_classification(random_state=1)", lambda: datasets.make_classification(20, random_state=1)[0])
show("make_blobs", lambda: datasets.make_blobs(20, random_state=1)[0])
