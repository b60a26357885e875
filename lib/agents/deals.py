"""Verbs about deals and packages: finding them, their health, and what they delivered."""

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from pydantic import Field

from lib.agents.answers import Json, figure, head, number, rows, text
from lib.agents.python_client import Desk
from lib.agents.verbs import Arguments, DayRange, Verb
from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.models import DemandDeal, Dsp, EntityChange, Seat, Status, SupplyPackage
from lib.insight import Assessor, Insight
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.slicers.roles import DEAL, PACKAGE, WIN_CPM, field_of, step_fields, tells_deals
from lib.wire.errors import AccessError, BadRequest, Forbidden, NotFound, Unsupported

NOUNS = {"demand_deals": "deal", "supply_deals": "package", "seats": "seat"}
NO_REPORT = (
    "None of the slicers that you may see tells deals apart (by key fields `deal` and `supply_package`)"
)


class FindDeals(Arguments):
    """What to look for among deals or packages."""

    kind: Literal["deals", "packages"] = "deals"
    search: str = Field("", max_length=200, description="In names and deal ids")
    status: Status | None = None
    seat: int | None = Field(None, description="Id of a seat; of deals only")
    limit: int = Field(20, ge=1, le=100)


def find_deals(desk: Desk, arguments: FindDeals) -> Json:
    """Deals or packages, with what matters of each."""
    params: dict[str, Any] = {"limit": arguments.limit}
    params |= {"search": arguments.search} if arguments.search else {}
    params |= {"status": arguments.status} if arguments.status else {}
    if arguments.kind == "packages":
        if arguments.seat is not None:
            raise BadRequest("Packages have no seat: ask for deals, or leave seat out")
        packages = desk.deals_api.list(SupplyPackage, **params)
        return {"count": packages.count, "rows": [package_of(desk, package) for package in packages.results]}
    params |= {"seat": arguments.seat} if arguments.seat is not None else {}
    deals = desk.deals_api.list(DemandDeal, **params)
    return {"count": deals.count, "rows": [deal_of(desk, deal) for deal in deals.results]}


def deal_of(desk: Desk, deal: DemandDeal) -> Json:
    """A deal in the fields that a reader compares."""
    facts = {
        "id": deal.id,
        "name": text(deal.name or ""),
        "deal_id": deal.deal_id,
        "status": deal.status,
        "price": None if deal.price is None else number(float(deal.price)),
        "currency": deal.currency,
        "price_type": deal.price_type,
        "seat": None if deal.seat is None else {"id": deal.seat.id, "name": text(deal.seat.name or "")},
        "packages": [
            {"id": package.id, "name": text(package.name or "")} for package in deal.supply_deals[:5]
        ],
        "link": link(desk, "demand_deals", deal.id),
    }
    return {name: value for name, value in facts.items() if value is not None}


def package_of(desk: Desk, package: SupplyPackage) -> Json:
    """A package likewise: dates, and how many deals it has."""
    facts = {
        "id": package.id,
        "name": text(package.name or ""),
        "status": package.status,
        "media_type": package.media_type,
        "start": None if package.start_date is None else package.start_date.isoformat(),
        "end": None if package.end_date is None else package.end_date.isoformat(),
        "deals": len(package.demand_deals),
        "link": link(desk, "supply_deals", package.id),
    }
    return {name: value for name, value in facts.items() if value is not None}


def link(desk: Desk, entity: str, number: int | None) -> str:
    """Where the desk shows a deal or a package."""
    return f"{desk.address}/deals?open={entity}-{number}"


class OfDeals(Arguments):
    """Deals, by their ids (numbers, as find_deals has them)."""

    deals: list[int] = Field(min_length=1, max_length=10)


def deal_health(desk: Desk, arguments: OfDeals) -> Json:
    """The health of deals: state, where the funnel breaks, what changed, and what to do."""
    api = desk.deals_api

    def history(entity: str, number: int) -> list[EntityChange]:
        with suppress(Unsupported, NotFound):
            return api.history(entity, number)
        return []

    deals = [require(desk, DemandDeal, number) for number in arguments.deals]
    packages = {package.id or 0 for deal in deals for package in deal.supply_deals}
    seats = {deal.seat.id: deal.seat for deal in deals if deal.seat and deal.seat.id}
    whole_seats = {seat_id: api.get(Seat, seat_id) for seat_id in seats}
    dsps = {seat.dsp.id for seat in whole_seats.values() if seat.dsp and seat.dsp.id}
    context = DealContext(
        {package_id: api.get(SupplyPackage, package_id) for package_id in packages},
        whole_seats,
        {dsp_id: api.get(Dsp, dsp_id) for dsp_id in dsps},
        datetime.now(UTC),
        history,
    )
    report = report_of_deals(desk)
    healths = Assessor(report).assess(deals, context)
    return {
        "report": None if report is None else f"{report.project}/{report.name}",
        "days": None if report is None else [day.isoformat() for day in report.period(7)],
        "deals": [_health(desk, deal, healths[deal.id or 0]) for deal in deals],
    }


def _health(desk: Desk, deal: DemandDeal, assessment: DealHealth) -> Json:
    steps = [
        {"step": name, "value": number(value), "percent_of_step_before": number(rate)}
        for name, value, rate in assessment.rates
    ]
    return {
        "id": deal.id,
        "name": text(deal.name or ""),
        "state": assessment.state,
        "why": assessment.words,
        "findings": [*assessment.findings],
        "advice": assessment.advice,
        "funnel": steps,
        "precision": "exact" if steps else "no funnel",
        "link": link(desk, "demand_deals", deal.id),
    }


class PastDelivery(DayRange):
    """What deals or packages delivered."""

    deals: list[int] = Field([], max_length=50, description="Ids of deals")
    packages: list[int] = Field([], max_length=50, description="Ids of packages, instead of deals")
    by_day: bool = False


def past_delivery(desk: Desk, arguments: PastDelivery) -> Json:
    """The funnel, spend and win CPM of deals or packages on past days."""
    if bool(arguments.deals) == bool(arguments.packages):
        raise BadRequest("Give `deals` or `packages`, one of them")
    report = report_of_deals(desk)
    if report is None:
        raise BadRequest(NO_REPORT)
    field, model, ids = (
        (DEAL, DemandDeal, arguments.deals)
        if arguments.deals
        else (PACKAGE, SupplyPackage, arguments.packages)
    )
    entities = [require(desk, model, number) for number in dict.fromkeys(ids)]
    fields = delivery_fields(report.slicer)
    days = {name: day for name in ("start", "end") if (day := getattr(arguments, name)) is not None}
    split = [field, "granularity_day"] if arguments.by_day else [field]
    answer = desk.ask(
        f"{report.project}/{report.name}",
        split=split, fields=fields, filters=report.only(entities), order=split[::-1], limit=1_000,
        **days,
    )  # fmt: skip
    totals = {name: figure(answer.estimate(name)) for name in fields}
    table = rows(answer)
    without = [number for number in ids if str(number) not in {row[field] for row in table}]
    return head(answer) | {"totals": totals, "count": len(table), "rows": table, "no_rows_for": without}


def delivery_fields(slicer: Slicer) -> list[str]:
    """The steps of the funnel, spend where there is one, and the average price of a win."""
    names = [*step_fields(slicer).values()]
    names += [field.name for field in slicer.data_fields if field.name == "spend"]
    cpm = field_of(slicer, WIN_CPM)
    return [*dict.fromkeys([*names, *([] if cpm is None else [cpm.name])])]


def report_of_deals(desk: Desk, slicer: str | None = None) -> Insight | None:
    """The slicer that tells deals apart, that named or the first; None without one."""
    names, sees_all_seats = [slicer] if slicer else [], False
    with suppress(AccessError):  # a token for deals alone opens no slicer
        names = names or desk.slicers()
    for name in names:
        about = desk.info(name)
        if slicer or tells_deals(about):
            today, ask = dates.today(about.timezone), partial(desk.reporting.audience, slicer=about)
            with suppress(Forbidden):  # without a grant for deals
                sees_all_seats = desk.deals_api.abilities.sees_all_seats
            return Insight(*desk.pair(name), about, today, ask, sees_all_seats)
    return None


def require(desk: Desk, model: type[Any], number: int) -> Any:
    """A deal, package or seat by its id. NotFound says which, and how to find it."""
    try:
        return desk.deals_api.get(model, number)
    except NotFound:
        kind = NOUNS[model.entity]
        raise NotFound(f"There is no {kind} {number} that you may see; look for it by find_deals") from None


VERBS = (
    Verb(
        "find_deals", "Deals or packages by name, deal id, status or seat: ids, prices, dates.",
        FindDeals, find_deals, "rows", "Search for a part of the name",
    ),
    Verb(
        "deal_health", "Whether deals deliver and, if not, at which step, since when, why, and what to do.",
        OfDeals, deal_health, "deals", "Ask about fewer deals",
    ),
    Verb(
        "past_delivery",
        "What deals or packages delivered: requests, bids, wins, impressions, spend, win CPM.",
        PastDelivery, past_delivery, "rows", "Ask for fewer days or deals",
    ),
)  # fmt: skip
