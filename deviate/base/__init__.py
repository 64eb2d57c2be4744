"""Utilities for all packages: safe use of git, digests, and redaction of secrets."""
