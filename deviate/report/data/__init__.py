"""The data behind a report: what machines read of it, beside the page and in it."""
