"""The page of what lies under `.deviate/`."""

HEAD = """\
# Files

deviate stores everything in the folder `.deviate/` of the project, except what `deviate doctor`
[keeps](doctor.md#what-is-kept) in the user's cache folder. There is no database: the files are safe on network disks,
can be copied, and any program can read them.

```text
.deviate/
  experiments/NAME/
    experiment.json           the plan: command, variants, number of runs, metrics; a history of changes
    snapshot/                 the frozen project, with taps; manifest.json lists the changes file by file
    prepare/                  the run of --prepare, once before all runs
    runs/RUN_ID/
      spec.json               definition of this run; never changed. Its hash is the id of the run
      attempt-K/
        claim.json            the process that executes it, and since when
        events-PROCESS.jsonl  recorded events, in order; one writer per file
        stdout.log stderr.log output of the run, unchanged
        environment.json      versions, devices, flags, threads
        artifacts/            captured outputs and weights, predictions-….npz and weights-….npz, if requested
        result.json           outcome; written last, so that its presence means completion
        work/                 copy of the project in which the command ran
  reports/NAME/               report.html, and its figures as CSV beside it
  list.json                   what deviate list showed of experiments that had ended; safe to delete
  cache/                      what a command needs while it runs; safe to delete
```

A run is done if its `result.json` is complete and its `spec.json` has the right hash. So an experiment survives a kill
at any time, and any scheduler can execute one run by its id. A last line that was cut off is dropped and counted.
Numbers keep all their bits; NaN and infinities are strings. Times are in UTC.

## Damage

Each JSON file has a digest of its other fields. `result.json` lists size and SHA-256 of every other file of its
attempt, at the time when the attempt ended or was ended after its executor was killed. A run whose files have changed
is *damaged*: reports name it and leave it out, and `deviate resume` runs it again. Captured outputs that
`deviate clean` removed are reported as missing, not as damage. Digests detect accidents, not a forged record with a new
digest.

## Which process executes a run

A claim names the host, the boot of its kernel, the namespace of process numbers and the process. If all of these match
those of the reader, the system tells whether the process lives. Otherwise (another machine, another container, another
boot) an executor counts as alive while its claim or the files of its run change; after 60 s of watching without a
change it is given up. Clocks need not agree. If no clock shows a change for a day, nothing waits for
the executor. A run that continues in a container after its executor was killed there, and writes nothing, cannot be
detected from another one.

## Numbered rules

`streams` is the number of the rule that assigns draws to streams, `scores` that of the rule that computes a score. Both
are in plan and spec. An experiment continues under the numbers that it began with, with the
guest of its own snapshot. Runs under different numbers are never compared as pairs, and the report says so.

## Plug-ins

`plugins` in the plan lists the sinks and framework adapters of other packages whose files are in
`snapshot/guest/_deviate_guest/plugins/`: group, name, module, package and version of each. Runs load these copies, even
if the package has changed or is gone.

## Formats

Each JSON file has the number of its format, `schema`; a file with another number is refused.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return HEAD
