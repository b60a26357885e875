"""The invented people and firms of the demo. Report and deals are made from the same ones.

Ids are those that the slicer `curation` has as values: `str(deal.id)`, `str(package.id)` and so on.
"""

from dataclasses import dataclass

from lib.demo.facts import MEDIA, MediaType
from lib.people import ALL_DEALS, DealsGrant, Grant, Person
from lib.people.credentials import PASSWORD as PASSWORD

PROJECT = "demo"
PEOPLE = (
    Person(
        "viewer", "Demo Viewer", "viewer@desk.example", "viewer", (Grant(PROJECT),), deals=DealsGrant("read")
    ),
    Person(
        "manager",
        "Demo Manager",
        "manager@desk.example",
        "manager",
        (Grant(PROJECT),),
        deals=ALL_DEALS,
        shares=True,
    ),
    Person("admin", "Demo Admin", "admin@desk.example", "admin", (Grant(PROJECT),)),
)


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
        """The name of a generated deal."""
        return f"{self.package.name} - {self.seat.name}"


DSPS = (
    DemoDsp(1, "Alder Bidder", True),
    DemoDsp(2, "Birch Buying Desk", True),
    DemoDsp(3, "Cedar Demand", False),
    DemoDsp(4, "Dogwood DSP", False),
)
_SEATS = (
    ("Bluebird & Partners", 1),
    ("Copper Lane Media", 1),
    ("Daylight Agency", 1),
    ("Elm Street Planning", 2),
    ("Foxglove Performance", 2),
    ("Greenhouse Trading", 2),
    ("Harlequin Direct", 3),
    ("Inkwell Collective", 3),
    ("Jigsaw Buying", 4),
    ("Kingfisher Reach", 4),
)
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
    lap, place = divmod(number - 1, len(PACKAGES))
    package, seat = PACKAGES[place], SEATS[(7 * place + 3 * lap) % len(SEATS)]
    price = MEDIA[package.media_type].price * (0.9 + number % 5 / 10)
    return DemoDeal(number, package, seat, round(price, 2))


DEALS = tuple(_deal(number) for number in range(1, 41))
