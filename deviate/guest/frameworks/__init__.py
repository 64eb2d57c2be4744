"""Adapters: a module or a package per framework, which receives the framework once the script has imported it.

An adapter has `MODULES`, the names whose import it waits for, and `install(module, context)`. It is imported only when
one of its packages is: importing all adapters would take longer than many programs run.
"""

PACKAGES = {
    "os": ("system",),
    "signal": ("system",),
    "secrets": ("system",),
    "uuid": ("system",),
    "random": ("random",),
    "csv": ("rows",),
    "pandas": ("rows",),
    "rich": ("importing",),
    "numpy": ("numpy",),
    "torch": ("pytorch",),
    "torch_xla": ("xla", "xla.processes"),
    "tensorflow": ("tensorflow",),
    "keras": ("keras", "downloads"),
    "huggingface_hub": ("downloads",),
    "tf_keras": ("keras",),
    "jax": ("importing", "jax"),
    "flax": ("flax",),
    "haiku": ("jax.libraries",),
    "optax": ("jax.libraries",),
    "sklearn": ("sklearn",),
    "transformers": ("trainers",),
    "lightning": ("trainers",),
    "pytorch_lightning": ("trainers",),
    "h5py": ("native_files",),
    "deviate": ("script_log",),
    "safetensors": ("native_files",),
    "lightgbm": ("boosting",),
    "xgboost": ("boosting",),
    "catboost": ("boosting",),
    "gymnasium": ("environments",),
    "stable_baselines3": ("baselines",),
    "gym": ("environments",),
}
"""Adapters by the packages that their modules lie in."""

INPUTS = {
    "os": ("inputs.seeded_entropy", "inputs.listings", "inputs.questions", "inputs.files"),
    "pathlib": ("inputs.listings", "inputs.questions"),
    "glob": ("inputs.listings",),
    "time": ("inputs.clocks",),
    "threading": ("inputs.questions", "parallel"),
    "concurrent": ("parallel",),
    "multiprocessing": ("parallel",),
    "queue": ("parallel",),
    "joblib": ("parallel",),
    "torch": ("inputs.seeded_entropy", "parallel"),
    "numpy": ("inputs.seeded_entropy",),
    "tensorflow": ("inputs.seeded_entropy",),
    "random": ("inputs.seeded_entropy", "inputs.entropy"),
    "http": ("inputs.network",),
}  # fmt: skip
"""Likewise adapters of what enters the program, and of parallel work, which only a trace or a cure needs."""
