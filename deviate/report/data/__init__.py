"""The data behind a report, for programs: files beside the page, and data embedded in it."""
