"""Commands for copying: `deviate diverge` for the command of an experiment."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from deviate.base import redact_words
from deviate.report.format import clean

CONTROL = "control"
WARN_ONLY = "--warn-only"


def diverge_command(
    command: Sequence[str], variant: str = CONTROL, flags: str = "", *, command_flags: Sequence[str] = ()
) -> str:
    """The command line that runs the experiment's command twice and finds where the runs diverge.

    Args:
        command: of the experiment; a script behind a bare interpreter is named as a user would name it.
        flags: further ones, as they are to be written.
        command_flags: those that the user gave, word by word.
    """
    words = redact_words(command)
    is_script = len(words) > 1 and PurePath(words[0]).name.startswith("python") and words[1].endswith(".py")
    if is_script or (words and words[0].endswith(".py")):
        script, *arguments = words[1:] if is_script else words
        before, after = [script], arguments
    else:
        before, after = [], list(words)
    further = shlex.split(flags)
    has_variant = "--variant" in further or variant in {"", CONTROL}
    option_words = [] if has_variant else ["--variant", variant]
    option_words += [word for word in redact_words(command_flags) if word != WARN_ONLY or WARN_ONLY not in further]
    text = shlex.join(["deviate", "diverge", *before, *option_words])
    text += f" {flags}" if flags else ""
    return clean(text + (f" -- {shlex.join(after)}" if after else ""))
