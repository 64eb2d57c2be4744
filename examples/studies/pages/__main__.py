"""Writes the page of results of a study from its documents and records: `python pages STUDY --documents FOLDER`."""

import argparse
import importlib
from pathlib import Path

from study import Study

STUDIES = ("adversarial", "identical", "factors", "sources")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--size", choices=["small", "full", "tiny"], default="small")
    parser.add_argument("--documents", type=Path, required=True, help="folder of JSON reports, one per experiment")
    parser.add_argument("--output", type=Path, required=True, help="folder for the page and its figures")
    parser.add_argument("--load", default="not noted", help="load average before the start")
    args = parser.parse_args()
    study = Study(args.study, args.size, args.documents, args.output, args.load)
    page = importlib.import_module(f"of_{args.study}").page(study)
    target = args.output / f"{study.prefix}.md"
    target.write_text(page.rstrip("\n") + "\n", encoding="utf-8")
    print(f"written: {target.name}")


if __name__ == "__main__":
    main()
