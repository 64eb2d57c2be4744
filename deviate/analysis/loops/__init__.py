"""The main loop: which loop trains."""
