"""Facts of Haiku: the places where it hands out keys."""

PLACES = {"init": ["transform"], "dropout": ["next_rng_key", "transform"]}
