"""Captures evaluations in PyTorch: outputs, with labels and a key per example."""
