"""Results that something else wrote, as runs with measurements: one file per format."""
