"""The page of what lies under `.deviate/`, with the dated history of each format."""

import inspect
import re
from collections.abc import Iterator

from deviate.records import schema
from scripts.reference.docstrings import cell

HEAD = """\
# Files

All that deviate keeps lies in the folder `.deviate/` of the project; nothing else of yours is written to, but for one
key of 32 bytes in `~/.local/state/deviate/`, with which it knows its own cache again. There is no data base: the
files are safe on network disks, can be copied, and are read by any program.

```text
.deviate/
  experiments/NAME/
    experiment.json           the plan: command, variants, number of runs, metrics; a history of changes
    snapshot/                 the project as it was frozen, with taps; manifest.json tells file by file what was done
    prepare/                  what ran once, before all runs
    runs/RUN_ID/
      spec.json               what this run is; never changed. Its hash is the id of the run
      attempt-K/
        claim.json            who runs it, since when
        events-PROCESS.jsonl  what was recorded, in order; one writer per file
        stdout.log stderr.log what the run wrote, as you would have seen it
        environment.json      versions, devices, flags, threads
        artifacts/            captured outputs and weights, predictions-….npz and weights-….npz, where asked for
        result.json           how it ended; written last, so that its presence means completion
        work/                 the run's own copy of the project, in which the command ran
  reports/NAME/               report.html, and its figures as CSV beside it
  cache/                      parsed/: trees of the files that were analysed; pictures; safe to delete
```

A run is done when its `result.json` is whole and its `spec.json` has the right hash; that is why an experiment survives
being killed at any moment, and why any scheduler can carry out one run by its id. A last line that was cut off is
dropped and counted. Numbers keep all their bits; NaN and infinities are texts. Times are in UTC.

## Damage

Each JSON file has a digest of its other fields; `result.json` lists size and SHA-256 of every other file of its
attempt, as the executor found them when the attempt ended, or whoever ended what a killed executor had left. A run
whose files are not what they were is *damaged*: reports name it and leave it out, and `deviate resume` runs it again.
Captured outputs that `deviate clean` removed are only said to be gone. Records of versions before 2026-11-23 have no
digests: they are read as ever, and a report says once that they are not verifiable. Digests find accidents, not a
forger who writes a record and its digest anew.

## Who runs what

A claim names the host, the boot of its kernel, the namespace of process numbers and the process. Where all of these
are those of the reader, the system is asked whether the process lives. Elsewhere (another machine, another container,
another boot, an older version) an executor lives as long as its claim or the files of its run change while somebody
looks on; after 60 s without a change it is given up. Clocks need not agree. What no clock has seen changing for a day
is not waited for. A run that goes on in a container after its executor was killed there, and writes nothing, cannot
be seen from another one.

## Rules that have a number

`streams` is the number of the rule that says which draw belongs to which stream, `scores` that of how a score is
made; both stand in plan and spec, and are left out at 1. An experiment goes on under the numbers that it began with,
with the guest of its own snapshot. Runs under different numbers are never compared as pairs, and the report says so.

## Plug-ins

`plugins` in the plan names the sinks and framework adapters of other packages whose files lie in
`snapshot/guest/_deviate_guest/plugins/`: group, name, module, package and version of each. It is left out where there
are none. Runs load these copies, also when the package has changed or is gone.

## Formats

Each format has a number, `schema`, and every number of the past is still read. Written from
`deviate/records/schema.py` by `python -m scripts.reference`.
"""
LINE = re.compile(r"#\s*(\d{4}-\d\d-\d\d)\s+(\d+)\s+(.*)")
ENTRY = re.compile(r'^\s*"(\w+)": \d+,')


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    rows = [f"| {name} | {number} | {date} | {cell(text)} |" for name, number, date, text in _history()]
    return "\n".join([HEAD, "| file | schema | since | change |\n|---|---|---|---|", *rows]) + "\n"


def _history() -> Iterator[tuple[str, str, str, str]]:
    """The dated comments: above an entry, or behind it."""
    waiting: list[tuple[str, str, str]] = []
    for line in inspect.getsource(schema).splitlines():
        found, entry = LINE.search(line), ENTRY.match(line)
        if found:
            waiting.append((found[2], found[1], found[3]))
        if entry:
            yield from ((f"{entry[1]}.json", *it) for it in waiting)
            waiting = []
