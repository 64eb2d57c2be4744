"""JAX: the root keys a script makes. What is split from a key carries no name and follows it."""

MODULES = ("jax",)


def attach(module, guest):
    guest.recorder.event("environment", {"jax": module.__version__})
    for name in ("PRNGKey", "key"):
        guest.seeding.override(module.random, name, "jax.random.%s" % name, "jax")
