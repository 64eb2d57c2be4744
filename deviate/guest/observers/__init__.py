"""Observers: what is recorded of a training, whatever framework it uses. They know no framework."""
