"""The stories that an analyst can find in the demo. Everything else is random, or the rhythm of traffic.

1. `delivery`: twelve days before the last day, the win rate of the publisher Blue Door News (1007) collapses
   to about an eighth, for that one day. Bids stay as they were.
2. Both slicers: Brazil grows by 12 % a week, more than twofold over the sixty days.
3. `delivery`: in Opera, ads are seen less than half as often as in other browsers, on every site.
4. `curation`: deal 27 bids as much as the busiest deals, and never wins.
5. Packages 1 and 8 ask for a size that no site sells (see deals.py): a dead target.
6. `curation`: eight days before the last day, the floor of deal 25 of package 1 is raised above all that its
   buyer bids. It bids as before and stops winning, and impressions drop. docs/story.md repairs it.
7. `curation`: deals broken by a cause each (BROKEN): floors that were raised, a fixed price that was
   lowered, a creative that is rejected, an advertiser that publishers block; the budget of deal 18 ends;
   package 9 is narrowed to two countries. Their losses have reasons.
8. Package 5 is partly unauthorized (see supply_files.py), which is the reason why its deals need attention.
9. The buyer of deal 37 of package 1 counts a third fewer bid requests than the report, since twelve days
   before the last one (see buyer.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lib.demo.facts import City, Flags, Floats, Ints

DAYS = 61
PUBLISHER, DAYS_BEFORE_END, WIN_RATE_FACTOR = "1007", 12, 0.12
COUNTRY, WEEKLY_GROWTH = "BR", 1.12
BROWSER, VIEWABILITY_FACTOR = "Opera", 0.45
DEAL = 27
CHEAP_DEAL, CHEAP_SHARE, CHEAP_DAYS = 25, 2.0, 8
CHEAP_BID_RATE, CHEAP_WIN_RATE = 0.4, 0.25
RAISED_DEAL = 8
DOUBTED_DEAL, DOUBTED_DAYS, DOUBTED_FACTOR = 37, 12, 0.69
FLOOR, OUTBID, EXPIRED = "Bid below the deal's floor", "Lost to a higher bid", "Impression expired"
CREATIVE, BLOCKED, BUDGET = "Creative disapproved", "Advertiser blocked by the publisher", "Budget reached"
USUAL_REASONS = {OUTBID: 0.8, FLOOR: 0.1, EXPIRED: 0.1}
FIXED_DEAL = 20
BROKE_DEAL, BROKE_DAYS, BROKE_SPEND = 18, 31, 12
"""The deal whose buyer's budget ended: it bids no more. What it spent is some more than this, in dollars."""
NARROWED_PACKAGE, NARROWED_DAYS, NARROWED_TO = 9, 38, ("AU", "DE")


@dataclass(frozen=True)
class BrokenDeal:
    """A deal that loses what it won from some days before the last one on: the part of its wins that is left,
    the reason, and the factor of its price, which was changed that day (1: it was not)."""

    deal: int
    days: int
    win_share: float
    reason: str
    price: float = 1.0


BROKEN = (
    BrokenDeal(CHEAP_DEAL, CHEAP_DAYS, 0.0, FLOOR, 2.0),
    BrokenDeal(RAISED_DEAL, 20, 0.6, FLOOR, 4 / 3),
    BrokenDeal(20, 33, 0.3, OUTBID, 0.6),
    BrokenDeal(10, 34, 0.1, CREATIVE),
    BrokenDeal(12, 36, 0.25, BLOCKED),
)
PRICE_CHANGES = {broken.deal: broken for broken in BROKEN if broken.price != 1}


def growth(cities: Sequence[City], hours: Ints) -> Floats:
    """Story 2, as a factor per hour and place: 1 but for the growing country."""
    grows = np.array([city.country == COUNTRY for city in cities])
    return np.where(grows[None, :], WEEKLY_GROWTH ** (hours / 168)[:, None], 1.0)


def win_rate_factor(hour: Ints, of_publisher: Flags) -> Floats:
    """Story 1, as a factor per row."""
    is_collapse = of_publisher & (hour // 24 == DAYS - 1 - DAYS_BEFORE_END)
    return np.where(is_collapse, WIN_RATE_FACTOR, 1.0)


def viewability_factor(of_browser: Flags) -> Floats:
    """Story 3, as a factor per row."""
    return np.where(of_browser, VIEWABILITY_FACTOR, 1.0)


def still_wins(hour: Ints, deal: Ints) -> Floats:
    """Stories 4, 6 and 7: which part of its wins each row keeps; `deal` are ids."""
    win_share = np.where(deal == DEAL, 0.0, 1.0)
    for broken in BROKEN:
        win_share[since(hour, broken.days) & (deal == broken.deal)] = broken.win_share
    win_share[is_broke(hour, deal)] = 0.0
    return win_share


def price_factor(hour: Ints, deal: Ints) -> Floats:
    """Story 7: the factor of the price that is paid in each row; `deal` are ids."""
    factor = np.ones(len(deal))
    for broken in BROKEN:
        factor[since(hour, broken.days) & (deal == broken.deal)] = broken.price
    return factor


def is_broke(hour: Ints, deal: Ints) -> Flags:
    """Story 7: rows of the deal whose budget has ended; `deal` are ids."""
    rows: Flags = since(hour, BROKE_DAYS) & (deal == BROKE_DEAL)
    return rows


def since(hour: Ints, days: int) -> Flags:
    """Rows from so many days before the last day on."""
    late: Flags = hour // 24 >= DAYS - 1 - days
    return late
