"""The command line: flags into requests, findings into text, errors into exit codes. The only room that prints."""

from deviate.cli.app import app
from deviate.cli.main import main

__all__ = ["app", "main"]
