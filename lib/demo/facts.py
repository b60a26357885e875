"""Public facts that make the demo believable: places, languages, devices and their versions.

The tables lie in `facts/`; the texts that go with codes, in `mappings/`. Draws at random are a million rows
at a time; each takes the generator, so that a seed fixes everything.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from lib.slicers.warehouse.slicer import read_mapping

MediaType = Literal["banner", "video", "audio", "native"]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Medium:
    """How common its ads are on desktop, mobile and television, and what becomes of one that is shown.

    `click` and `viewability` are chances, `price` is in dollars for a thousand impressions.
    """

    platforms: tuple[float, float, float]
    click: float
    viewability: float
    price: float


MEDIA: dict[MediaType, Medium] = {
    "banner": Medium((1.0, 1.0, 0.0), click=0.0045, viewability=0.64, price=1.5),
    "video": Medium((0.4, 0.5, 1.0), click=0.0032, viewability=0.81, price=7.5),
    "native": Medium((0.5, 0.9, 0.0), click=0.0085, viewability=0.72, price=2.4),
    "audio": Medium((0.1, 0.6, 0.0), click=0.0006, viewability=0.93, price=5.0),
}


@dataclass(frozen=True)
class Country:
    """A country: its languages (the first is the main one), what ads earn there, and how common Apple is."""

    code: str
    languages: tuple[str, str]
    spending: float
    apple: float


@dataclass(frozen=True)
class City:
    """A city (or a region at large) with its zone (hours east of UTC, standard time) and its traffic."""

    country: str
    region: str
    region_name: str
    city: str
    dma: str
    zip: str
    offset: float
    weight: float


@dataclass(frozen=True)
class Agent:
    """A kind of device with a browser. Desktops have no model, televisions often no browser."""

    device_type: str
    maker: str
    model: str
    os: str
    browser: str
    weight: float


@dataclass(frozen=True)
class Version:
    """A version of an operating system or a browser."""

    of: str
    version: str
    weight: float


def table(name: str) -> list[dict[str, str]]:
    """The rows of `facts/<name>.csv`."""
    with (FOLDER / "facts" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def countries() -> tuple[Country, ...]:
    """All countries, the unknown one (code "") last."""
    return tuple(
        Country(row["code"], (first, second), float(row["spending"]), float(row["apple"]))
        for row in table("countries")
        for first, second in [row["languages"].split("|")]
    )


@cache
def places() -> tuple[City, ...]:
    """All places, the unknown one last."""
    return tuple(
        City(**row | {"offset": float(row["offset"]), "weight": float(row["weight"])})  # type: ignore[arg-type]
        for row in table("places")
    )


@cache
def agents() -> tuple[Agent, ...]:
    """All kinds of device and browser."""
    return tuple(Agent(**row | {"weight": float(row["weight"])}) for row in table("agents"))  # type: ignore[arg-type]


@cache
def versions() -> tuple[Version, ...]:
    """All versions; the unknown browser has one, without a name."""
    return tuple(Version(row["of"], row["version"], float(row["weight"])) for row in table("versions"))


def mapping(name: str) -> dict[str, str]:
    """Code → text of `mappings/<name>.csv`."""
    return read_mapping(FOLDER / "mappings" / f"{name}.csv")


def regions() -> dict[str, str]:
    """Code → text of the regions."""
    return {city.region: city.region_name for city in places() if city.region}


def pick(rng: np.random.Generator, weights: Floats | Sequence[float], size: int) -> Ints:
    """`size` places in `weights`, each as likely as its weight."""
    return pick_by(rng, np.asarray(weights, dtype=np.float64)[None, :], np.zeros(size, np.int64))


def pick_by(rng: np.random.Generator, weights: Floats, group: Ints) -> Ints:
    """For each element of `group` a place in that row of `weights`, shape (groups, items).

    A row of `weights` that some element needs must not be all zero.
    """
    groups, items = weights.shape
    sums = np.cumsum(weights, axis=1)
    totals = np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    edges = (sums / totals + np.arange(groups)[:, None]).ravel()
    rows = np.searchsorted(edges, group + rng.random(len(group)), side="right")
    places: Ints = rows - group * items
    return places


def thin(rng: np.random.Generator, counts: Ints, share: Floats | float) -> Ints:
    """How many of `counts` pass, when each passes with probability `share` (cut to 0…1)."""
    return rng.binomial(counts, np.clip(share, 0.0, 1.0))


def cents(amounts: Floats) -> Floats:
    """Dollars, to the ten-thousandth of a cent."""
    return np.round(amounts, 6)


def zipf(items: int, slope: float = 1.0) -> Floats:
    """Weights of a long tail: the n-th item has 1 / n**slope."""
    return np.arange(1, items + 1, dtype=np.float64) ** -slope
