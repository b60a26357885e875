"""Computing the health of all deals in the background, and keeping it current."""

from lib.deal_health.watch import computing

__all__ = ["computing"]
