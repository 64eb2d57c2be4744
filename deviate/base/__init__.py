"""Utilities for all packages: lazy imports, safe use of git, digests, and redaction of secrets."""
