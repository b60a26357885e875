"""The deprecated middle layer: a package generates one demand deal for each seat that is selected."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Row, select

from lib.deals.models import generated_name
from lib.deals.store import status
from lib.deals.store.demand_deals import in_brief, seats_of, seats_to_sell_to
from lib.deals.store.entity_store import EntityStore, linked_ids, refer
from lib.deals.store.tables import demand_deals, package_seats, package_supply_packages, supply_packages
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Problems
from lib.wire.errors import InUse


@dataclass(frozen=True)
class Packages(EntityStore):
    """Seats and supply packages. `deals` makes the demand deals of the selected seats."""

    deals: EntityStore | None = None
    links: ClassVar[Mapping[str, str]] = {"supply_deals": "supply_deals"}

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its seats, its supply packages and its deals."""
        ids = [row.id for row in rows]
        targets, supply, deals = _targets_of(work, ids), _supply(work, ids), _deals(work, ids)
        return [
            {
                "id": row.id,
                **self.own(row),
                "seats": targets[row.id],
                "supply_deals": supply[row.id],
                "demand_deals": deals[row.id],
            }
            for row in rows
        ]

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Seats and packages are there, once each; a DSP beside a seat is that seat's."""
        links = fields.get("supply_deals")
        names = work.seen(supply_packages, linked_ids(links))
        refer(names, "supply package", links, ("supply_deals",), problems)
        choices = fields.get("seats", [])
        ids = [choice.get("seat", {}).get("id") for choice in choices]
        buyers = seats_to_sell_to(work, {one for one in ids if one is not None})
        for number, (one, choice) in enumerate(zip(ids, choices, strict=True)):
            dsp = (choice.get("dsp") or {}).get("id")
            if one is not None and one not in buyers:
                problems.add(("seats", number, "seat", "id"), f"There is no seat {one}.")
            elif one is not None and one in ids[:number]:
                problems.add(("seats", number, "seat", "id"), f"The seat {one} is given twice.")
            elif one is not None and dsp not in (None, buyers[one]["dsp"]["id"]):
                right = buyers[one]["dsp"]
                problems.add(
                    ("seats", number, "dsp", "id"),
                    f"The seat {one} is at the DSP {right['id']} '{right['name']}'.",
                )

    def touched(self, fields: Fields, before: Fields | None) -> set[EntityKey]:
        """Its supply packages when it may get deals, and its deals when they follow it to others."""
        keys = super().touched(fields, before)
        if before is not None and "seats" in fields:
            keys |= {("supply_deals", one["id"]) for one in before["supply_deals"]}
        if before is not None and "supply_deals" in fields:
            keys |= {("demand_deals", one["id"]) for one in before["demand_deals"]}
        return keys

    def link(self, work: Work, entity_id: int, fields: Fields) -> list[EntityKey]:
        """To seats and supply packages; newly selected seats get their deals."""
        mine = ("package_id", entity_id)
        if "supply_deals" in fields:
            supply = [{"supply_package_id": one["id"]} for one in fields["supply_deals"]]
            work.relink(package_supply_packages, mine, supply)
        if "seats" in fields:
            seats = [{"seat_id": one["seat"]["id"], "value": one["value"]} for one in fields["seats"]]
            work.relink(package_seats, mine, seats)
        return self._generate(work, entity_id, follow="supply_deals" in fields)

    def _generate(self, work: Work, package_id: int, follow: bool) -> list[EntityKey]:
        """Deals for selected seats without one; InUse where a seat with a deal is not selected any more."""
        assert self.deals is not None  # noqa: S101
        [body] = self.show(work, [package_id])
        supply = [{"id": one["id"]} for one in body["supply_deals"]]
        selected = {choice["seat"]["id"]: choice["seat"] for choice in body["seats"] if choice["value"]}
        have = {row.seat_id: row for row in work.rows(_deals_of(package_id))}
        if left := [f"{row.id} '{row.name}'" for seat, row in have.items() if seat not in selected]:
            raise InUse(f"Seats can't be deselected: the demand deals {', '.join(left)} depend on them")
        for row in have.values() if follow else ():
            self.deals.link(work, row.id, {"supply_deals": supply})
        keys: list[EntityKey] = []
        for seat in (seat for one, seat in selected.items() if one not in have):
            name = generated_name(body["name"], seat["name"])
            deal = {"name": name, "seat": seat, "package": {"id": package_id}}
            keys += self.deals.create(
                work, deal | {"supply_deals": supply, "deal_sync": False, "is_active": True}
            )
        return keys


def _deals_of(package_id: int) -> Any:
    return select(demand_deals).where(demand_deals.c.package_id == package_id).order_by(demand_deals.c.id)


def _targets_of(work: Work, ids: Sequence[int]) -> dict[int, list[Fields]]:
    links = package_seats.c
    rows = work.rows(select(package_seats).where(links.package_id.in_(ids)).order_by(links.seat_id))
    buyers = seats_of(work, {row.seat_id for row in rows})
    targets: dict[int, list[Fields]] = defaultdict(list)
    for row in rows:
        seat = buyers[row.seat_id]
        targets[row.package_id].append({"value": row.value, "seat": seat, "dsp": seat["dsp"]})
    return targets


def _supply(work: Work, ids: Sequence[int]) -> dict[int, list[Fields]]:
    links = package_supply_packages.c
    question = (
        select(supply_packages, links.package_id, status.of_package(work.now).label("status"))
        .join(package_supply_packages, links.supply_package_id == supply_packages.c.id)
        .where(links.package_id.in_(ids))
        .order_by(supply_packages.c.id)
    )
    members: dict[int, list[Fields]] = defaultdict(list)
    for row in work.rows(question):
        members[row.package_id].append(in_brief(row))
    return members


def _deals(work: Work, ids: Sequence[int]) -> dict[int, list[Fields]]:
    question = select(demand_deals, status.of_deal(work.now).label("status"))
    links: dict[int, list[Fields]] = defaultdict(list)
    for row in work.rows(question.where(demand_deals.c.package_id.in_(ids)).order_by(demand_deals.c.id)):
        links[row.package_id].append(
            {"id": row.id, "name": row.name, "deal_id": row.deal_id, "status": row.status}
        )
    return links
