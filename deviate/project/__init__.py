"""The user's command and `deviate.toml`: command line, entry scripts, settings, editing, selection, review."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.project.command import CONFIG as CONFIG
    from deviate.project.command import default_python as default_python
    from deviate.project.command import project_root as project_root
    from deviate.project.command import refuse_missing_script as refuse_missing_script
    from deviate.project.command import refuse_unknown_program as refuse_unknown_program
    from deviate.project.command import with_interpreter as with_interpreter
    from deviate.project.config import CaptureConfig as CaptureConfig
    from deviate.project.entry_scripts import entries_document as entries_document
    from deviate.project.entry_scripts import refuse_folder as refuse_folder
    from deviate.project.entry_scripts import render_entries as render_entries
    from deviate.project.prepare import AnalyzedScript as AnalyzedScript
    from deviate.project.prepare import PreparedScript as PreparedScript
    from deviate.project.prepare import analyze_target as analyze_target
    from deviate.project.prepare import apply_config as apply_config
    from deviate.project.prepare import find_target as find_target
    from deviate.project.prepare import prepare as prepare
    from deviate.project.prepare import review as review
    from deviate.project.prepare import save as save
    from deviate.project.review import Terminal as Terminal

load_on_first_use(__name__)
