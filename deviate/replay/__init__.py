"""From a snapshot to run folders: variants, plans, and the executors that carry them out."""
