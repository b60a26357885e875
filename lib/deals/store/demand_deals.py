"""Packages of demand deals, and demand deals, created alone or with a package."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Row, Table, insert, select

from lib.deals import moments
from lib.deals.models import BUYER_STATUS, generated_name
from lib.deals.store import status
from lib.deals.store import tables as t
from lib.deals.store.entity_store import EntityStore, linked_ids, refer
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Path, Problems, broken_rules
from lib.wire.errors import InUse

BRIEF = (
    "id", "name", "media_type", "is_active", "start_date", "start_date_offset", "end_date", "end_date_offset"
)  # fmt: skip
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True)
class Packages(EntityStore):
    """Seats and supply packages. `deals` makes the demand deals of the selected seats."""

    deals: EntityStore | None = None
    links: ClassVar[Mapping[str, str]] = {"supply_deals": "supply_deals"}
    parts: ClassVar[Mapping[str, Table]] = {
        "demand_deals": t.demand_deals,
        "seats": t.seats,
        "supply_deals": t.supply_packages,
    }

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its seats, its supply packages and its deals."""
        ids = [row.id for row in rows]
        targets, deals = _targets_of(work, ids), _deals(work, ids)
        supply = _packages_of(work, t.package_supply_packages, "package_id", ids)
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
        names = work.names(t.supply_packages, linked_ids(links))
        refer(names, "supply package", links, ("supply_deals",), problems)
        choices = fields.get("seats", [])
        ids = [choice.get("seat", {}).get("id") for choice in choices]
        buyers = seats_to_sell_to(work, {number for number in ids if number is not None})
        for number, (seat_id, choice) in enumerate(zip(ids, choices, strict=True)):
            if seat_id is None:
                continue  # that it is missing is said already
            path, dsp = ("seats", number, "seat", "id"), (choice.get("dsp") or {}).get("id")
            if seat_id not in buyers:
                problems.add(path, f"There is no seat {seat_id}.")
            elif seat_id in ids[:number]:
                problems.add(path, f"The seat {seat_id} is given twice.")
            elif dsp not in (None, buyers[seat_id]["dsp"]["id"]):
                right = buyers[seat_id]["dsp"]
                sentence = f"The seat {seat_id} is at the DSP {right['id']} '{right['name']}'."
                problems.add(("seats", number, "dsp", "id"), sentence)

    def affected_keys(self, fields: Fields, before: Fields | None) -> set[EntityKey]:
        """Its supply packages when it may get deals, and its deals when they follow it to others."""
        keys = super().affected_keys(fields, before)
        if before is not None and "seats" in fields:
            keys |= {("supply_deals", package["id"]) for package in before["supply_deals"]}
        if before is not None and "supply_deals" in fields:
            keys |= {("demand_deals", deal["id"]) for deal in before["demand_deals"]}
        return keys

    def link(self, work: Work, entity_id: int, fields: Fields) -> list[EntityKey]:
        """To seats and supply packages; newly selected seats get their deals."""
        mine = ("package_id", entity_id)
        if "supply_deals" in fields:
            supply = [{"supply_package_id": package["id"]} for package in fields["supply_deals"]]
            work.relink(t.package_supply_packages, mine, supply)
        if "seats" in fields:
            seats = [
                {"seat_id": choice["seat"]["id"], "value": choice["value"]} for choice in fields["seats"]
            ]
            work.relink(t.package_seats, mine, seats)
        return self._generate(work, entity_id, follow="supply_deals" in fields)

    def _generate(self, work: Work, package_id: int, follow: bool) -> list[EntityKey]:
        """Deals for selected seats without one; InUse where a seat with a deal is not selected any more."""
        assert self.deals is not None  # noqa: S101
        [body] = self.whole(work, [package_id])
        supply = [{"id": package["id"]} for package in body["supply_deals"]]
        selection = {choice["seat"]["id"]: choice["seat"] for choice in body["seats"] if choice["value"]}
        column = t.demand_deals.c
        mine = select(t.demand_deals).where(column.package_id == package_id).order_by(column.id)
        have = {row.seat_id: row for row in work.rows(mine)}
        if in_use := [f"{row.id} '{row.name}'" for seat, row in have.items() if seat not in selection]:
            raise InUse(f"Seats can't be deselected: the demand deals {', '.join(in_use)} depend on them")
        for row in have.values() if follow else ():
            self.deals.link(work, row.id, {"supply_deals": supply})
        keys: list[EntityKey] = []
        for seat in (seat for number, seat in selection.items() if number not in have):
            name = generated_name(body["name"], seat["name"])
            deal = {"name": name, "seat": seat, "package": {"id": package_id}}
            keys += self.deals.create(
                work, deal | {"supply_deals": supply, "deal_sync": False, "is_active": True}
            )
        return keys


def _targets_of(work: Work, ids: Sequence[int]) -> dict[int, list[Fields]]:
    links = t.package_seats.c
    rows = work.rows(select(t.package_seats).where(links.package_id.in_(ids)).order_by(links.seat_id))
    buyers = seats_of(work, {row.seat_id for row in rows})
    targets: dict[int, list[Fields]] = defaultdict(list)
    for row in rows:
        seat = buyers[row.seat_id]
        targets[row.package_id].append({"value": row.value, "seat": seat, "dsp": seat["dsp"]})
    return targets


def _deals(work: Work, ids: Sequence[int]) -> dict[int, list[Fields]]:
    question = select(t.demand_deals, status.of_deal(work.now).label("status"))
    links: dict[int, list[Fields]] = defaultdict(list)
    for row in work.rows(question.where(t.demand_deals.c.package_id.in_(ids)).order_by(t.demand_deals.c.id)):
        links[row.package_id].append(
            {"id": row.id, "name": row.name, "deal_id": row.deal_id, "status": row.status}
        )
    return links


class DemandDeals(EntityStore):
    """One seat's access to supply packages."""

    links: ClassVar[Mapping[str, str]] = {"supply_deals": "supply_deals"}

    def question(self, work: Work) -> Any:
        """The select, with the columns of the status, here and at the DSP."""
        return select(
            self.table,
            status.of_deal(work.now).label("status"),
            status.at_buyer().label("buyer_status"),
            t.packages.c.name.label("of"),
        ).join(t.packages, t.packages.c.id == self.table.c.package_id, isouter=True)

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its seat, its DSP and its packages."""
        buyers = seats_of(work, {row.seat_id for row in rows})
        supply = _packages_of(work, t.supply_package_deals, "demand_deal_id", [row.id for row in rows])
        return [
            {
                "id": row.id,
                **self.own(row),
                "deal_id": row.deal_id,
                "seat": buyers[row.seat_id],
                "dsp": buyers[row.seat_id]["dsp"],
                "supply_deals": supply[row.id],
                "package": row.package_id and {"id": row.package_id, "name": row.of},
                "status": row.status,
                "buyer_status": None if row.buyer_status is None else BUYER_STATUS[row.buyer_status],
            }
            for row in rows
        ]

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Seat and packages are there; deal sync is possible; the fee is whole."""
        names = work.names(t.supply_packages, linked_ids(fields.get("supply_deals")))
        whole = {**(before or {}), **fields}
        seat = (whole.get("seat") or {}).get("id")
        buyers = {} if seat is None else seats_to_sell_to(work, {seat})
        check_deal(fields, whole, buyers, names, (), problems)

    def create(self, work: Work, fields: Fields) -> list[EntityKey]:
        """Create the deal with a new, unique deal id."""
        deal_id = new_deal_id()
        work.connection.execute(insert(t.deal_ids).values(deal_id=deal_id, given=work.now))
        return super().create(work, fields | {"deal_id": deal_id})

    def link(self, work: Work, entity_id: int, fields: Fields) -> list[EntityKey]:
        if "supply_deals" in fields:
            others = [{"supply_package_id": package["id"]} for package in fields["supply_deals"]]
            work.relink(t.supply_package_deals, ("demand_deal_id", entity_id), others)
        return []


def check_deal(
    fields: Fields,
    whole: Fields,
    buyers: Mapping[int, Fields],
    packages: Mapping[int, str],
    where: Path,
    problems: Problems,
) -> None:
    """Add the violated rules of a deal's `fields`, which make it `whole`.

    `buyers` are the seats that the caller may sell to, `packages` those that they may see, by id.
    """
    # First: a rule is left out beside other problems of its terms.
    check_terms(whole, fields, where, problems)
    refer(packages, "supply package", fields.get("supply_deals"), (*where, "supply_deals"), problems)
    seat = (whole.get("seat") or {}).get("id")
    if seat is not None and seat not in buyers:
        problems.add((*where, "seat", "id"), f"There is no seat {seat}.")
    elif seat is not None and whole.get("deal_sync"):
        check_sync(buyers[seat], (*where, "deal_sync"), problems)


def check_sync(seat: Fields, where: Path, problems: Problems) -> None:
    """Deals are synchronized only to a DSP that supports it."""
    if not seat["dsp"]["supports_deal_sync"]:
        problems.add(
            where, f"The DSP '{seat['dsp']['name']}' of the seat '{seat['name']}' does not support deal sync."
        )


def check_terms(whole: Fields, changes: Collection[str], where: Path, problems: Problems) -> None:
    """Add the rules of terms that the whole deal breaks, where `changed` are about them (TERM_RULES).

    Left out are rules about a term that can't be read.
    """
    for name, rule in broken_rules(whole, changes).items():
        if not any(problems.at(*where, term) for term in rule.terms):
            problems.add((*where, name), rule.sentence)


def seats_of(work: Work, ids: Collection[int]) -> dict[int, Fields]:
    """Id → seat with its DSP, of those that exist."""
    question = (
        select(t.seats, t.dsps.c.name.label("dsp"), t.dsps.c.supports_deal_sync)
        .join(t.dsps, t.dsps.c.id == t.seats.c.dsp_id)
        .where(t.seats.c.id.in_(ids))
    )
    seat_of: dict[int, Fields] = {}
    for row in work.rows(question) if ids else ():
        dsp = {"id": row.dsp_id, "name": row.dsp, "supports_deal_sync": row.supports_deal_sync}
        seat_of[row.id] = {"id": row.id, "name": row.name, "external_id": row.external_id, "dsp": dsp}
    return seat_of


def seats_to_sell_to(work: Work, ids: Collection[int]) -> dict[int, Fields]:
    """The same, of the seats that the caller may sell to."""
    return seats_of(work, {number for number in ids if work.scope.has_seat(number)})


def _packages_of(work: Work, links: Table, owner: str, ids: Sequence[int]) -> dict[int, list[Fields]]:
    """Id of what `links` links with supply packages (in its column `owner`) → these packages, in brief."""
    package, state = t.supply_packages.c, status.of_package(work.now)
    question = (
        select(*(package[name] for name in BRIEF), links.c[owner].label("owner"), state.label("status"))
        .join(links, links.c.supply_package_id == package.id)
        .where(links.c[owner].in_(ids))
        .order_by(package.id)
    )
    packages: dict[int, list[Fields]] = defaultdict(list)
    for row in work.rows(question):
        packages[row.owner].append(_in_brief(row))
    return packages


def _in_brief(row: Row[Any]) -> Fields:
    """A supply package as a reference in other entities."""
    end = row.end_date and moments.write(moments.at_offset(row.end_date, row.end_date_offset))
    return {
        "id": row.id,
        "name": row.name,
        "media_type": row.media_type,
        "is_active": row.is_active,
        "start_date": moments.write(moments.at_offset(row.start_date, row.start_date_offset)),
        "end_date": end,
        "status": row.status,
    }


def new_deal_id() -> str:
    """`TR-7K2Q-9FXA-4M1D`: 60 random bits in digits and letters, without I, L, O and U."""
    bits = secrets.randbits(60)
    letters = "".join(LETTERS[bits >> shift & 31] for shift in range(0, 60, 5))
    return f"TR-{letters[:4]}-{letters[4:8]}-{letters[8:]}"
