"""What a run reported: the words around its numbers, which of them are results, and which one leads."""
