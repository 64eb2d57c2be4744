"""From reports to metrics: candidates, evidence, names."""
