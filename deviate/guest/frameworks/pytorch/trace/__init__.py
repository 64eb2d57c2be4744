"""The trace of PyTorch: losses, updates and modules (`tracer`), and at level 4 single operations (`dispatch`)."""
