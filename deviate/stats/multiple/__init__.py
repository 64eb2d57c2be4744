"""Multiple comparisons: families, several experiments, several tasks."""
