"""Facts about LightGBM: the functions through which parameters and evaluations pass."""

PLACES = {
    "shuffle": ["basic.Booster", "basic._param_dict_to_str"],
    "dropout": ["basic._param_dict_to_str"],
    "split": ["engine._make_n_folds"],
    "other": ["basic._param_dict_to_str"],
    "kernels": ["basic._param_dict_to_str"],
    "weights": ["basic.Booster.update"],
}
