"""NumPy: the global generator, and the generators that scripts make with `default_rng`.

`RandomState(seed)` stays as the script made it: scikit-learn tells estimators by `isinstance` of that class, and an
integer `random_state` is how scripts fix which examples train and which test.
"""

MODULES = ("numpy",)


def attach(module, guest):
    random = module.random
    guest.recorder.event("environment", {"numpy": module.__version__})
    if guest.seeding.is_active:
        random.seed(guest.seeding.initial("numpy"))
    guest.seeding.override(random, "seed", "numpy.random.seed", "numpy")
    guest.seeding.override(random, "default_rng", "numpy.random.default_rng", "numpy.default_rng", is_global=False)
