"""The client of an installation, embedded and remote."""
