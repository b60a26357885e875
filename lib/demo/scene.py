"""Place, time and user of each row of both slicers: traffic by hour and weekday in each time zone."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lib.demo.facts import City, Floats, Ints, agents, countries, places, versions
from lib.demo.population import Population, populate, zip_labels
from lib.demo.stories import DAYS, growth

EPOCH_HOUR = 3600
HOURS = np.array(
    [38, 24, 15, 11, 10, 13, 25, 45, 62, 70, 74, 78, 86, 84, 77, 74, 76, 82, 90, 101, 112, 110, 92, 63],
    dtype=np.float64,
)
WEEKDAYS = np.array([1.00, 1.03, 1.04, 1.02, 0.97, 0.86, 0.92])
DAILY_NOISE = 0.025
EPOCH = dt.date(1970, 1, 1)
ROWS_A_USER = 3
PLATFORM_COUNT = 3
_OF_PLACE = ("country", "region", "city", "dma")
_OF_AGENT = ("device_type", "maker", "model", "os", "browser")


def text(codes: Ints, labels: Sequence[str]) -> pa.DictionaryArray:
    """Row n has the text `labels[codes[n]]`; the empty text is a missing value. Labels may repeat."""
    values, index = np.unique(np.asarray(labels, dtype=object), return_inverse=True)
    places = index[codes].astype(np.int32)
    missing = (values == "")[places]
    indices = pa.array(places, mask=missing) if missing.any() else pa.array(places)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values.tolist(), pa.string()))


def lists(codes: Ints, variants: Sequence[Sequence[str]]) -> pa.ListArray:
    """Row n has the texts `variants[codes[n]]`."""
    elements, labels = np.array([len(variant) for variant in variants]), [t for v in variants for t in v]
    lengths = elements[codes]
    ends = np.cumsum(lengths)
    begins = (np.cumsum(elements) - elements)[codes]
    places = np.arange(ends[-1]) + np.repeat(begins - ends + lengths, lengths)
    offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, text(places, labels))


def numbers(values: Ints | Floats) -> pa.Array:
    """Numbers as data fields are stored: float64."""
    return pa.array(values.astype(np.float64))


def instants(first_day: int, hour: Ints) -> pa.Array:
    """UTC instants: `hour` counts from midnight of `first_day`, which counts from 1970."""
    return pa.array((first_day * 24 + hour) * EPOCH_HOUR, pa.timestamp("s", tz="UTC"))


def first_day(today: dt.date) -> dt.date:
    """The first day of data, when the last is `today`."""
    return today - dt.timedelta(days=DAYS - 1)


def traffic(rng: np.random.Generator, today: dt.date, cities: Sequence[City]) -> Floats:
    """How busy each hour is in each place; shape (hours since the first midnight in UTC, places)."""
    hours = np.arange(DAYS * 24)
    local = np.floor(hours[:, None] + np.array([city.offset for city in cities])[None, :]).astype(np.int64)
    weekday = (first_day(today).weekday() + local // 24) % 7
    noise = np.repeat(rng.lognormal(0.0, DAILY_NOISE, DAYS), 24)[:, None]
    weight = np.array([city.weight for city in cities])
    busy: Floats = HOURS[local % 24] * WEEKDAYS[weekday] * growth(cities, hours) * noise * weight
    return busy


def spread(rng: np.random.Generator, busy: Floats, rows: int) -> tuple[Ints, Ints]:
    """Hour and place of each of `rows` rows, in order of time."""
    cells = rng.multinomial(rows, (busy / busy.sum()).ravel())
    hour, place = np.divmod(np.repeat(np.arange(busy.size), cells), busy.shape[1])
    return hour, place


@dataclass(frozen=True)
class Scene:
    """Per row, in order of time: the hour since the first midnight (UTC), the user, and what follows."""

    first: dt.date
    hour: Ints
    user: Ints
    population: Population

    @property
    def rows(self) -> int:
        return len(self.hour)

    @property
    def country(self) -> Ints:
        """Place in `countries()`."""
        return self.population.country[self.user]

    @property
    def spending(self) -> Floats:
        """The price level of ads in the row's country, 1 on average."""
        return np.array([country.spending for country in countries()])[self.country]

    @property
    def platform(self) -> Ints:
        """0 desktop, 1 mobile, 2 television."""
        return self.population.platform[self.user]

    @property
    def market(self) -> Ints:
        """Country and platform in one number, for tables of `markets()` rows."""
        return self.country * PLATFORM_COUNT + self.platform


def markets() -> int:
    """How many markets there are."""
    return len(countries()) * PLATFORM_COUNT


def set_scene(rng: np.random.Generator, today: dt.date, rows: int) -> Scene:
    """`rows` rows that end today."""
    population = populate(rng, rows // ROWS_A_USER)
    hour, place = spread(rng, traffic(rng, today, places()), rows)
    return Scene(first_day(today), hour, population.visitors(rng, place), population)


def time_column(scene: Scene) -> pa.Array:
    """The column `time`."""
    return instants((scene.first - EPOCH).days, scene.hour)


def user_columns(scene: Scene) -> dict[str, pa.Array]:
    """Who, where and on what: columns under the plain names of facts.py."""
    people, user = scene.population, scene.user
    place, agent = people.place[user], people.agent[user]
    columns = {name: text(place, [getattr(p, name) for p in places()]) for name in _OF_PLACE}
    columns |= {name: text(agent, [getattr(a, name) for a in agents()]) for name in _OF_AGENT}
    names = [version.version for version in versions()]
    return columns | {
        "zip": text(people.zip[user], zip_labels()),
        "os_version": text(people.os_version[user], names),
        "browser_version": text(people.browser_version[user], names),
        "users": text(user, people.ids),
    }
