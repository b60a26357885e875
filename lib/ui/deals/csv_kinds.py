"""What a CSV of the list's entities is: its columns, what they ask for, and the preview of that."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lib.deals import fields
from lib.deals.models import Targeting
from lib.insight.kinds import KINDS as TARGETS
from lib.ui.deals import catalogue, csv_deals, csv_packages, facts, permission, prices
from lib.ui.deals.csv_deals import CsvDeal
from lib.ui.deals.csv_new_deals import COLUMNS, CsvNewDeal, NewDeals
from lib.ui.deals.csv_packages import PACKAGES, CsvPackage
from lib.ui.deals.csv_text import DEALS, CsvFault, CsvRow, CsvShape
from lib.ui.deals.prices import amount
from lib.ui.deals.targeting import known, words
from lib.ui.deals.words import seat_name
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

Wanted = Sequence[CsvDeal] | Sequence[CsvPackage | CsvNewDeal]
Planned = tuple[Wanted, Sequence[CsvFault]]
Table = dict[str, list[Any]]
OF_DEALS = """Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**,
  with a decimal point
- Optional: **Name** (else package and seat), **Deal sync** and **Active** (yes or no), **Fee type**, **Fee**,
  **Contact**

Nothing is created unless every line is right."""
OF_PACKAGES = f"""Each line is a package, with a deal if it has a seat; further lines of its name add deals.

- **Name** · **Media type** · **Start**, like 2026-11-30 or 2026-11-30 09:00
- Optional: **End**, **Time zone** (like +01:00; else UTC), **Active**, **Dynamic bidding** and **True price**
  (yes or no)
- Optional targeting: {", ".join(f"**{plain(kind.title)}**" for kind in TARGETS)}; several values with |
  between them, and *not* before one that is excluded: US|CA, or not Safari. A list by its id or its name
- Optional deal: {", ".join(f"**{plain(title)}**" for title in COLUMNS)}; the price has a decimal point

Nothing is created unless every line is right."""
WHAT = {"deals": OF_DEALS, "packages": OF_PACKAGES}
"""How each kind of file is written, in Markdown, by the kind's key."""


@dataclass(frozen=True)
class CsvKind:
    """A kind of file. `key` begins the names of its widgets; `plan` finds out what its rows ask for.

    `entity` is that of the list.
    """

    key: str
    entity: str
    called: str
    shape: CsvShape
    plan: Callable[[PageContext, Sequence[CsvRow]], Planned]
    table: Callable[[PageContext, Wanted], Table]

    def counted(self, entities: Iterable[str]) -> str:
        """`3 deals`, `1 package and 2 deals`; what the file is of is counted even where there is none."""
        given = list(entities)
        parts = []
        for entity, kind in KINDS.items():
            number = given.count(entity)
            if number or entity == self.entity:
                parts.append(f"{number} {kind.called}{'' if number == 1 else 's'}")
        return " and ".join(parts)


def _deals(context: PageContext, rows: Sequence[CsvRow]) -> Planned:
    csv_plan = csv_deals.plan(
        catalogue.client(context), rows, catalogue.seats(context), permission.of(context).fees
    )
    return csv_plan.deals, csv_plan.faults


def _packages(context: PageContext, rows: Sequence[CsvRow]) -> Planned:
    does = permission.of(context)
    deals = NewDeals(catalogue.seats(context), does.fees, does.why_not(fields.DEALS, "create"))
    found = csv_packages.plan(catalogue.client(context), rows, catalogue.named_lists(context), deals)
    return found.wanted, found.faults


def _table_of_deals(context: PageContext, wanted: Wanted) -> Table:
    deals = [one for one in wanted if isinstance(one, CsvDeal)]
    return {
        "Line": [one.line for one in deals],
        "Package": [one.package.name or str(one.package.id) for one in deals],
        "Seat": [seat_name(one.seat, one.seat.id or 0) for one in deals],
        prices.of(context).title: [amount(one.deal.price) for one in deals],
        "Name": [one.deal.name or "" for one in deals],
        "Note": [one.note for one in deals],
    }


def _table_of_packages(context: PageContext, wanted: Wanted) -> Table:
    packages = [one for one in wanted if isinstance(one, CsvPackage)]
    marks = known.marks(context, catalogue.usual_days(context), [_targeting(one) for one in packages])
    price = prices.of(context).title
    rows = [
        _row_of_deal(one, price) if isinstance(one, CsvNewDeal) else _row_of_package(one, marks)
        for one in wanted
        if not isinstance(one, CsvDeal)
    ]
    titles = ["Line", "Kind", "Name", "Media type", "Runs", "Targeting", "Seat", price, "Note"]
    left_out = () if len(packages) < len(rows) else ("Kind", "Seat", price)
    return {title: [row.get(title, "") for row in rows] for title in titles if title not in left_out}


def _row_of_package(one: CsvPackage, marks: words.Marks) -> dict[str, Any]:
    package = one.request
    return {
        "Line": one.line,
        "Kind": "Package",
        "Name": package.name or "",
        "Media type": package.media_type or "",
        "Runs": facts.span(package),
        "Targeting": words.sentence(_targeting(one), None, None, marks),
        "Note": one.note,
    }


def _row_of_deal(one: CsvNewDeal, price: str) -> dict[str, Any]:
    return {
        "Line": one.line,
        "Kind": "Deal",
        "Name": one.request.name or "",
        "Seat": seat_name(one.seat, one.seat.id or 0),
        price: amount(one.request.price),
    }


def _targeting(one: CsvPackage) -> Targeting:
    fields = {name: getattr(one.request, name) for name in Targeting.model_fields}
    return Targeting.model_construct(**fields)


KINDS = {
    fields.SUPPLY: CsvKind("packages", fields.SUPPLY, "package", PACKAGES, _packages, _table_of_packages),
    fields.DEALS: CsvKind("deals", fields.DEALS, "deal", DEALS, _deals, _table_of_deals),
}
"""The kinds of files by the entity of the list."""
