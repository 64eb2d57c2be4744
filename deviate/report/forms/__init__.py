"""Forms: a document becomes text. One file per form, registered by name."""
