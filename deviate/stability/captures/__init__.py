"""Captured files of an experiment become arrays: outputs of aligned examples, and weights by layer."""
