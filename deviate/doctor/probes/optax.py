"""Facts about Optax: the functions in which weights are updated."""

PLACES = {"weights": ["apply_updates"]}
