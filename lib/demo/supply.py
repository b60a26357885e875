"""The invented supply: publishers with their sites, apps and television channels, and who sells for them."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from lib.demo.facts import Floats, countries, table

EXCHANGES = ("brightbid", "openlane", "meridian", "tallship", "quickmarket", "nordstar", "playroom", "kite")
VISIBILITIES = ("above the fold", "below the fold", "unknown")
VIEWABILITY = np.array([0.79, 0.46, 0.62])
SIZE_LISTS = (
    ("300x250", "728x90"), ("300x250", "300x600"), ("970x250", "728x90"), ("300x250", "336x280", "300x600"),
    ("320x50", "320x100"), ("320x50",), ("300x250", "320x480"), ("300x250",), ("1920x1080",),
    ("1280x720", "1920x1080"),
)  # fmt: skip
SIZE_WEIGHTS = np.array(
    [
        [30, 24, 12, 18, 0, 0, 0, 14, 2, 2],
        [0, 0, 0, 0, 30, 24, 20, 22, 2, 2],
        [0, 0, 0, 0, 0, 0, 0, 0, 60, 40],
    ],
    dtype=np.float64,
)
_SHARE_BY_PLACE = {"web": (1.0, 0.55, 0.0), "app": (0.0, 1.0, 0.0), "tv": (0.0, 0.0, 1.0)}
_FOREIGN_ENGLISH, _FOREIGN = 0.10, 0.004


@dataclass(frozen=True)
class Publisher:
    """A publisher: content and blocked categories, language, and how large it is."""

    id: str
    name: str
    language: str
    weight: float
    categories: tuple[str, ...]
    blocked: tuple[str, ...]


@dataclass(frozen=True)
class Site:
    """A site (with a domain) or an app or television channel (with a bundle) of a publisher."""

    id: str
    name: str
    publisher: Publisher
    kind: str
    domain: str
    bundle: str
    weight: float


@cache
def sites() -> tuple[Site, ...]:
    """All sites; a publisher's first is its largest."""
    everything = []
    for row in table("publishers"):
        publisher = Publisher(
            row["id"], row["name"], row["language"], float(row["weight"]), _parts(row["categories"]),
            _parts(row["blocked"]),
        )  # fmt: skip
        for number, item in enumerate(_parts(row["sites"]), start=1):
            kind, name = item.split(":")
            slug = "".join(letter for letter in name.lower() if letter.isascii() and letter.isalnum())
            domain, bundle = (name, "") if kind == "web" else ("", f"example.{slug}.{kind}")
            weight = publisher.weight / number
            everything.append(Site(f"{publisher.id}{number}", name, publisher, kind, domain, bundle, weight))
    return tuple(everything)


def site_weights() -> Floats:
    """The share of each site in each market (country × platform); shape (markets, sites)."""
    rows = []
    for country in countries():
        reach = np.array([_reach(site.publisher.language, country.languages) for site in sites()])
        for platform in range(3):
            fits = np.array([_SHARE_BY_PLACE[site.kind][platform] for site in sites()])
            rows.append(np.array([site.weight for site in sites()]) * reach * fits)
    return np.stack(rows)


def exchange_weights(rng: np.random.Generator) -> Floats:
    """Through which exchanges each site sells: a few, one of them for sure; shape (sites, exchanges)."""
    share = rng.lognormal(0.0, 1.3, (len(sites()), len(EXCHANGES)))
    main = np.arange(len(sites()))[:, None] % len(EXCHANGES) == np.arange(len(EXCHANGES))
    weights: Floats = np.where(share > 0.4, share, 0.0) + main
    return weights


def visibility_weights(rng: np.random.Generator) -> Floats:
    """How a site's ads are placed; shape (sites, VISIBILITIES)."""
    return rng.dirichlet((4.0, 3.0, 1.0), len(sites()))


def page_labels() -> list[str]:
    """Three page domains per site; none for apps and television."""
    fronts = ("", "www.", "m.")
    return [f"{front}{site.domain}" if site.domain else "" for site in sites() for front in fronts]


def _reach(language: str, languages: tuple[str, str]) -> float:
    if language == languages[0]:
        return 1.0
    if language == languages[1]:
        return 0.25
    return _FOREIGN_ENGLISH if language == "en" else _FOREIGN


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()
