"""Prepares a release, and checks whether it may be tagged. Nothing is committed, tagged or pushed.

scripts/release VERSION          version, changelog, derived files, distributions in dist/
scripts/release --check          what stands in the way of the tag
scripts/release --build          the distributions alone, checked
scripts/release --derive         the derived files alone
scripts/release --notes          the section of the changelog
scripts/release --recipe SDIST   the recipe for conda-forge, with the digest of that file
"""

import argparse
import hashlib
import sys
from pathlib import Path

from scripts.releasing.changelog import section_of
from scripts.releasing.derived import write_derived, write_recipe
from scripts.releasing.facts import read_facts
from scripts.releasing.prepare import build, prepare
from scripts.releasing.problems import problems, publication_problems

ROOT = Path(__file__).parents[2]


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Exit code 1 where something stands in the way."""
    parser = argparse.ArgumentParser(
        prog="scripts/release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    step = parser.add_mutually_exclusive_group(required=True)
    step.add_argument("version", nargs="?", metavar="VERSION")
    step.add_argument("--check", action="store_true")
    step.add_argument("--build", action="store_true")
    step.add_argument("--derive", action="store_true")
    step.add_argument("--notes", action="store_true")
    step.add_argument("--recipe", type=Path, metavar="SDIST")
    parser.add_argument("--tagged", metavar="TAG", help="with --check: the commit has this tag already")
    options = parser.parse_args(arguments)
    try:
        if options.version:
            return _prepare(root, options.version)
        if options.check:
            return _check(root, options.tagged)
        if options.build:
            print(*(path.relative_to(root) for path in build(root)), sep="\n")
        elif options.derive:
            print(*(write_derived(root, read_facts(root)) or ["All derived files are up to date."]), sep="\n")
        elif options.notes:
            print(section_of(root, read_facts(root).version), end="")
        else:
            digest = hashlib.sha256(options.recipe.read_bytes()).hexdigest()
            print(write_recipe("", read_facts(root), digest), end="")
    except (OSError, ValueError) as error:
        print(f"scripts/release: {error}", file=sys.stderr)
        return 1
    return 0


def _prepare(root: Path, version: str) -> int:
    prepare(root, version)
    print(*(path.relative_to(root) for path in build(root)), sep="\n")
    if blanks := list(publication_problems(read_facts(root).publication)):
        print("\nTo be filled in before the tag, then scripts/release --derive:")
        print(*(f"  {blank}" for blank in blanks), sep="\n")
    print(
        f"\nNext: look at git diff HEAD, then\n"
        f"  git commit --all --message 'Release {version}'\n"
        f"  scripts/release --check && git tag --annotate v{version} --message 'deviate {version}'\n"
        f"Pushing the branch and the tag starts .github/workflows/release.yml, which publishes."
    )
    return 0


def _check(root: Path, tag: str | None) -> int:
    lines = list(problems(root, read_facts(root), tag))
    for line in lines:
        print(line, file=sys.stderr)
    if not lines:
        print("Nothing stands in the way of the tag.")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
