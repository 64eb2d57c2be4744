"""Resolves the user's expressions: names, values and origins."""
