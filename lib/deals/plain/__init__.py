"""Deals over a service that keeps no lists: what it does is asked there, what it shows is remembered here."""

from lib.deals.plain.client import PlainDeals, has_lists
from lib.deals.plain.memory import Memory
from lib.deals.plain.seats import seats_of

__all__ = ["Memory", "PlainDeals", "has_lists", "seats_of"]
