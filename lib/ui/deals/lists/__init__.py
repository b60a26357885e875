"""Domain and app lists: found, created, filled, renamed, deleted."""
