"""Score the analyzer on labelled scripts: precision, recall and main loop, for one file at a time.

    python benchmarks/analyzer.py LABELS.json SOURCES [--score SCORE.py] [--trait single-file] [--verbose]

SOURCES holds owner+name/<commit>/ checkouts; SCORE.py is the scoring program that came with the labels
(default: score.py beside them).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ANALYZER = """
import json, sys
from pathlib import Path
from deviate.analysis import analyze, to_document
print(json.dumps(to_document(analyze(Path(sys.argv[1]), Path.cwd()))))
"""


def main() -> int:
    """Run the scoring program over the entries that are asked for and that have sources."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--score", type=Path, help="the scoring program")
    parser.add_argument("--trait", help="only entries with this trait")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    entries = json.loads(options.labels.read_text(encoding="utf-8"))
    present = [
        entry["id"]
        for entry in entries
        if (options.sources / entry["repo"].replace("/", "+") / entry["commit"] / entry["script"]).is_file()
        and (options.trait is None or options.trait in entry["traits"])
    ]
    if not present:
        sys.exit("no entry of the labels has its sources in this folder")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "run_analyzer.py"
        script.write_text(ANALYZER, encoding="utf-8")
        command = [sys.executable, str(options.score or options.labels.parent / "score.py"), str(options.labels)]
        command += ["--sources", str(options.sources), "--analyzer", f"{sys.executable} -P {script}"]
        command += [argument for name in present for argument in ("--only", name)]
        command += ["--verbose"] if options.verbose else []
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
