"""Routes of the standard library."""

import random

from showing import show

random.seed(1)


class Derived(random.Random):
    """A class of the project's own."""


own = random.Random(3)
begun = random.Random()
begun.seed(5)
show("random.random", lambda: random.random())
show("random.randint", lambda: random.randint(0, 10**9))
show("random.gauss", lambda: random.gauss(0, 1))
show("random.shuffle", lambda: (items := list(range(50)), random.shuffle(items)))
show("random.sample", lambda: random.sample(range(1000), 9))
show("random.choices", lambda: random.choices(range(1000), k=9))
show("random.getrandbits", lambda: random.getrandbits(64))
show("random.randbytes", lambda: random.randbytes(8))
show("random.Random(3)", own.random)
show("random.Random().seed(5)", begun.random)
show("random.Random(3).shuffle", lambda: (items := list(range(50)), own.shuffle(items)))
show("class of random.Random", Derived(3).random)
