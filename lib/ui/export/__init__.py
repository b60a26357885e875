"""The screen Export."""
