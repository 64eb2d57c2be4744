"""Facts about scikit-learn: the functions in which it draws."""

PLACES = {
    "shuffle": ["utils.shuffle"],
    "split": ["model_selection.train_test_split", "model_selection.KFold"],
    "other": ["utils.check_random_state"],
    "weights": ["base.BaseEstimator"],
}
