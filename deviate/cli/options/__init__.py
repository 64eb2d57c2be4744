"""Options of commands: groups of flags, each declared once as a field of a frozen dataclass."""
