"""The invented people who see ads. Each has one place, one device, one browser, languages and interests."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lib.demo.facts import Floats, Ints, agents, countries, mapping, pick, pick_by, places, versions, zipf

ZIPS_A_CITY = 20
INTERESTS = 400
KEENNESS = 2.3
PLATFORMS = {"desktop": 0, "smartphone": 1, "tablet": 1, "connected tv": 2}
ANOMALIES = ("", "data center", "click farm", "outdated browser")
ANOMALY_WEIGHTS = (97.0, 1.2, 0.5, 1.3)
LANGUAGE_LISTS = [
    languages
    for country in countries()
    for languages in (country.languages[:1], country.languages, country.languages[::-1])
]
LANGUAGE_WEIGHTS = (0.66, 0.26, 0.08)


@dataclass(frozen=True)
class Population:
    """Per user: places in the tables of facts.py. Users of a place lie side by side, from `starts[place]`."""

    starts: Ints
    ids: list[str]
    place: Ints
    agent: Ints
    os_version: Ints
    browser_version: Ints
    zip: Ints
    languages: Ints
    interests: Ints
    anomaly: Ints
    interest_lists: list[list[str]]

    def visitors(self, rng: np.random.Generator, place: Ints) -> Ints:
        """A user for each row, of that row's place; a few come often, most seldom."""
        count = (self.starts[1:] - self.starts[:-1])[place]
        return self.starts[place] + (count * rng.random(len(place)) ** KEENNESS).astype(np.int64)

    @cached_property
    def country(self) -> Ints:
        """Per user the place of the country in `countries()`."""
        return country_of_place()[self.place]

    @cached_property
    def platform(self) -> Ints:
        """Per user: 0 desktop, 1 mobile, 2 television."""
        return np.array([PLATFORMS[agent.device_type] for agent in agents()])[self.agent]


def populate(rng: np.random.Generator, users: int) -> Population:
    """About `users` people, spread over all places (at least a dozen in each)."""
    weight = np.array([city.weight for city in places()])
    counts = np.maximum(12, np.round(users * weight / weight.sum())).astype(np.int64)
    place = np.repeat(np.arange(len(counts)), counts)
    people, country = len(place), country_of_place()[place]
    is_apple = np.array([kind.maker == "Apple" for kind in agents()])
    usual = np.array([kind.weight for kind in agents()])
    weights = np.stack([usual * np.where(is_apple, land.apple, 1.0) for land in countries()])
    agent = pick_by(rng, weights, country)
    segments = np.array(list(mapping("segment")))
    return Population(
        starts=np.concatenate([[0], np.cumsum(counts)]),
        ids=[f"{number:012x}" for number in rng.integers(16**12, size=people).tolist()],
        place=place,
        agent=agent,
        os_version=pick_by(rng, _version_weights([a.os for a in agents()]), agent),
        browser_version=pick_by(rng, _version_weights([a.browser for a in agents()]), agent),
        zip=place * ZIPS_A_CITY + pick(rng, zipf(ZIPS_A_CITY, 0.5), people),
        languages=country * 3 + pick(rng, LANGUAGE_WEIGHTS, people),
        interests=pick(rng, zipf(INTERESTS, 0.6), people),
        anomaly=pick(rng, ANOMALY_WEIGHTS, people),
        # The first, most frequent, is empty: nothing is known of many people. Drawn last: another order of
        # draws is another demo, whose figures are not those that the README tells.
        interest_lists=[
            sorted(rng.choice(segments, size, replace=False).tolist())
            for size in np.concatenate([[0], rng.integers(1, 7, INTERESTS - 1)])
        ],
    )


def country_of_place() -> Ints:
    """Per place of `places()` its country's place in `countries()`."""
    number = {country.code: n for n, country in enumerate(countries())}
    return np.array([number[city.country] for city in places()])


def zip_labels() -> list[str]:
    """The postal codes, ZIPS_A_CITY per place; empty where the place has none."""
    return [f"{city.zip}{end + 1:02d}" if city.zip else "" for city in places() for end in range(ZIPS_A_CITY)]


def _version_weights(names: list[str]) -> Floats:
    return np.array([[v.weight if v.of == name else 0.0 for v in versions()] for name in names])
