"""What a CSV of the list's entities is: its columns, what they ask for, and the preview of that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lib.deals import fields
from lib.deals.models import Targeting
from lib.insight.kinds import KINDS as TARGETS
from lib.ui.deals import csv_deals, csv_packages
from lib.ui.deals.csv_deals import CsvDeal
from lib.ui.deals.csv_packages import PACKAGES, CsvPackage
from lib.ui.deals.csv_text import DEALS, CsvFault, CsvRow, CsvShape
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.supply import catalogue, facts, permission, prices
from lib.ui.supply.prices import amount
from lib.ui.supply.words import seat_name
from lib.ui.targeting import known, words

Wanted = Sequence[CsvDeal] | Sequence[CsvPackage]
Planned = tuple[Wanted, Sequence[CsvFault]]
Table = dict[str, list[Any]]
OF_DEALS = """Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**,
  with a decimal point
- Optional: **Name** (else package and seat), **Deal sync** and **Active** (yes or no), **Fee type**, **Fee**,
  **Contact**

Nothing is created unless every line is right."""
OF_PACKAGES = f"""Each line is a package without deals; create those by a CSV of the list of deals.

- **Name** · **Media type** · **Start**, like 2026-11-30 or 2026-11-30 09:00
- Optional: **End**, **Time zone** (like +01:00; else UTC), **Active**, **Dynamic bidding** and **True price**
  (yes or no)
- Optional targeting: {", ".join(f"**{plain(kind.title)}**" for kind in TARGETS)}; several values with |
  between them, and *not* before one that is excluded: US|CA, or not Safari. A list by its id or its name

Nothing is created unless every line is right."""
WHAT = {"deals": OF_DEALS, "packages": OF_PACKAGES}
"""How each kind of file is written, in Markdown, by the kind's key."""


@dataclass(frozen=True)
class CsvKind:
    """A kind of file. `key` begins the names of its widgets; `plan` finds out what its rows ask for."""

    key: str
    called: str
    shape: CsvShape
    plan: Callable[[Here, Sequence[CsvRow]], Planned]
    table: Callable[[Here, Wanted], Table]

    def counted(self, number: int) -> str:
        """`3 deals`."""
        return f"{number} {self.called}{'' if number == 1 else 's'}"


def _deals(here: Here, rows: Sequence[CsvRow]) -> Planned:
    found = csv_deals.plan(catalogue.client(here), rows, catalogue.seats(here), permission.of(here).fees)
    return found.deals, found.faults


def _packages(here: Here, rows: Sequence[CsvRow]) -> Planned:
    found = csv_packages.plan(catalogue.client(here), rows, catalogue.named_lists(here))
    return found.wanted, found.faults


def _table_of_deals(here: Here, wanted: Wanted) -> Table:
    deals = [one for one in wanted if isinstance(one, CsvDeal)]
    return {
        "Line": [one.line for one in deals],
        "Package": [one.package.name or str(one.package.id) for one in deals],
        "Seat": [seat_name(one.seat, one.seat.id or 0) for one in deals],
        prices.of(here).title: [amount(one.deal.price) for one in deals],
        "Name": [one.deal.name or "" for one in deals],
        "Note": [one.note for one in deals],
    }


def _table_of_packages(here: Here, wanted: Wanted) -> Table:
    packages = [one for one in wanted if isinstance(one, CsvPackage)]
    marks = known.marks(here, catalogue.usual_days(here), [_targeting(one) for one in packages])
    return {
        "Line": [one.line for one in packages],
        "Name": [one.request.name or "" for one in packages],
        "Media type": [one.request.media_type or "" for one in packages],
        "Runs": [facts.span(one.request) for one in packages],
        "Targeting": [words.sentence(_targeting(one), None, None, marks) for one in packages],
        "Note": [one.note for one in packages],
    }


def _targeting(one: CsvPackage) -> Targeting:
    given = {name: getattr(one.request, name) for name in Targeting.model_fields}
    return Targeting.model_construct(**given)


KINDS = {
    fields.DEALS: CsvKind("deals", "deal", DEALS, _deals, _table_of_deals),
    fields.SUPPLY: CsvKind("packages", "package", PACKAGES, _packages, _table_of_packages),
}
"""The kinds of files by the entity of the list."""
