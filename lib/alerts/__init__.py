"""Alerts: whether watched figures are past their bounds, and messages about those that fire or clear."""

from lib.alerts.watch import watching

__all__ = ["watching"]
