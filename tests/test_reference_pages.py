"""The pages of the reference that are written from the code say what the code says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_no_page_of_the_reference_is_older_than_the_code() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.reference", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
