"""Measures of how similar runs are in outputs and weights, beyond their scores: arrays in, findings out."""
