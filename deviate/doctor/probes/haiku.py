"""Facts about Haiku: the functions in which it provides keys."""

PLACES = {"init": ["transform"], "dropout": ["next_rng_key", "transform"]}
