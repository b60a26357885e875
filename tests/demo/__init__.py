"""The demo: its fields, its rows, its stories, and the command that makes it."""
