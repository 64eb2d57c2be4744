"""Where two runs diverge, as a document: the answer first, then the details."""
