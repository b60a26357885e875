"""The store of each kind of entity, by its path name."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Row, Table, insert, select

from lib.deals import fields, moments, queries, requests
from lib.deals.fields import TERMS
from lib.deals.models import BUYER_STATUS, DemandDeal, SupplyPackage, generated_name
from lib.deals.negotiation import Negotiation, OfferTerms, rounds_of
from lib.deals.store import status
from lib.deals.store import tables as t
from lib.deals.store.entity_store import Dependants, EntityStore, linked_ids, refer
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Path, Problems, broken_rules
from lib.wire.errors import InUse

EITHER = "Give either create_demand_deals or demand_deals, not both."
OPTIONS: Path = ("create_demand_deals", "demand_deals_options")
LISTS: dict[str, tuple[str, Table, Table]] = {
    "app_list_targetings": ("app list", t.app_lists, t.supply_app_lists),
    "domain_list_targetings": ("domain list", t.domain_lists, t.supply_domain_lists),
}
REFERENCES = {
    **{name: (noun, table) for name, (noun, table, _) in LISTS.items()},
    "demand_deals": ("demand deal", t.demand_deals),
}
NAMED_DEALS = 5
BRIEF = (
    "id", "name", "media_type", "is_active", "start_date", "start_date_offset", "end_date", "end_date_offset"
)  # fmt: skip
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LINKS, _OLD = t.supply_package_deals.c, t.package_supply_packages.c


class SupplyPackages(EntityStore):
    """What is sold, from when to when."""

    links: ClassVar[Mapping[str, str]] = {"demand_deals": "demand_deals"}
    parts: ClassVar[Mapping[str, Table]] = {"demand_deals": t.demand_deals, "packages": t.packages}

    def selection(self, work: Work) -> Any:
        return select(self.table, status.of_package(work.now).label("status"))

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its lists, its deals and its (deprecated) packages."""
        ids = [row.id for row in rows]
        targets = {
            name: _links(work, table, links, "list_id", ids) for name, (_, table, links) in LISTS.items()
        }
        deals = _links(work, t.demand_deals, t.supply_package_deals, "demand_deal_id", ids)
        legacy = _links(work, t.packages, t.package_supply_packages, "package_id", ids)
        return [
            {
                "id": row.id,
                **self.own(row),
                **{name: of_package[row.id] for name, of_package in targets.items()},
                "demand_deals": deals[row.id],
                "packages": legacy[row.id],
                "status": row.status,
            }
            for row in rows
        ]

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """References exist too, and deals can be synchronized."""
        self.check_rules(fields, before, problems)
        for name, (noun, table) in REFERENCES.items():
            names = work.names(table, linked_ids(fields.get(name)))
            refer(names, noun, fields.get(name), (name,), problems)
        if fields.get("create_demand_deals") is not None:
            options = fields["create_demand_deals"].get("demand_deals_options", [])
            selection = [option.get("seat", {}) for option in options]
            buyers = seats_to_sell_to(work, {seat["id"] for seat in selection if "id" in seat})
            for number, (seat, option) in enumerate(zip(selection, options, strict=True)):
                if "id" not in seat:
                    continue
                if seat["id"] not in buyers:
                    problems.add((*OPTIONS, number, "seat", "id"), f"There is no seat {seat['id']}.")
                elif seat["id"] in [choice.get("id") for choice in selection[:number]]:
                    problems.add((*OPTIONS, number, "seat", "id"), f"The seat {seat['id']} is given twice.")
                elif option.get("deal_sync"):
                    check_sync(buyers[seat["id"]], (*OPTIONS, number, "deal_sync"), problems)

    def check_rules(self, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """The end is after the start, there is one source of deals, and the terms of new ones go together."""
        if not (problems.at("start_date") or problems.at("end_date")):
            whole = {**(before or {}), **fields}
            start, end = (
                moments.parse(at) if isinstance(at, str) else at
                for at in (whole.get("start_date"), whole.get("end_date"))
            )
            if start is not None and end is not None and end <= start:
                where = "end_date" if fields.get("end_date") else "start_date"
                problems.add((where,), "The end must be after the start.")
        new_deals = fields.get("create_demand_deals")
        if new_deals is not None:
            if fields.get("demand_deals") is not None:
                problems.add((), EITHER)
            # A sentence stands once where the shared terms alone break a rule.
            broken: dict[Path, str] = {}
            for number, option in enumerate(new_deals.get("demand_deals_options") or [{}]):
                own_path, own = (
                    (*OPTIONS, number),
                    {term: option[term] for term in TERMS if option.get(term) is not None},
                )
                terms = {**new_deals, **own, "deal_sync": option.get("deal_sync")}
                for name, rule in broken_rules(terms).items():
                    path = own_path if own.keys() & rule.terms else OPTIONS[:1]
                    if not any(
                        problems.at(*at, term) for at in (own_path, OPTIONS[:1]) for term in rule.terms
                    ):
                        broken[*path, name] = rule.sentence
            for path, sentence in broken.items():
                problems.add(path, sentence)

    def found_by(self, row: Mapping[str, Any]) -> Fields:
        """Its targeting too."""
        return {**super().found_by(row), "targets": queries.text(row)}

    def link(self, work: Work, entity_id: int, fields: Fields) -> list[EntityKey]:
        """To lists and deals; creates new deals, also of a package that exists."""
        mine = ("supply_package_id", entity_id)
        for name, (_, _, links) in LISTS.items():
            if name in fields:
                entries = [
                    {"list_id": target["id"], "is_excluded": target["is_excluded"]} for target in fields[name]
                ]
                work.relink(links, mine, entries)
        if fields.get("demand_deals") is not None:
            work.relink(
                t.supply_package_deals,
                mine,
                [{"demand_deal_id": deal["id"]} for deal in fields["demand_deals"]],
            )
        new_deals = fields.get("create_demand_deals")
        if not new_deals:
            return []
        # A deal for each option, with its own terms, else with those that all share.
        name = fields.get("name") or work.names(self.table, [entity_id])[entity_id]
        options = new_deals["demand_deals_options"]
        buyers = seats_of(work, {option["seat"]["id"] for option in options})
        common = {"supply_deals": [{"id": entity_id}], **{term: new_deals[term] for term in TERMS}}
        keys: list[EntityKey] = []
        for option in options:
            seat = buyers[option["seat"]["id"]]
            own = {field: option[field] for field in ("seat", "price", "deal_sync", "is_active")}
            deal = {
                **common,
                **own,
                **{term: option[term] for term in TERMS if option.get(term) is not None},
                "name": generated_name(name, seat["name"]),
            }
            keys += DEALS.create(work, deal)
        return keys


def _links(
    work: Work, table: Table, links: Table, column: str, ids: Sequence[int]
) -> dict[int, list[Fields]]:
    """Id of a package → what it is linked with: id and name, and of a list whether it is excluded."""
    names = ("id", "name", *(["is_excluded"] if "is_excluded" in links.c else []))
    question = (
        select(links.c.supply_package_id, table.c.id, table.c.name, *(links.c[name] for name in names[2:]))
        .join(table, table.c.id == links.c[column])
        .where(links.c.supply_package_id.in_(ids))
        .order_by(table.c.id)
    )
    others: dict[int, list[Fields]] = defaultdict(list)
    for row in work.rows(question):
        others[row.supply_package_id].append(dict(zip(names, row[1:], strict=True)))
    return others


class DemandDeals(EntityStore):
    """One seat's access to supply packages."""

    links: ClassVar[Mapping[str, str]] = {"supply_deals": "supply_deals"}

    def selection(self, work: Work) -> Any:
        """The select, with the columns of the status, here and at the DSP."""
        return select(
            *t.DEAL_COLUMNS,
            status.of_deal(work.now).label("status"),
            status.at_buyer().label("buyer_status"),
            t.packages.c.name.label("of"),
        ).join(t.packages, t.packages.c.id == self.table.c.package_id, isouter=True)

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its seat, its DSP and its packages."""
        buyers = seats_of(work, {row.seat_id for row in rows})
        supply = _packages_of(work, t.supply_package_deals, "demand_deal_id", [row.id for row in rows])
        bodies: list[Fields] = [
            {
                "id": row.id,
                **self.own(row),
                "deal_id": row.deal_id,
                "seat": buyers[row.seat_id],
                "dsp": buyers[row.seat_id]["dsp"],
                "supply_deals": supply[row.id],
                "package": row.package_id and {"id": row.package_id, "name": row.of},
                "status": row.status,
            }
            for row in rows
        ]
        number_of_deal = {row.id: row.buyer_status for row in rows}
        # Some are decided by all that their buyers' pages show.
        if by_terms := [body for body in bodies if number_of_deal[body["id"]] == status.ANSWERED]:
            rounds = rounds_of(work.connection, "", [body["id"] for body in by_terms])
            package_ids = {package["id"] for body in by_terms for package in body["supply_deals"]}
            packages = {
                package["id"]: SupplyPackage.model_validate(package)
                for package in SUPPLY.show(work.without_limits(), [*package_ids])
            }
            for body in by_terms:
                of_deal = [packages[package["id"]] for package in body["supply_deals"]]
                terms = OfferTerms.of(DemandDeal.model_validate(body), of_deal, work.usual_terms)
                negotiation = Negotiation(terms, rounds[body["id"], body["seat"]["id"]])
                number_of_deal[body["id"]] = negotiation.status
        for body in bodies:
            number = number_of_deal[body["id"]]
            body["buyer_status"] = None if number is None else BUYER_STATUS[number]
        return bodies

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Seat and packages are there; deal sync is possible; the terms go together."""
        names = work.names(t.supply_packages, linked_ids(fields.get("supply_deals")))
        whole = {**(before or {}), **fields}
        seat = (whole.get("seat") or {}).get("id")
        buyers = {} if seat is None else seats_to_sell_to(work, {seat})
        check_deal(fields, whole, buyers, names, (), problems)

    def check_rules(self, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """The terms go together."""
        check_terms(fields, {**(before or {}), **fields}, (), problems)

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
    check_terms(fields, whole, where, problems)
    refer(packages, "supply package", fields.get("supply_deals"), (*where, "supply_deals"), problems)
    seat = (whole.get("seat") or {}).get("id")
    if seat is not None and seat not in buyers:
        problems.add((*where, "seat", "id"), f"There is no seat {seat}.")
    elif seat is not None and whole.get("deal_sync"):
        check_sync(buyers[seat], (*where, "deal_sync"), problems)


def check_terms(fields: Fields, whole: Fields, where: Path, problems: Problems) -> None:
    """Add the broken rules of the terms in `fields`, but for terms that have problems already, such as one
    that can't be read."""
    for name, rule in broken_rules(whole, fields).items():
        if not any(problems.at(*where, term) for term in rule.terms):
            problems.add((*where, name), rule.sentence)


def check_sync(seat: Fields, where: Path, problems: Problems) -> None:
    """Deals are synchronized only to a DSP that supports it."""
    if not seat["dsp"]["supports_deal_sync"]:
        problems.add(
            where, f"The DSP '{seat['dsp']['name']}' of the seat '{seat['name']}' does not support deal sync."
        )


def new_deal_id() -> str:
    """`TR-7K2Q-9FXA-4M1D`: 60 random bits in digits and letters, without I, L, O and U."""
    bits = secrets.randbits(60)
    letters = "".join(LETTERS[bits >> shift & 31] for shift in range(0, 60, 5))
    return f"TR-{letters[:4]}-{letters[4:8]}-{letters[8:]}"


class Packages(EntityStore):
    """Seats and supply packages (deprecated): the selected seats get demand deals."""

    links: ClassVar[Mapping[str, str]] = {"supply_deals": "supply_deals"}
    parts: ClassVar[Mapping[str, Table]] = {
        "demand_deals": t.demand_deals,
        "seats": t.seats,
        "supply_deals": t.supply_packages,
    }

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its seats, its supply packages and its deals."""
        ids = [row.id for row in rows]
        supply = _packages_of(work, t.package_supply_packages, "package_id", ids)
        links, deal = t.package_seats.c, t.demand_deals.c
        choices = work.rows(select(t.package_seats).where(links.package_id.in_(ids)).order_by(links.seat_id))
        buyers = seats_of(work, {choice.seat_id for choice in choices})
        seats, deals = defaultdict[int, list[Fields]](list), defaultdict[int, list[Fields]](list)
        for choice in choices:
            seat = buyers[choice.seat_id]
            seats[choice.package_id].append({"value": choice.value, "seat": seat, "dsp": seat["dsp"]})
        columns = (deal.id, deal.name, deal.deal_id, status.of_deal(work.now).label("status"))
        of_packages = select(*columns, deal.package_id).where(deal.package_id.in_(ids)).order_by(deal.id)
        for row in work.rows(of_packages):
            deals[row.package_id].append(
                {name: row._mapping[name] for name in ("id", "name", "deal_id", "status")}
            )
        return [
            {
                "id": row.id,
                **self.own(row),
                "seats": seats[row.id],
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
        """To seats and supply packages; newly selected seats get their deals.

        InUse where a seat with a deal is not selected any more.
        """
        mine = ("package_id", entity_id)
        if "supply_deals" in fields:
            supply = [{"supply_package_id": package["id"]} for package in fields["supply_deals"]]
            work.relink(t.package_supply_packages, mine, supply)
        if "seats" in fields:
            seats = [
                {"seat_id": choice["seat"]["id"], "value": choice["value"]} for choice in fields["seats"]
            ]
            work.relink(t.package_seats, mine, seats)
        [body] = self.whole(work, [entity_id])
        supply = [{"id": package["id"]} for package in body["supply_deals"]]
        selection = {choice["seat"]["id"]: choice["seat"] for choice in body["seats"] if choice["value"]}
        column = t.demand_deals.c
        deals = select(t.demand_deals).where(column.package_id == entity_id).order_by(column.id)
        have = {row.seat_id: row for row in work.rows(deals)}
        if in_use := [f"{row.id} '{row.name}'" for seat, row in have.items() if seat not in selection]:
            raise InUse(f"Seats can't be deselected: the demand deals {', '.join(in_use)} depend on them")
        for row in have.values() if "supply_deals" in fields else ():
            DEALS.link(work, row.id, {"supply_deals": supply})
        keys: list[EntityKey] = []
        for seat in (seat for number, seat in selection.items() if number not in have):
            deal = {"name": generated_name(body["name"], seat["name"]), "seat": seat}
            deal |= {"package": {"id": entity_id}, "supply_deals": supply}
            keys += DEALS.create(work, deal | {"deal_sync": False, "is_active": True})
        return keys


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
        brief = {name: row._mapping[name] for name in ("id", "name", "media_type", "is_active")}
        for name in ("start_date", "end_date"):
            at, offset = row._mapping[name], row._mapping[f"{name}_offset"]
            brief[name] = at and moments.write(moments.at_offset(at, offset))
        packages[row.owner].append({**brief, "status": row.status})
    return packages


class Dsps(EntityStore):
    """A demand-side platform."""

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Check that deal sync is not switched off while deals use it."""
        if before is not None and fields.get("supports_deal_sync") is False:
            _check_synced_deals(work, t.seats.c.dsp_id == before["id"], "supports_deal_sync", problems)


class Seats(EntityStore):
    """A buyer's seat."""

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        seat_of = seats_of(work, {row.id for row in rows})
        return [seat_of[row.id] for row in rows]

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Check that the DSP exists, and supports deal sync if the seat's deals use it."""
        dsp_id = fields.get("dsp", {}).get("id")
        if dsp_id is None:
            return
        dsp = work.connection.execute(select(t.dsps).where(t.dsps.c.id == dsp_id)).one_or_none()
        if dsp is None:
            problems.add(("dsp", "id"), f"There is no DSP {dsp_id}.")
        elif before is not None and not dsp.supports_deal_sync:
            _check_synced_deals(work, t.seats.c.id == before["id"], "dsp", problems)


def _check_synced_deals(work: Work, at: ColumnElement[bool], field: str, problems: Problems) -> None:
    """Add a problem that names the synchronized deals of these seats, if there are any."""
    question = (
        select(t.demand_deals.c.id, t.demand_deals.c.name)
        .join(t.seats, t.seats.c.id == t.demand_deals.c.seat_id)
        .where(at, t.demand_deals.c.deal_sync)
        .order_by(t.demand_deals.c.id)
    )
    if names := [f"{row.id} '{row.name}'" for row in work.rows(question.limit(NAMED_DEALS))]:
        problems.add((field,), f"Demand deals are synchronized, and need deal sync: {', '.join(names)}.")


def _packages_with(links: Table) -> Dependants:
    return Dependants("supply package", t.supply_packages, links.c.list_id, links.c.supply_package_id)


DEALS = DemandDeals(
    "demand_deals",
    t.demand_deals,
    requests.DemandDealRequest,
    search_fields=fields.search_fields(fields.DEALS),
)
SUPPLY = SupplyPackages(
    "supply_deals",
    t.supply_packages,
    requests.SupplyPackageRequest,
    (
        Dependants("demand deal", t.demand_deals, _LINKS.supply_package_id, _LINKS.demand_deal_id),
        Dependants("package", t.packages, _OLD.supply_package_id, _OLD.package_id),
    ),
)
PACKAGES = Packages(
    "packages",
    t.packages,
    requests.PackageRequest,
    (Dependants("demand deal", t.demand_deals, t.demand_deals.c["package_id"]),),
)
SEATS = Seats(
    "seats",
    t.seats,
    requests.SeatRequest,
    (
        Dependants("demand deal", t.demand_deals, t.demand_deals.c["seat_id"]),
        Dependants("package", t.packages, t.package_seats.c.seat_id, t.package_seats.c.package_id),
    ),
    ("name", "external_id"),
)
DSPS = Dsps("dsps", t.dsps, requests.DspRequest, (Dependants("seat", t.seats, t.seats.c.dsp_id),))
DOMAIN_LISTS = EntityStore(
    "domain_lists", t.domain_lists, requests.DomainListRequest, (_packages_with(t.supply_domain_lists),)
)
APP_LISTS = EntityStore(
    "app_lists", t.app_lists, requests.AppListRequest, (_packages_with(t.supply_app_lists),)
)
ENTITY_STORES: dict[str, EntityStore] = {
    entity_store.entity: entity_store
    for entity_store in (SUPPLY, DEALS, PACKAGES, SEATS, DSPS, DOMAIN_LISTS, APP_LISTS)
}
