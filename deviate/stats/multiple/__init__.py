"""More than one comparison at once: families, several experiments, several tasks."""
