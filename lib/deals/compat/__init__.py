"""Deals services of other makers: how they write, and what Tranche does for those that lack features.

dialect, shapes    targeting and fee types as the service writes them, and errors inside of its answers
client             a service with the four calls of the specification alone
memory             what was created or seen there, remembered here: states, seats and DSPs
listing            search, filters, order and counts of such a list

This is the only door: nothing outside imports a module of this folder itself. An embedded service does
without (reading.OWN).
"""

from lib.deals.compat.client import PlainDeals, finds, has_lists
from lib.deals.compat.dialect import Dialect
from lib.deals.compat.listing import Links
from lib.deals.compat.listing import page as listed
from lib.deals.compat.memory import Memory, seats_of

__all__ = ["Dialect", "Links", "Memory", "PlainDeals", "finds", "has_lists", "listed", "seats_of"]
