"""Options of verbs: groups of flags, each flag declared once, as a field of a frozen dataclass."""
