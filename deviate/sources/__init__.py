"""Sources of difference: what can make two runs of one script differ. Each registers itself when it is imported."""
