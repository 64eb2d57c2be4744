"""What a third party adds to deviate: one file for each."""
