"""Alerts: whether watched figures are past their bounds, and messages about those that fire or clear."""
