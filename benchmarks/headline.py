"""Whether the headline of `deviate run` is the result that a script itself announces, for scripts that are no tests.

    python benchmarks/headline.py DEVIATE WORK [NAME ...] [--check]

DEVIATE is the program, in the folder of the `python` that has the scripts' packages; WORK a folder where each script
gets one of its own, which must not exist yet. benchmarks/headline has a folder for each script, with `train.py` and
with `want.json`, written before deviate was run on it: `tests/support/headline.py` says what it may hold, and checks
it. For each script it prints "right" or "short" with all that is not as labelled, and in the end how many are right.
With `--check` the exit code is 1 where fewer than nine of ten are.
"""

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from headline import ask_deviate, find_problems, read_cases

FOLDER = Path(__file__).parent / "headline"
LEAST_SHARE = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deviate")
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    program = shutil.which(options.deviate)
    if program is None:
        parser.error(f"there is no program {options.deviate}")
    cases = [case for case in read_cases(FOLDER) if not options.names or case.name in options.names]
    if unknown := set(options.names) - {case.name for case in cases}:
        parser.error(f"there is no script {', '.join(sorted(unknown))}")
    path = Path(program).absolute()
    n_right = 0
    for case in cases:
        said = ask_deviate(case, options.work / case.name, (str(path),), bin_folder=path.parent)
        problems = find_problems(case, said)
        n_right += not problems
        answer = f"short  {case.name}  {'; '.join(problems)}" if problems else f"right  {case.name}  ({said.headline})"
        print(answer, flush=True)
    print(f"\n{n_right} of {len(cases)} right")
    return 1 if options.check and n_right < LEAST_SHARE * len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
