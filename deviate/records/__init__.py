"""The folder format: plans, specs, attempts and events, written and read back."""
