"""Verbs that propose: a new package, or a change. Nothing is changed until a person approves it."""

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from lib.agents.answers import Json, number, text
from lib.agents.deals import link, report_of_deals, require
from lib.agents.inventory import lists_of
from lib.agents.python_client import Desk
from lib.agents.verbs import Arguments, KeyFilter, Verb, key_filter
from lib.deals import moments
from lib.deals.models import AppList, DemandDeal, DomainList, MediaType, Seat, SupplyPackage, Targeting
from lib.deals.targeting.filters import Lists, entries
from lib.deals.targeting.from_filters import FromFilters, from_filters
from lib.insight import Insight
from lib.reporting import links
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter

ENTITIES: dict[str, Any] = {"deals": DemandDeal, "packages": SupplyPackage}
TARGETING = tuple(Targeting.model_fields)


class ProposedSeat(Arguments):
    """A seat that is to buy, at a price."""

    seat: int = Field(description="Id of a seat")
    price: Decimal = Field(gt=0)


class PackageToPropose(Arguments):
    """A package to propose."""

    name: str = Field(min_length=1, max_length=200)
    reason: str = Field(min_length=1, max_length=2_000, description="Why, for the person who decides")
    start: dt.date = Field(description="First day")
    end: dt.date | None = Field(None, description="Last day; default: no end")
    like: int | None = Field(None, description="Id of a package whose targeting it starts from")
    filters: list[KeyFilter] = Field(
        [], max_length=20, description="Targeting in fields of the deals' slicer: equals, not equals"
    )
    media_type: MediaType | None = Field(None, description="Default: that of `like`")
    seats: list[ProposedSeat] = Field([], max_length=50)


def propose_package(desk: Desk, arguments: PackageToPropose) -> Json:
    """Propose a package; the answer has what it is expected to have, and what of the filters was left out."""
    report = report_of_deals(desk)
    base = None if arguments.like is None else require(desk, SupplyPackage, arguments.like)
    targets, lists, question = _targets(desk, report, arguments.filters)
    targeting = targets.targeting
    if base is not None:
        # That of the other package, with those kinds in place of its own that filters name.
        parts = {name: getattr(targeting, name) or getattr(base, name) for name in TARGETING}
        dumps = {name: [target.model_dump() for target in part] for name, part in parts.items()}
        targeting = Targeting.model_validate(dumps)
    media_type = arguments.media_type or targets.media_type or (base.media_type if base else None)
    if media_type is None:
        raise BadRequest("media_type is required where no package is named in `like`")
    zone = dt.timezone(dt.timedelta(hours=0 if report is None else report.slicer.timezone))
    start, end = _midnight(arguments.start, zone), None
    if arguments.end is not None:
        end = _midnight(arguments.end + dt.timedelta(days=1), zone)
    fields: Json = {"name": arguments.name, "media_type": media_type, "start_date": moments.write(start)}
    fields |= {} if end is None else {"end_date": moments.write(end)}
    fields |= {name: value for name in TARGETING if (value := targeting.model_dump()[name])}
    if arguments.seats:
        seats = [(require(desk, Seat, terms.seat).id, terms.price) for terms in arguments.seats]
        options = [{"seat": {"id": seat}, "price": price} for seat, price in seats]
        fields["create_demand_deals"] = {"demand_deals_options": options}
    lists = {**lists, **({} if base is None else lists_of(desk, [base]))}
    booking = start, end
    forecast = report and report.expected(targeting, lists, media_type, booking)
    proposal = {"fields": fields, "reason": arguments.reason, "expected": forecast, "question": question}
    left_out = [f"{gap.filter.name}: {gap.why}" for gap in targets.left_out]
    left_out += [f"{new.kind.title}: no list has these entries; make one first" for new in targets.lists]
    answer = _describe(desk, desk.deals_api.propose(proposal))
    return answer | {"not_targeted": [*map(text, left_out)]}


class ChangeToPropose(Arguments):
    """A change to propose."""

    kind: Literal["deals", "packages"]
    id: int
    fields: dict[str, Any] = Field(
        min_length=1, description="New values by field: price, is_active, name, start_date, end_date, …"
    )
    reason: str = Field(min_length=1, max_length=2_000, description="Why, for the person who decides")


def propose_change(desk: Desk, arguments: ChangeToPropose) -> Json:
    """Propose other values of fields of a package or a deal."""
    model = ENTITIES[arguments.kind]
    entity = require(desk, model, arguments.id)
    proposal: Json = {"entity": model.entity, "entity_id": arguments.id}
    proposal |= {"fields": arguments.fields, "reason": arguments.reason}
    answer = _describe(desk, desk.deals_api.propose(proposal))
    return answer | {"of": {"id": arguments.id, "name": text(entity.name or "")}}


def _targets(
    desk: Desk, report: Insight | None, filters: list[KeyFilter]
) -> tuple[FromFilters, Lists, Json | None]:
    """The targeting that filters make, the entries of all lists, in which it finds those it needs, and the
    question that the filters are, for whoever decides."""
    if not filters:
        return FromFilters(), {}, None
    if report is None:
        raise BadRequest("Filters need a report of deals that you may see: name a package in `like` instead")
    conditions, api = [*map(key_filter, filters)], desk.deals_api
    params = links.to_params(desk.query(f"{report.project}/{report.name}", filters=conditions))
    question = {"project": params.pop("project"), "slicer": params.pop("slicer"), "params": params}
    lists = entries([*api.everything(DomainList), *api.everything(AppList)])
    return from_filters([*map(Filter.model_validate, conditions)], report.slicer, lists), lists, question


def _describe(desk: Desk, proposal: Json) -> Json:
    forecast, entity = proposal["expected"], proposal["entity"]
    where = f"{desk.address}/deals"
    if proposal["entity_id"] is not None:
        where = link(desk, entity, proposal["entity_id"])
    return {
        "proposal": proposal["id"],
        "state": proposal["state"],
        "warnings": proposal["warnings"],
        "changes": [
            {"field": change["field"], "before": _plain(change["before"]), "after": _plain(change["after"])}
            for change in proposal["changes"]
        ],
        "expected": None
        if forecast is None
        else {
            "field": forecast["field"],
            "days": [forecast["first_day"], forecast["last_day"]],
            "low": number(float(forecast["low"])),
            "high": number(float(forecast["high"])),
            "exact": False,
            "range_held": forecast.get("range_held"),
            "past_periods_tested": forecast.get("past_periods_tested"),
        },
        "next": "A person with the permission to change deals approves, edits or declines it on Deals",
        "link": where,
    }


def _plain(value: Any) -> Any:
    """A value of JSON, with numbers as floats and texts no longer than they help."""
    match value:
        case Decimal():
            return number(float(value))
        case str():
            return text(value)
        case list() | tuple():
            return [_plain(item) for item in value[:20]]
        case dict():
            return {name: _plain(content) for name, content in value.items()}
        case _:
            return value


def _midnight(day: dt.date, zone: dt.timezone) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), zone)


VERBS = (
    Verb(
        "propose_package",
        "Propose a new package (targeting, dates, seats and prices) for a person to approve.",
        PackageToPropose, propose_package, "changes", "Open the link", "propose",
    ),
    Verb(
        "propose_change",
        "Propose other values of a deal or package for a person to approve; changes nothing.",
        ChangeToPropose, propose_change, "changes", "Open the link", "propose",
    ),
)  # fmt: skip
