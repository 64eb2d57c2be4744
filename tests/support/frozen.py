"""A small project and what the analysis says of it, to be frozen and run."""

from pathlib import Path

from deviate.model.analysis import Analysis, Loop, Metric, Site, Span

TRAIN = "for epoch in range(3):\n    acc = epoch / 3\n    print(f'acc {acc:.4f}')\n"


def analysis_of(root: Path, *, outputs: tuple[str, ...] = (), script: str = "train.py", line: int = 1) -> Analysis:
    """What the analysis says of TRAIN, which begins at `line` of the script."""
    loop = Loop(0, script, line, line + 2, "for", "epoch", Span(line, 13, line, 21), is_main=True)
    site = Site(0, script, line + 2, Span(line + 2, 17, line + 2, 20), "acc", "print")
    metric = Metric(0, "acc", "acc", script, line + 2, "print", "quality", "max", (), site=0)
    return Analysis(root, script, loop, (loop,), (metric,), (), (site,), outputs=outputs, files=(script,))
