"""The user's command and `deviate.toml`: command line, entry scripts, settings, selection, saving, editing."""
