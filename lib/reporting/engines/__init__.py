"""Engines turn a question into sums."""
