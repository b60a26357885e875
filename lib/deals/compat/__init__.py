"""Deals services of other makers: how they write, and what Tranche does for those that lack features.

dialect, shapes    targeting and fee types as the service writes them
hidden             errors inside of answers that say that all is well
client             a service with the four calls of the specification alone
memory, recalled   what was created or seen there, remembered here and listed from here
listing            search, filters, order and counts of such a list
derived, seats     status, seats and DSPs that the service does not show

This is the only door: nothing outside imports a module of this folder itself. An embedded service does
without (codec.OWN).
"""

from lib.deals.compat.client import PlainDeals, finds, has_lists
from lib.deals.compat.dialect import Dialect
from lib.deals.compat.listing import Linked
from lib.deals.compat.listing import page as listed
from lib.deals.compat.memory import Memory, seats_of

__all__ = ["Dialect", "Linked", "Memory", "PlainDeals", "finds", "has_lists", "listed", "seats_of"]
