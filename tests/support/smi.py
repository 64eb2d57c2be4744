"""A program in the place of nvidia-smi that answers as the driver of another machine does."""

import shlex
import tomllib
from pathlib import Path
from typing import Any

MACHINES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("smi.toml").read_text())


def write_smi(path: Path, machine: str) -> None:
    """Write the program of a machine in smi.toml."""
    answers = MACHINES[machine]
    listing, query, table = (shlex.quote(answers[name].strip()) for name in ("listing", "query", "table"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "#!/bin/sh\ncase $1 in\n"
        f"-L) echo {listing};;\n"
        f"--query-gpu=name,driver_version,memory.total) echo {query};;\n"
        f"'') echo {table};;\n"
        '*) echo "Invalid combination of input arguments"; exit 2;;\n'
        f"esac\nexit {answers.get('code', 0)}\n"
    )
    path.chmod(0o755)
