"""A change of price and dates on its way: what it concerns is read for the preview, then sent."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lib.deals.models import SupplyPackage
from lib.ui.deals import several_change
from lib.ui.deals.planned_job import PlannedJob, Sold
from lib.ui.deals.several_change import Effect, SeveralWanted
from lib.ui.supply.rows import DealRow, Key


@dataclass
class SeveralJob(PlannedJob):
    """The change as far as it has come; `rows` are the chosen ones."""

    entity: str
    rows: list[DealRow]
    wanted: SeveralWanted = field(default_factory=SeveralWanted)
    failure: str = ""

    def preview(self, wanted: SeveralWanted, rows: Iterable[Key]) -> None:
        """Read these rows, and what the change concerns, from now on."""
        self.wanted = wanted
        self.begin(rows)

    @property
    def still_chosen(self) -> list[DealRow]:
        """The rows of which something failed or was not sent."""
        return [row for row in self.rows if row.key in self.unsaved]

    def planned(self, found: Sold, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity; of a deal whose dates change, its packages are read next."""
        if isinstance(found, SupplyPackage):
            self.add(found, several_change.of_package(found, rows, self.wanted))
            return
        if self.wanted.is_price:
            self.add(found, several_change.of_deal(found, rows, self.wanted))
        if not self.wanted.dates:
            return
        packages = [one.id for one in found.supply_deals if one.id is not None]
        for package in packages:
            self.to_read.setdefault(("supply_deals", package), set()).update(rows)
        if not packages:
            why = "It belongs to no package, and dates are those of a package."
            self.effects.append(Effect(key, self.name(key), rows, refused=why))

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return next((row.name for row in self.rows if row.key == key), f"{key[0]} {key[1]}")
