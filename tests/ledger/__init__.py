"""Scoring forecasts: what came of them, and those of past days."""
