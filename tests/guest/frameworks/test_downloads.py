"""Downloaded data: the revision that a hub gave, and the hash of a file, are facts of a run."""

import hashlib
from pathlib import Path

from harness import Child

REVISION = "0123456789abcdef0123456789abcdef01234567"


def facts(folder: Path, text: str, **environment: str) -> dict[str, str]:
    result = Child(folder, text).run(environment=dict(environment))
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return {name: value for [some] in result.of("environment") for name, value in some.items()}


def test_the_revision_of_a_data_set_from_the_hugging_face_hub_is_recorded(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("huggingface_hub")
    repository = tmp_path / "hub/datasets--someone--numbers"
    (repository / "snapshots" / REVISION).mkdir(parents=True)
    (repository / "snapshots" / REVISION / "train.csv").write_text("1,2\n")
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(REVISION)
    text = """\
from huggingface_hub import hf_hub_download, snapshot_download
path = hf_hub_download("someone/numbers", "train.csv", repo_type="dataset", local_files_only=True)
print(open(path).read(), snapshot_download("someone/numbers", repo_type="dataset", local_files_only=True))
"""
    found = facts(tmp_path / "run", text, HF_HUB_CACHE=str(tmp_path / "hub"), HF_HUB_OFFLINE="1")
    assert found["huggingface datasets someone/numbers"] == REVISION


def test_the_hash_of_a_file_that_keras_downloads_is_recorded(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("keras")
    require("jax")
    (tmp_path / "numbers.bin").write_bytes(b"123")
    text = f"""\
import keras
print(keras.utils.get_file("numbers.bin", "file://{tmp_path}/numbers.bin", cache_dir="."))
"""
    found = facts(tmp_path / "run", text, KERAS_BACKEND="jax")
    assert found["file numbers.bin"] == f"sha256 {hashlib.sha256(b'123').hexdigest()[:16]}"
