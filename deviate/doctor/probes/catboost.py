"""Facts about CatBoost: the methods through which parameters pass."""

PLACES = {
    "split": ["core._cv"],
    "other": ["core.CatBoost._prepare_train_params"],
    "weights": ["core.CatBoost.get_leaf_values"],
}
