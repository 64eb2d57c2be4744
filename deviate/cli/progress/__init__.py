"""Progress displays: a live table on a terminal, plain lines elsewhere, nothing in quiet mode."""
