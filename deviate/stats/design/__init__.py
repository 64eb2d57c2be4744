"""Study design: how many runs a question needs, and when interim looks take place."""
