"""Probes, one file per framework; each is loaded separately, by its path, into the user's interpreter."""
