"""Alerts: whether watched figures are past their bounds, and messages about those that fire or clear."""

from lib.share.alerts.watch import watching

__all__ = ["watching"]
