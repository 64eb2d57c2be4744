"""The trace of PyTorch: losses, updates and modules, and single operations in `operations`."""
