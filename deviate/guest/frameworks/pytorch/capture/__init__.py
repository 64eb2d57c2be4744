"""What a run keeps of PyTorch: outputs of evaluations, with true labels and a key for each example."""
