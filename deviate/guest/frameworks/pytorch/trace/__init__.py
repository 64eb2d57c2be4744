"""The trace of PyTorch: losses, updates, modules and, in `operations`, one operation after the other."""
