"""Facts of Optax: where updates reach the weights."""

PLACES = {"weights": ["apply_updates"]}
