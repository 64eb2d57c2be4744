"""The values that cross the walls between rooms: frozen, typed, and without behaviour of their own.

analysis gives an `Analysis`; the user's choice makes it a `Selection`; instrument freezes a `Snapshot`;
replay fills run folders; records reads them back as an `Experiment`; stats judges and gives `Findings`.

Conventions: `file` is relative to the project root with forward slashes; lines count from 1, columns from 0 in
characters; times are in seconds, points in time in seconds since the epoch (UTC).
"""
