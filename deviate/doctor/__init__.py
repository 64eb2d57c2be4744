"""Asks the user's interpreter for its frameworks, tests what can be controlled in them, and judges the answers."""
