"""Static analysis of a training script: what it trains and reports, found without running it."""
