"""How many runs a question takes, and when they are looked at."""
