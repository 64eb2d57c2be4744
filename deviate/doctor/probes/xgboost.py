"""Facts about XGBoost: the methods through which parameters and updates pass."""

PLACES = {
    "split": ["training.mknfold"],
    "other": ["core.Booster.set_param", "core.Booster.update"],
    "weights": ["core.Booster.save_raw"],
}
