"""Routes of NumPy, and of pandas, which draws from it."""

import copy
import pickle

import numpy as np
import pandas as pd
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, Generator, Philox, RandomState, SeedSequence, default_rng
from showing import show

np.random.seed(1)


class Derived(RandomState):
    """A class of the project's own."""


def begun_anew() -> RandomState:
    state = RandomState(MT19937(3))
    state.seed(4)
    return state


show("numpy.random.rand", lambda: np.random.rand())
show("numpy.random.normal", lambda: np.random.normal(size=3))
show("numpy.random.permutation", lambda: np.random.permutation(50))
show("numpy.random.choice", lambda: np.random.choice(1000, 9))
show("default_rng(3)", lambda: default_rng(3).random())
show("default_rng()", lambda: default_rng().random())
show("default_rng(SeedSequence)", lambda: default_rng(SeedSequence(3)).random())
show("default_rng(PCG64)", lambda: default_rng(PCG64(3)).random())
show("default_rng.spawn", lambda: [rng.random() for rng in default_rng(3).spawn(2)])
show("default_rng.shuffle", lambda: default_rng(3).permutation(50))
show("Generator(PCG64)", lambda: Generator(PCG64(4)).random())
show("Generator(PCG64DXSM)", lambda: Generator(PCG64DXSM(4)).random())
show("Generator(Philox)", lambda: Generator(Philox(4)).random())
show("Generator(Philox(key))", lambda: Generator(Philox(key=4)).random())
show("Generator(SFC64)", lambda: Generator(SFC64(4)).random())
show("Generator(MT19937)", lambda: Generator(MT19937(4)).random())
show("PCG64()", lambda: PCG64().random_raw())
show("PCG64.random_raw", lambda: PCG64(4).random_raw())
show("PCG64.jumped", lambda: PCG64(4).jumped().random_raw())
show("PCG64.advance", lambda: PCG64(4).advance(7).random_raw())
show("PCG64.spawn", lambda: [bits.random_raw() for bits in PCG64(4).spawn(2)])
show(
    "bit_generator.seed_seq",
    lambda: [default_rng(it).random() for it in default_rng(3).bit_generator.seed_seq.spawn(2)],
)
show("SeedSequence.generate_state", lambda: SeedSequence(3).generate_state(2))
show("SeedSequence.spawn", lambda: [it.generate_state(1) for it in SeedSequence(3).spawn(2)])
show("SeedSequence()", lambda: SeedSequence().generate_state(2))
show("RandomState(3)", lambda: RandomState(3).rand())
show("RandomState(MT19937)", lambda: RandomState(MT19937(3)).rand())
show("RandomState.seed", lambda: begun_anew().rand())
show("class of RandomState", lambda: Derived(3).rand())
show("pickled Generator", lambda: pickle.loads(pickle.dumps(Generator(PCG64(3)))).random())
show("copied PCG64", lambda: copy.deepcopy(PCG64(3)).random_raw())
show("pandas.DataFrame.sample", lambda: pd.DataFrame({"a": range(500)}).sample(9, replace=True).a)
show("pandas.DataFrame.sample(random_state=3)", lambda: pd.Series(range(500)).sample(9, replace=True, random_state=3))
np.random.set_bit_generator(PCG64(5))
show("numpy.random.set_bit_generator", lambda: np.random.rand())
