"""`--debug`: the log of decisions on standard error, and what becomes of an unexpected exception."""

import logging
import os
import platform
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate import __version__
from deviate.base.decisions import log_decision
from deviate.base.redaction import known_secrets, redact, redact_words
from deviate.base.setting_variables import SETTINGS, variable_of
from deviate.registry import plugin_groups, plugins

ROOT = "deviate"


class DebugHandler(logging.Handler):
    """Writes each record as one line without secrets to what is standard error then, which a progress display moves."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.secrets = known_secrets(os.environ)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; logging calls this."""
        try:
            text = redact(" ".join(record.getMessage().split()), self.secrets)
            moment = f"{time.strftime('%H:%M:%S', time.localtime(record.created))}.{int(record.msecs):03}"
            typer.echo(f"{moment} {record.name}: {text}", err=True)
        except Exception:  # noqa: BLE001  (logging's own way: a line that cannot be written is no reason to end)
            self.handleError(record)


def start_log(arguments: Sequence[str]) -> None:
    """Show the log from now on, until `stop_log`."""
    logger = logging.getLogger(ROOT)
    logger.addHandler(DebugHandler())
    logger.setLevel(logging.DEBUG)
    log_decision("cli", "deviate %s, Python %s, %s", __version__, platform.python_version(), platform.platform())
    log_decision("cli", "called as deviate %s in %s", shlex.join(redact_words(arguments)), Path.cwd())
    used = [variable_of(setting) for setting in SETTINGS if variable_of(setting) in os.environ]
    log_decision("cli", "variables of settings: %s", " ".join(f"{name}={os.environ[name]}" for name in used) or "none")
    declared = [plugin for group in plugin_groups() for plugin in plugins(group)]
    texts = [f"{plugin.group}: {plugin.name} of {plugin.package} {plugin.version}" for plugin in declared]
    log_decision("registry", "plug-ins declared: %s", ", ".join(texts) or "none")


def is_logging() -> bool:
    """Whether the log is shown."""
    return any(isinstance(handler, DebugHandler) for handler in logging.getLogger(ROOT).handlers)


def stop_log(code: int, began: float) -> None:
    """Log the end of the call, and show no more; nothing where nothing was shown."""
    logger = logging.getLogger(ROOT)
    for handler in [handler for handler in logger.handlers if isinstance(handler, DebugHandler)]:
        log_decision("cli", "exit code %s after %.3f s", code, time.perf_counter() - began)
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
