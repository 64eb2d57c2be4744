"""Minimum numbers of runs for each statement, and numbers of resamples, shared by statistics and reports."""

VERDICT_RUNS = 5
"""Fewer runs on a side are described, never judged: no verdict, equivalence, band, log-rank test, Dunnett."""
PAIRED_RUNS = 8
"""Fewest pairs that are judged: by flips of their signs 7 cannot fall below .0156, which two comparisons double."""
PAIRED_ALONE_RUNS = 6
"""Fewest pairs where a comparison is alone and no look is declared; 5 pairs cannot fall below .0625."""
SPREAD_RUNS = 16
"""With fewer runs nothing is said about which side is steadier: the interval of a ratio of SDs is too wide for it."""
N_RESAMPLES = 9999
"""Of runs: exchanges of a permutation test, and draws of a bootstrap."""
