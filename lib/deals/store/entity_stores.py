"""The store of each kind of entity, by its path name."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Row, Table, select

from lib.deals import fields, moments, queries, requests
from lib.deals.fields import TERMS
from lib.deals.models import generated_name
from lib.deals.store import status
from lib.deals.store import tables as t
from lib.deals.store.demand_deals import (
    DemandDeals,
    Packages,
    check_sync,
    seats_of,
    seats_to_sell_to,
)
from lib.deals.store.entity_store import Dependants, EntityStore, linked_ids, refer
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Path, Problems, broken_rules

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
_LINKS, _OLD = t.supply_package_deals.c, t.package_supply_packages.c
DEALS = DemandDeals(
    "demand_deals",
    t.demand_deals,
    requests.DemandDealRequest,
    search_fields=fields.search_fields(fields.DEALS),
)


@dataclass(frozen=True)
class SupplyPackages(EntityStore):
    """Supply packages. `deals` creates the demand deals of a package."""

    deals: EntityStore | None = None
    links: ClassVar[Mapping[str, str]] = {"demand_deals": "demand_deals"}
    parts: ClassVar[Mapping[str, Table]] = {"demand_deals": t.demand_deals, "packages": t.packages}

    def question(self, work: Work) -> Any:
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
        """Check that the end is after the start, references exist, and there is one source of deals."""
        _check_dates({**(before or {}), **fields}, fields, problems)
        for name, (noun, table) in REFERENCES.items():
            names = work.names(table, linked_ids(fields.get(name)))
            refer(names, noun, fields.get(name), (name,), problems)
        new_deals = fields.get("create_demand_deals")
        if new_deals is not None:
            if fields.get("demand_deals") is not None:
                problems.add((), EITHER)
            _check_options(work, new_deals, problems)

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
        name = fields.get("name") or work.names(self.table, [entity_id])[entity_id]
        return self._generate(work, entity_id, name, new_deals)

    def _generate(self, work: Work, package_id: int, name: str, new_deals: Fields) -> list[EntityKey]:
        """Create a deal for each option, with its own terms, else with those that all share."""
        assert self.deals is not None  # noqa: S101
        options = new_deals["demand_deals_options"]
        buyers = seats_of(work, {option["seat"]["id"] for option in options})
        common = {"supply_deals": [{"id": package_id}], **{term: new_deals[term] for term in TERMS}}
        keys: list[EntityKey] = []
        for option in options:
            seat = buyers[option["seat"]["id"]]
            own = {field: option[field] for field in ("seat", "price", "deal_sync", "is_active")}
            deal = {**common, **own, **_own_terms(option), "name": generated_name(name, seat["name"])}
            keys += self.deals.create(work, deal)
        return keys


def _check_dates(whole: Fields, fields: Fields, problems: Problems) -> None:
    if problems.at("start_date") or problems.at("end_date"):
        return
    start, end = _moment(whole.get("start_date")), _moment(whole.get("end_date"))
    if start is not None and end is not None and end <= start:
        where = "end_date" if fields.get("end_date") else "start_date"
        problems.add((where,), "The end must be after the start.")


def _moment(value: Any) -> datetime | None:
    return moments.parse(value) if isinstance(value, str) else value


def _check_options(work: Work, new_deals: Fields, problems: Problems) -> None:
    _check_terms_of_options(new_deals, problems)
    options = new_deals.get("demand_deals_options", [])
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


def _check_terms_of_options(new_deals: Fields, problems: Problems) -> None:
    """The rules of terms for each deal; a sentence stands once where the shared terms alone break it."""
    broken: dict[Path, str] = {}
    for number, option in enumerate(new_deals.get("demand_deals_options") or [{}]):
        own_path, own = (*OPTIONS, number), _own_terms(option)
        whole = {**new_deals, **own, "deal_sync": option.get("deal_sync")}
        for name, rule in broken_rules(whole).items():
            path = own_path if own.keys() & rule.terms else OPTIONS[:1]
            if not any(problems.at(*at, term) for at in (own_path, OPTIONS[:1]) for term in rule.terms):
                broken[*path, name] = rule.sentence
    for path, sentence in broken.items():
        problems.add(path, sentence)


def _own_terms(option: Fields) -> Fields:
    return {term: option[term] for term in TERMS if option.get(term) is not None}


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


class Dsps(EntityStore):
    """A demand-side platform."""

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Check that deal sync is not switched off while deals use it."""
        if before is not None and fields.get("supports_deal_sync") is False:
            _check_sync(work, t.seats.c.dsp_id == before["id"], "supports_deal_sync", problems)


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
            _check_sync(work, t.seats.c.id == before["id"], "dsp", problems)


def _check_sync(work: Work, at: ColumnElement[bool], field: str, problems: Problems) -> None:
    """Add a problem that names the synchronized deals of these seats, if there are any."""
    question = (
        select(t.demand_deals.c.id, t.demand_deals.c.name)
        .join(t.seats, t.seats.c.id == t.demand_deals.c.seat_id)
        .where(at, t.demand_deals.c.deal_sync)
        .order_by(t.demand_deals.c.id)
    )
    if names := [f"{row.id} '{row.name}'" for row in work.rows(question.limit(NAMED_DEALS))]:
        problems.add((field,), f"Demand deals are synchronized, and need deal sync: {', '.join(names)}.")


def _deals(column: str) -> Dependants:
    return Dependants("demand deal", t.demand_deals, t.demand_deals.c[column])


def _supply(links: Table) -> Dependants:
    return Dependants("supply package", t.supply_packages, links.c.list_id, links.c.supply_package_id)


SUPPLY = SupplyPackages(
    "supply_deals",
    t.supply_packages,
    requests.SupplyPackageRequest,
    (
        Dependants("demand deal", t.demand_deals, _LINKS.supply_package_id, _LINKS.demand_deal_id),
        Dependants("package", t.packages, _OLD.supply_package_id, _OLD.package_id),
    ),
    deals=DEALS,
)
PACKAGES = Packages("packages", t.packages, requests.PackageRequest, (_deals("package_id"),), deals=DEALS)
SEATS = Seats(
    "seats",
    t.seats,
    requests.SeatRequest,
    (
        _deals("seat_id"),
        Dependants("package", t.packages, t.package_seats.c.seat_id, t.package_seats.c.package_id),
    ),
    ("name", "external_id"),
)
DSPS = Dsps("dsps", t.dsps, requests.DspRequest, (Dependants("seat", t.seats, t.seats.c.dsp_id),))
DOMAIN_LISTS = EntityStore(
    "domain_lists",
    t.domain_lists,
    requests.DomainListRequest,
    (_supply(t.supply_domain_lists),),
)
APP_LISTS = EntityStore("app_lists", t.app_lists, requests.AppListRequest, (_supply(t.supply_app_lists),))
ENTITY_STORES: dict[str, EntityStore] = {
    entity_store.entity: entity_store
    for entity_store in (SUPPLY, DEALS, PACKAGES, SEATS, DSPS, DOMAIN_LISTS, APP_LISTS)
}
