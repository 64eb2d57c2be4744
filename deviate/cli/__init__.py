"""The command line: flags into requests, findings into text, errors into exit codes. The only room that prints."""

from deviate.cli.app import app, main

__all__ = ["app", "main"]
