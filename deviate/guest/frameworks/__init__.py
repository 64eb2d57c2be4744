"""Adapters: a module or a package per framework, which receives the framework once the script has imported it.

An adapter has `MODULES`, the names whose import it waits for, and `install(module, context)`. It is imported only when
one of its packages is: importing all adapters would take longer than many programs run.
"""

PACKAGES = {
    "os": ("entropy", "signals"),
    "signal": ("signals",),
    "secrets": ("entropy",),
    "uuid": ("entropy",),
    "random": ("random",),
    "rich": ("importing",),
    "numpy": ("numpy",),
    "torch": ("pytorch",),
    "tensorflow": ("tensorflow", "keras"),
    "keras": ("keras", "downloads"),
    "huggingface_hub": ("downloads",),
    "tf_keras": ("keras",),
    "jax": ("importing", "jax"),
    "flax": ("flax",),
    "haiku": ("haiku",),
    "optax": ("optax",),
    "sklearn": ("sklearn",),
    "transformers": ("transformers",),
    "lightning": ("lightning",),
    "pytorch_lightning": ("lightning",),
    "h5py": ("hdf5",),
    "deviate": ("script_log",),
    "safetensors": ("tensor_files",),
    "lightgbm": ("boosting",),
    "xgboost": ("boosting",),
    "catboost": ("boosting",),
    "gymnasium": ("environments",),
    "gym": ("environments",),
}
"""Adapters by the packages that their modules lie in."""
