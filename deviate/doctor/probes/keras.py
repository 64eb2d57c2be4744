"""Facts about Keras: its backend, and the functions in which it requests seeds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {
    "init": ["src.initializers.random_initializers.RandomInitializer"],
    "dropout": ["src.random.seed_generator.SeedGenerator", "layers.Dropout"],
    "augment": ["src.random.seed_generator.SeedGenerator"],
    "shuffle": ["Model.fit"],
    "other": ["utils.set_random_seed"],
    "one-bit": ["Model.fit"],
    "weights": ["Model.fit"],
}


def look(keras: Any, notes: Any) -> None:
    backend = notes.attempt("backend", keras.backend.backend)
    notes.record("build", f"on {backend}")
