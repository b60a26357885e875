"""Changes of several packages and deals at once: a preview, a confirmation, progress, undo; and proposals."""
