"""Known causes of divergence: the evidence for each, and its remedy."""
