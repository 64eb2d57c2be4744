"""What `deviate.toml` may say is read with its types."""

from pathlib import Path

from deviate.config import load


def test_the_experiment_and_snapshot_parts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "deviate.toml"
    path.write_text(
        '[experiment]\ntrain = "./train.py"\ncommand = "python train.py"\nthen = ["python eval.py"]\nruns = 10\n'
        'variants = ["algo+impl", "control"]\n[snapshot]\nfresh = ["checkpoints/"]\n',
        encoding="utf-8",
    )
    config = load(path)
    assert (config.command, config.then, config.runs) == ("python train.py", ("python eval.py",), 10)
    assert (config.variants, config.fresh, config.metrics) == (("algo+impl", "control"), ("checkpoints/",), None)
    assert config.is_for("train.py")
