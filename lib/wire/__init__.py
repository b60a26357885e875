"""Shared by both APIs: the error tree, the deadline, one HTTP call."""
