"""Python's own generator. Keras draws the seeds of unseeded layers from it."""

MODULES = ("random",)


def attach(module, guest):
    if guest.seeding.is_active:
        module.seed(guest.seeding.initial("random"))
    guest.seeding.override(module, "seed", "random.seed", "random", keyword="a")
