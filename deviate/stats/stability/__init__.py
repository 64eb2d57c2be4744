"""Stability: how alike runs are in outputs and weights, beyond their scores."""
