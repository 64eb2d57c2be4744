"""The command line: flags into requests, findings into text, errors into exit codes. The only room that prints."""

from deviate.cli import analyze, check, clean, compare, doctor, imports, plan, records, resume, run, show, worker
from deviate.cli.app import app
from deviate.cli.main import main

__all__ = [
    "analyze",
    "app",
    "check",
    "clean",
    "compare",
    "doctor",
    "imports",
    "main",
    "plan",
    "records",
    "resume",
    "run",
    "show",
    "worker",
]
