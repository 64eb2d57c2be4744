"""The command line: flags into requests, findings into text, errors into exit codes. The only room that prints."""

from deviate.cli import (
    analyze,
    check,
    clean,
    compare,
    diverge,
    doctor,
    imports,
    overhead,
    plan,
    records,
    resume,
    run,
    show,
    worker,
)
from deviate.cli.app import app
from deviate.cli.main import main

__all__ = [
    "analyze",
    "app",
    "check",
    "clean",
    "compare",
    "diverge",
    "doctor",
    "imports",
    "main",
    "overhead",
    "plan",
    "records",
    "resume",
    "run",
    "show",
    "worker",
]
