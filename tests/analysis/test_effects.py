from collections.abc import Callable

from deviate.model import Analysis

Analyse = Callable[[str], Analysis]


def test_seeding_calls_are_found_through_aliases_of_imports(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import random, torch as t, numpy as np, tensorflow as tf
        from numpy.random import default_rng
        from jax import random as jr
        random.seed(1)
        np.random.seed(args.seed)
        rng = default_rng(3)
        free = default_rng()
        t.manual_seed(seed=4)
        tf.random.set_seed(5)
        key = jr.PRNGKey(6)
        player.seed(7)
        """
    )
    assert [(seed.call, seed.argument, seed.line) for seed in analysis.seeds] == [
        ("random.seed", "1", 5),
        ("numpy.random.seed", "args.seed", 6),
        ("numpy.random.default_rng", "3", 7),
        ("torch.manual_seed", "4", 9),
        ("tensorflow.random.set_seed", "5", 10),
        ("jax.random.PRNGKey", "6", 11),
    ]


def test_constant_paths_that_are_written_and_never_read_are_outputs(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import torch, json, numpy as np
        PATH = "out/log.txt"
        torch.save(model, "best.pt")
        torch.save(model, "resumed.pt")
        model.load_state_dict(torch.load("resumed.pt"))
        with open(PATH, "w") as f: pass
        json.dump(d, open("result.json", mode="w"))
        open("data.csv")
        np.save(file="x.npy", arr=x)
        torch.save(model, f"epoch{epoch}.pt")
        model.save_weights("w.h5")
        open("/absolute.txt", "w")
        """
    )
    assert analysis.outputs == ("best.pt", "out/log.txt", "result.json", "x.npy", "w.h5")
