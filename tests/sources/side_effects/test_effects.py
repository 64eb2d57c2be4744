from collections.abc import Callable

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]


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
