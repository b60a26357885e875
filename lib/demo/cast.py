"""The invented people and firms of the demo. Report and deals are made from the same ones.

Ids are those that the slicer `curation` has as values: `str(deal.id)`, `str(package.id)` and so on.
"""

from dataclasses import dataclass

import numpy as np

from lib.demo.facts import MEDIA, Flags, Floats, Ints, MediaType, thin
from lib.people import ALL_DEALS, DealsGrant, Grant, Person
from lib.people.credentials import PASSWORD as PASSWORD

PROJECT = "demo"
PEOPLE = (
    Person(
        "viewer", "Demo Viewer", "viewer@desk.example", "viewer", (Grant(PROJECT),), deals=DealsGrant("read")
    ),
    Person(
        "manager", "Demo Manager", "manager@desk.example", "manager", (Grant(PROJECT),), deals=ALL_DEALS,
        shares=True,
    ),
    Person("admin", "Demo Admin", "admin@desk.example", "admin", (Grant(PROJECT),)),
)  # fmt: skip
LARGEST = 250_000
_SEATS = (
    ("Bluebird & Partners", 1), ("Copper Lane Media", 1), ("Daylight Agency", 1), ("Elm Street Planning", 2),
    ("Foxglove Performance", 2), ("Greenhouse Trading", 2), ("Harlequin Direct", 3),
    ("Inkwell Collective", 3), ("Jigsaw Buying", 4), ("Kingfisher Reach", 4),
)  # fmt: skip


@dataclass(frozen=True)
class DemoDsp:
    """A demand-side platform."""

    id: int
    name: str
    supports_deal_sync: bool


@dataclass(frozen=True)
class DemoSeat:
    """A buyer's seat at a DSP."""

    id: int
    name: str
    external_id: str
    dsp: DemoDsp


@dataclass(frozen=True)
class DemoPackage:
    """A supply package. `countries`: where it has supply (empty: everywhere); the same for `device_types`."""

    id: int
    name: str
    media_type: MediaType
    countries: tuple[str, ...] = ()
    device_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class DemoDeal:
    """A demand deal: one seat's access to one package, at a price in dollars for a thousand impressions."""

    id: int
    package: DemoPackage
    seat: DemoSeat
    price: float

    @property
    def name(self) -> str:
        return f"{self.package.name} - {self.seat.name}"


DSPS = (
    DemoDsp(1, "Alder Bidder", True), DemoDsp(2, "Birch Buying Desk", True),
    DemoDsp(3, "Cedar Demand", False), DemoDsp(4, "Dogwood DSP", False),
)  # fmt: skip
SEATS = tuple(
    DemoSeat(number, name, f"seat-{100 + 7 * number}", DSPS[dsp - 1])
    for number, (name, dsp) in enumerate(_SEATS, start=1)
)
PACKAGES = (
    DemoPackage(1, "Morning News Display", "banner"),
    DemoPackage(2, "Living Room Video", "video", (), ("connected tv",)),
    DemoPackage(3, "Football Weekend", "banner", ("GB", "DE", "ES", "IT", "FR")),
    DemoPackage(4, "Mobile Games Everywhere", "video", (), ("smartphone", "tablet")),
    DemoPackage(5, "Brasil em Vídeo", "video", ("BR",)),
    DemoPackage(6, "Quiet Reading Native", "native"),
    DemoPackage(7, "Commuter Audio", "audio", (), ("smartphone", "tablet")),
    DemoPackage(8, "North America Premium", "banner", ("US", "CA")),
    DemoPackage(9, "Recipes and Gardens", "native", ("US", "CA", "GB", "AU", "DE")),
    DemoPackage(10, "Asia Pacific Reach", "banner", ("JP", "KR", "IN", "ID", "AU")),
    DemoPackage(11, "Big Screen Europe", "video", ("GB", "DE", "FR", "ES", "IT", "NL", "SE", "PL")),
    DemoPackage(12, "Desktop at Work", "banner", (), ("desktop",)),
)


def _deal(number: int) -> DemoDeal:
    lap, index = divmod(number - 1, len(PACKAGES))
    package, seat = PACKAGES[index], SEATS[(7 * index + 3 * lap) % len(SEATS)]
    price = MEDIA[package.media_type].price * (0.9 + number % 5 / 10)
    return DemoDeal(number, package, seat, round(price, 2))


DEALS = tuple(_deal(number) for number in range(1, 41))


@dataclass(frozen=True)
class Chances:
    """Per row: of a bid to win, of an impression to be seen and to be clicked on, and who watches video."""

    win: Floats
    viewability: Floats
    click: Floats
    is_video: Flags
    is_anomalous: Flags


def auctions(rng: np.random.Generator, typical: Floats, spread: float = 1.2) -> Ints:
    """Counts with a heavy tail (log-normal), at least 1, around `typical`."""
    numbers = np.exp(rng.normal(0.0, spread, len(typical))) * typical
    return 1 + np.minimum(numbers, LARGEST).astype(np.int64)


def counts(rng: np.random.Generator, bids: Ints, chances: Chances) -> dict[str, Ints]:
    """The counted data fields of rows with so many bids, named as in the specification."""
    imps = thin(rng, bids, chances.win)
    viewable = thin(rng, imps, chances.viewability)
    raw_clicks = thin(rng, imps, chances.click * np.where(chances.is_anomalous, 9.0, 1.0))
    anomalies = thin(rng, raw_clicks, np.where(chances.is_anomalous, 0.8, 0.01))
    clicks = raw_clicks - anomalies
    pc_convs, pv_convs = thin(rng, clicks, 0.045), thin(rng, viewable, 0.0009)
    pc_conversions, pv_conversions = thin(rng, pc_convs, 0.94), thin(rng, pv_convs, 0.90)
    figures: dict[str, Ints] = {
        "bids": bids, "imps": imps, "clicks": clicks, "anomaly_clicks_filtered": anomalies,
        "pv_convs": pv_convs, "pc_convs": pc_convs,
        "pv_conversions": pv_conversions, "pc_conversions": pc_conversions,
        "attributed_pv_convs": thin(rng, pv_conversions, 0.55),
        "attributed_pc_convs": thin(rng, pc_conversions, 0.85),
        "viewable_imps": viewable,
    }  # fmt: skip
    # Video (and audio) events; only rows with such impressions are drawn.
    rows = np.flatnonzero(np.where(chances.is_video, imps, 0))
    video_imps = imps[rows]
    starts = thin(rng, video_imps, 0.965)
    quarter = thin(rng, starts, 0.90)
    half = thin(rng, quarter, 0.92)
    three = thin(rng, half, 0.94)
    events = {
        "vast_imp": video_imps, "vast_start": starts, "vast_25": quarter, "vast_50": half, "vast_75": three,
        "vast_complete": thin(rng, three, 0.95), "vast_error": thin(rng, video_imps - starts, 0.7),
        "vast_progress_30": thin(rng, half, 0.6),
    }  # fmt: skip
    for name, values in events.items():
        figures[name] = np.zeros(len(imps), np.int64)
        figures[name][rows] = values
    return figures
