"""The user's folder: parallel runs write the same names, each to its own files, and nothing of the user changes."""

import hashlib
import json
from pathlib import Path

TRAIN = """\
import os

os.makedirs("./out", exist_ok=True)
for epoch in range(3):
    acc = 90 + epoch + int.from_bytes(os.urandom(2), "big") / 65536
    print(f"test acc {acc:.4f}")
    with open("checkpoint.pt", "wb") as file:
        file.write(acc.hex().encode())
    with open(f"./out/epoch-{epoch}.txt", "a") as file:
        file.write(f"{acc!r}\\n")
    with open("history.csv", "a") as file:
        file.write(f"{epoch},{acc!r}\\n")
"""


def digest(folder: Path) -> str:
    """Of everything but .deviate: names, bytes, modes, times of files and folders."""
    found = sorted(path for path in folder.rglob("*") if ".deviate" not in path.parts)
    facts = [
        (str(path), path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in found
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def test_parallel_runs_have_their_own_files_and_the_users_folder_stays_as_it_was(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    (project / "checkpoint.pt").write_bytes(b"of the user" * 200_000)  # large enough to be linked
    (project / "history.csv").write_text("of the user\n")
    (project / "out").mkdir()
    (project / "out" / "epoch-0.txt").write_text("of the user\n")
    (project / "notes").mkdir()
    before = digest(project)
    answer = deviate_in(project)("run", "train.py", "--runs", "6", "--jobs", "3", "--variants", "as-is", "-q")
    assert answer.code == 0, answer.both
    assert digest(project) == before
    results = sorted(project.glob(".deviate/experiments/train/runs/*/attempt-1"))
    assert len(results) == 6
    seen = set()
    for attempt in results:
        (work,) = attempt.glob(f"work/{project.parent.name}/{project.name}")
        replicate = json.loads((attempt.parent / "spec.json").read_text())["replicate"]
        last = float.fromhex((work / "checkpoint.pt").read_text())
        lines = [(work / "out" / f"epoch-{epoch}.txt").read_text().splitlines()[-1] for epoch in range(3)]
        assert float(lines[-1]) == last
        assert (work / "history.csv").read_text().splitlines()[-1] == f"2,{last!r}"
        assert f"test acc {last:.4f}" in (attempt / "stdout.log").read_text()
        seen.add((replicate, last))
    assert len(seen) == 6
