"""From reporting calls to metrics: candidates, evidence, names."""
