"""The invented people and firms of the demo. Report and deals are made from the same ones.

Ids are those that the slicer `curation` has as values: `str(deal.id)`, `str(package.id)` and so on.
"""

from dataclasses import dataclass

from lib.demo.media import MEDIA, MediaType
from lib.people import Grant, Person

PROJECT = "demo"
PASSWORD = "demo"  # noqa: S105  (shown on the sign-in page; demo mode listens on loopback alone)
PEOPLE = (
    Person("viewer", "Demo Viewer", "viewer@desk.example", "viewer", (Grant(PROJECT),)),
    Person("manager", "Demo Manager", "manager@desk.example", "manager", (Grant(PROJECT),)),
    Person("admin", "Demo Admin", "admin@desk.example", "admin", (Grant(PROJECT),)),
)


@dataclass(frozen=True)
class Dsp:
    """A demand-side platform."""

    id: int
    name: str
    supports_deal_sync: bool


@dataclass(frozen=True)
class Seat:
    """A buyer's seat at a DSP."""

    id: int
    name: str
    external_id: str
    dsp: Dsp


@dataclass(frozen=True)
class SupplyPackage:
    """A supply package. `countries`: where it has supply (empty: everywhere); the same for `device_types`."""

    id: int
    name: str
    media_type: MediaType
    countries: tuple[str, ...] = ()
    device_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class DemandDeal:
    """A demand deal: one seat's access to one package, at a price in dollars for a thousand impressions."""

    id: int
    package: SupplyPackage
    seat: Seat
    price: float

    @property
    def name(self) -> str:
        """The name of a generated deal."""
        return f"{self.package.name} - {self.seat.name}"


DSPS = (
    Dsp(1, "Alder Bidder", True),
    Dsp(2, "Birch Buying Desk", True),
    Dsp(3, "Cedar Demand", False),
    Dsp(4, "Dogwood DSP", False),
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
    Seat(number, name, f"seat-{100 + 7 * number}", DSPS[dsp - 1])
    for number, (name, dsp) in enumerate(_SEATS, start=1)
)
PACKAGES = (
    SupplyPackage(1, "Morning News Display", "banner"),
    SupplyPackage(2, "Living Room Video", "video", (), ("connected tv",)),
    SupplyPackage(3, "Football Weekend", "banner", ("GB", "DE", "ES", "IT", "FR")),
    SupplyPackage(4, "Mobile Games Everywhere", "video", (), ("smartphone", "tablet")),
    SupplyPackage(5, "Brasil em Vídeo", "video", ("BR",)),
    SupplyPackage(6, "Quiet Reading Native", "native"),
    SupplyPackage(7, "Commuter Audio", "audio", (), ("smartphone", "tablet")),
    SupplyPackage(8, "North America Premium", "banner", ("US", "CA")),
    SupplyPackage(9, "Recipes and Gardens", "native", ("US", "CA", "GB", "AU", "DE")),
    SupplyPackage(10, "Asia Pacific Reach", "banner", ("JP", "KR", "IN", "ID", "AU")),
    SupplyPackage(11, "Big Screen Europe", "video", ("GB", "DE", "FR", "ES", "IT", "NL", "SE", "PL")),
    SupplyPackage(12, "Desktop at Work", "banner", (), ("desktop",)),
)


def _deal(number: int) -> DemandDeal:
    lap, place = divmod(number - 1, len(PACKAGES))
    package, seat = PACKAGES[place], SEATS[(7 * place + 3 * lap) % len(SEATS)]
    price = MEDIA[package.media_type].price * (0.9 + number % 5 / 10)
    return DemandDeal(number, package, seat, round(price, 2))


DEALS = tuple(_deal(number) for number in range(1, 41))
