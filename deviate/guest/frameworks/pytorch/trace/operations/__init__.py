"""Level 4 of the trace of PyTorch: operations, with line, module and checksum."""
