"""scikit-learn: it draws from NumPy's generators; which examples train and which test is held."""

MODULES = ("sklearn", "sklearn.model_selection._split")


def attach(module, guest):
    if module.__name__ == "sklearn":
        guest.recorder.event("environment", {"scikit-learn": module.__version__})
    elif guest.seeding.is_active:
        _hold_split(module, guest.seeding)


def _hold_split(module, seeding):
    """Splitters without a `random_state` would draw from the global generator, whose seed varies."""
    original = module.check_random_state
    calls = []

    def check_random_state(seed):
        if seed is None:
            calls.append(None)
            seed = seeding.held("sklearn", len(calls))
        return original(seed)

    module.check_random_state = check_random_state
