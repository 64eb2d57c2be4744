"""Utilities for all packages: lazy imports, safe use of git, digests, and redaction of secrets."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use as load_on_first_use

if TYPE_CHECKING:
    from deviate.base.anonymity import Identity as Identity
    from deviate.base.anonymity import anonymize as anonymize
    from deviate.base.anonymity import fenced as fenced
    from deviate.base.anonymity import find_identity as find_identity
    from deviate.base.decisions import log_decision as log_decision
    from deviate.base.decisions import timed_stage as timed_stage
    from deviate.base.digests import FIELD as FIELD
    from deviate.base.digests import document_digest as document_digest
    from deviate.base.digests import file_digest as file_digest
    from deviate.base.digests import with_digest as with_digest
    from deviate.base.git import SAFE as SAFE
    from deviate.base.git import git_environment as git_environment
    from deviate.base.git import only_there as only_there
    from deviate.base.git import run_git as run_git
    from deviate.base.git import safe_git as safe_git
    from deviate.base.notebooks import is_notebook as is_notebook
    from deviate.base.notebooks import line_of as line_of
    from deviate.base.notebooks import line_text as line_text
    from deviate.base.notebooks import notebook_script as notebook_script
    from deviate.base.notebooks import place_text as place_text
    from deviate.base.notebooks import set_aside_text as set_aside_text
    from deviate.base.notebooks import traceback_with_cells as traceback_with_cells
    from deviate.base.notebooks import with_cells as with_cells
    from deviate.base.redaction import known_secrets as known_secrets
    from deviate.base.redaction import redact as redact
    from deviate.base.redaction import redact_variables as redact_variables
    from deviate.base.redaction import redact_words as redact_words
    from deviate.base.redaction import split_secrets as split_secrets
    from deviate.base.setting_variables import OF_RUNS as OF_RUNS
    from deviate.base.setting_variables import SEPARATOR as SEPARATOR
    from deviate.base.setting_variables import SETTINGS as SETTINGS
    from deviate.base.setting_variables import has_variable as has_variable
    from deviate.base.setting_variables import misspelled as misspelled
    from deviate.base.setting_variables import variable_of as variable_of
    from deviate.base.setting_variables import without_settings as without_settings
    from deviate.base.text_patterns import pattern_regex as pattern_regex
    from deviate.base.texts import count as count
    from deviate.base.texts import first_few as first_few

load_on_first_use(__name__)
