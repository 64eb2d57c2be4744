"""Facts about Gymnasium: the function that makes all generators."""

PLACES = {"split": ["utils.seeding.np_random"], "other": ["utils.seeding.np_random"]}
