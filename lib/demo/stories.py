"""The stories that an analyst can find in the demo. Everything else is random, or the rhythm of traffic.

1. `delivery`: twelve days before the last day, the win rate of the publisher Blue Door News (1007) collapses
   to about an eighth, for that one day. Bids stay as they were.
2. Both slicers: Brazil grows by 12 % a week, more than twofold over the sixty days.
3. `delivery`: in Opera, ads are seen less than half as often as in other browsers, on every site.
4. `curation`: deal 27 bids as much as the busiest deals, and never wins.
5. Packages 1 and 8 ask for a size that no site sells (see deals.py): a dead target.
6. `curation`: eight days before the last day, the floor of deal 25 of package 1 is raised above all that its
   buyer pays. It bids as before and stops winning, and impressions drop. docs/story.md repairs it.
7. `curation`: twenty days before the last day, the floor of deal 8 is raised by a third, and it wins less.
"""

from collections.abc import Sequence

import numpy as np

from lib.demo.facts import City, Flags, Floats, Ints

DAYS = 61
PUBLISHER, DAYS_BEFORE_END, WIN_RATE_LEFT = "1007", 12, 0.12
COUNTRY, WEEKLY_GROWTH = "BR", 1.12
BROWSER, VIEWABILITY_LEFT = "Opera", 0.45
DEAL = 27
CHEAP_DEAL, CHEAP_SHARE, CHEAP_DAYS = 25, 2.0, 8
CHEAP_BID_RATE, CHEAP_WIN_RATE = 0.4, 0.25
RAISED_DEAL, RAISED_DAYS, RAISED_BY, RAISED_WINS = 8, 20, 4 / 3, 0.6
FLOORS_RAISED = {CHEAP_DEAL: (CHEAP_DAYS, 2.0), RAISED_DEAL: (RAISED_DAYS, RAISED_BY)}
"""Deals whose floor was raised: how many days before the last one, and by which factor."""


def growth(places: Sequence[City], hours: Ints) -> Floats:
    """Story 2, as a factor per hour and place: 1 but for the growing country."""
    grows = np.array([place.country == COUNTRY for place in places])
    return np.where(grows[None, :], WEEKLY_GROWTH ** (hours / 168)[:, None], 1.0)


def win_rate_factor(hour: Ints, of_publisher: Flags) -> Floats:
    """Story 1, as a factor per row."""
    collapsed = of_publisher & (hour // 24 == DAYS - 1 - DAYS_BEFORE_END)
    return np.where(collapsed, WIN_RATE_LEFT, 1.0)


def viewability_factor(of_browser: Flags) -> Floats:
    """Story 3, as a factor per row."""
    return np.where(of_browser, VIEWABILITY_LEFT, 1.0)


def still_wins(hour: Ints, deal: Ints) -> Floats:
    """Stories 4, 6 and 7, as a factor per row; `deal` are ids."""
    stopped = (deal == CHEAP_DEAL) & (hour // 24 >= DAYS - 1 - CHEAP_DAYS)
    return np.where(stopped | (deal == DEAL), 0.0, np.where(is_raised(hour, deal), RAISED_WINS, 1.0))


def is_raised(hour: Ints, deal: Ints) -> Flags:
    """Story 7: which rows are of the deal since its floor was raised; `deal` are ids."""
    raised: Flags = (deal == RAISED_DEAL) & (hour // 24 >= DAYS - 1 - RAISED_DAYS)
    return raised
