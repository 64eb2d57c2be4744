"""Executors: where runs are carried out, one file for each. Each registers itself when it is imported."""
