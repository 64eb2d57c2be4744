"""Names of the aggregates, which reduce the values of a run to its score."""

AT, MEAN_LAST, AT_BEST = "at:", "mean-last:", "at-best:"
"""Prefixes of the aggregates that take a step, a number of steps, and the name of a metric."""
PLAIN = ("last", "best", "mean", "median", "min", "max")
AGGREGATES = (*PLAIN, f"{AT}K", f"{MEAN_LAST}K", f"{AT_BEST}METRIC")
