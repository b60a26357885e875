"""The screen Services."""
