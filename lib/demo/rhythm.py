"""Traffic over time: daily and weekly patterns of people, each in their time zone."""

import datetime as dt
from collections.abc import Sequence

import numpy as np

from lib.demo.draw import Floats, Ints
from lib.demo.facts import City
from lib.demo.stories import DAYS, growth

HOURS = np.array(
    [38, 24, 15, 11, 10, 13, 25, 45, 62, 70, 74, 78, 86, 84, 77, 74, 76, 82, 90, 101, 112, 110, 92, 63],
    dtype=np.float64,
)
WEEKDAYS = np.array([1.00, 1.03, 1.04, 1.02, 0.97, 0.86, 0.92])
DAILY_NOISE = 0.025


def first_day(today: dt.date) -> dt.date:
    """The first day of data, when the last is `today`."""
    return today - dt.timedelta(days=DAYS - 1)


def traffic(rng: np.random.Generator, today: dt.date, places: Sequence[City]) -> Floats:
    """How busy each hour is in each place; shape (hours since the first midnight in UTC, places)."""
    hours = np.arange(DAYS * 24)
    local = np.floor(hours[:, None] + np.array([place.offset for place in places])[None, :]).astype(np.int64)
    weekday = (first_day(today).weekday() + local // 24) % 7
    noise = np.repeat(rng.lognormal(0.0, DAILY_NOISE, DAYS), 24)[:, None]
    weight = np.array([place.weight for place in places])
    busy: Floats = HOURS[local % 24] * WEEKDAYS[weekday] * growth(places, hours) * noise * weight
    return busy


def spread(rng: np.random.Generator, busy: Floats, rows: int) -> tuple[Ints, Ints]:
    """Hour and place of each of `rows` rows, in order of time."""
    cells = rng.multinomial(rows, (busy / busy.sum()).ravel())
    hour, place = np.divmod(np.repeat(np.arange(busy.size), cells), busy.shape[1])
    return hour, place
