"""Verbs about inventory: forecasts, what wins cost, and what packages share."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from pydantic import Field

from lib.agents.answers import ESTIMATE, EXACT, Json, figure, number, text
from lib.agents.deals import NO_REPORT, link, report_of_deals, require
from lib.agents.python_client import Desk
from lib.agents.verbs import Arguments, KeyFilter, Verb, key_filter
from lib.deals.models import AppList, DemandDeal, DomainList, Seat, SupplyPackage
from lib.deals.targeting.filters import Lists, entries, report_filters
from lib.insight import Forecast, SeatPrices
from lib.reporting import requests
from lib.reporting.models import AudienceQuery
from lib.slicers.dates import Days
from lib.slicers.granularities import time_key_field
from lib.slicers.roles import BIDS, IMPRESSIONS, field_of, tells_seats
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter

RECENT_DAYS = 30  # complete ones, of which prices and shared inventory are


class Targets(Arguments):
    """Inventory: that of a package, or of filters; without either, all of the slicer."""

    slicer: str | None = Field(None, description="Default: the one of deals")
    package: int | None = Field(None, description="Id of a package, whose targeting counts")
    filters: list[KeyFilter] = Field([], max_length=50)


class TargetedInventory:
    """What is asked about: its report, its filters, and what of a targeting they leave out."""

    def __init__(self, desk: Desk, targets: Targets) -> None:
        report = report_of_deals(desk, targets.slicer)
        if report is None:
            raise BadRequest(f"{NO_REPORT}; name one in `slicer`")
        self.report, self.name, self.desk = report, f"{report.project}/{report.name}", desk
        filters = tuple(Filter.model_validate(key_filter(condition)) for condition in targets.filters)
        self.left_out: tuple[str, ...] = ()
        if targets.package is not None:
            package = require(desk, SupplyPackage, targets.package)
            lists = lists_of(desk, [package])
            translation = report_filters(package, report.slicer, lists, package.media_type)
            filters, self.left_out = (*filters, *translation.filters), translation.left_out
        self.filters = filters
        requests.check(self.query(1), report.slicer)

    def query(self, days: int, **changes: object) -> AudienceQuery:
        """The question about the last complete days."""
        return self.report.query(days).model_copy(update={"filters": self.filters, **changes})

    def head(self, days: Days, query: AudienceQuery) -> Json:
        """What every answer says of it."""
        more = {"not_counted": [*map(text, self.left_out)]} if self.left_out else {}
        link_query = query.model_copy(update={"split_by": (), "limit": None, "order_by": ()})
        return {
            "slicer": self.name,
            "days": [day.isoformat() for day in days],
            "link": self.desk.link(link_query),
        } | more


def lists_of(desk: Desk, packages: Sequence[SupplyPackage]) -> Lists:
    """The entries of the domain and app lists that packages target."""
    domains = {target.id for package in packages for target in package.domain_list_targetings}
    apps = {target.id for package in packages for target in package.app_list_targetings}
    lists = [desk.deals_api.get(DomainList, number) for number in domains]
    return entries([*lists, *(desk.deals_api.get(AppList, number) for number in apps)])


class Booking(Targets):
    """Inventory in a period to come."""

    start: dt.date = Field(description="First day of the booked period")
    end: dt.date = Field(description="Last day of it")


DAY = time_key_field("day")  # the key field that a forecast is split by


def forecast_inventory(desk: Desk, arguments: Booking) -> Json:
    """Bids and impressions in a booked period, each with its range and how often that held before."""
    if arguments.end < arguments.start:
        raise BadRequest("end must not be before start")
    inventory = TargetedInventory(desk, arguments)
    slicer = inventory.report.slicer
    fields = [field for names in (BIDS, IMPRESSIONS) if (field := field_of(slicer, names)) is not None]
    if not fields or DAY not in slicer.key_names:
        raise BadRequest(f"{inventory.name} has no bids or impressions by day")
    names = tuple(field.name for field in fields)
    query = inventory.query(Forecast.HISTORY_DAYS, data_fields=names, split_by=(DAY,))
    answer, days = inventory.report.ask(query), inventory.report.period(Forecast.HISTORY_DAYS)
    zone = dt.timezone(dt.timedelta(hours=slicer.timezone))
    start = dt.datetime.combine(arguments.start, dt.time(), zone)
    end = dt.datetime.combine(arguments.end + dt.timedelta(days=1), dt.time(), zone)
    figures = {}
    for name in names:
        forecast = Forecast.of_booking(answer.by_day(name, days), start, end, slicer.timezone)
        ends = {"value": forecast.value, "low": forecast.low, "high": forecast.high}
        tests = {"exact": False, "range_held": forecast.hits, "past_periods_tested": forecast.tests}
        figures[name] = {end: number(value) for end, value in ends.items()} | tests
    period = [arguments.start.isoformat(), arguments.end.isoformat()]
    note = "The last week, or the mean of the last four, over again; no prices, seasons or holidays"
    return inventory.head(days, query) | {"booked": period, "forecast": figures, "method": note}


class Pricing(Targets):
    """Inventory, and who is to buy it at which price."""

    seats: list[int] = Field([], max_length=Forecast.MOST_SEATS, description="Ids of seats")
    price: Decimal | None = Field(None, gt=0, description="A CPM to compare")


def price_guide(desk: Desk, arguments: Pricing) -> Json:
    """The quartiles of what wins cost, of all seats and of some."""
    inventory = TargetedInventory(desk, arguments)
    slicer = inventory.report.slicer
    fields = inventory.report.win_fields
    if fields is None:
        raise BadRequest(f"{inventory.name} has no data field for the win CPM, or none that counts wins")
    if arguments.seats and not tells_seats(slicer):
        raise BadRequest(f"{inventory.name} can't tell what a seat won: leave seats out")
    seats = [None, *(require(desk, Seat, number) for number in arguments.seats)]
    lookup = inventory.report.seat_prices(fields, inventory.filters, seats, RECENT_DAYS)
    prices = lookup.read([inventory.report.ask(query) for query in lookup.queries])
    guides = [_guide(*pair, arguments.price) for pair in zip(seats, prices, strict=True)]
    link_query = inventory.query(RECENT_DAYS, data_fields=(fields.cpm, fields.wins))
    note = "Averages by group and day, weighted by wins; single auctions scatter more widely"
    head = inventory.head(inventory.report.period(RECENT_DAYS), link_query)
    return head | {"win_cpm": guides, "method": note}


def _guide(seat: Seat | None, prices: SeatPrices, price: Decimal | None) -> Json:
    guide: Json = {"seat": "all" if seat is None else seat.id, "win_rate_percent": number(prices.win_rate)}
    if prices.win_prices is None:
        return guide | {"wins": "none"}
    wins = prices.win_prices
    guide |= {"quartile_1": number(wins.low), "median": number(wins.median), "quartile_3": number(wins.high)}
    guide |= {"precision": EXACT if wins.is_exact else "estimated from a sample", "groups": wins.groups}
    if price is not None:
        guide["at_or_above_price"] = f"{wins.share_from(price)} of these wins"
    return guide


class SeveralPackages(Arguments):
    """Two packages or more."""

    packages: list[int] = Field(min_length=2, max_length=8, description="Ids of packages")
    slicer: str | None = Field(None, description="Default: the one of deals")


def shared_inventory(desk: Desk, arguments: SeveralPackages) -> Json:
    """What each two packages share, and seats with two prices for it."""
    report = report_of_deals(desk, arguments.slicer)
    if report is None:
        raise BadRequest(f"{NO_REPORT}; name one in `slicer`")
    field = field_of(report.slicer, (*BIDS, *IMPRESSIONS))
    if field is None:
        raise BadRequest(f"{report.project}/{report.name} has no data field for bids or impressions")
    packages = [require(desk, SupplyPackage, number) for number in dict.fromkeys(arguments.packages)]
    lists = lists_of(desk, packages)
    translations = [report_filters(package, report.slicer, lists, package.media_type) for package in packages]
    lookup = report.overlap([translation.filters for translation in translations], field.name)
    answers = [report.ask(query) for query in lookup.queries]
    single, pairs = lookup.read(answers)
    is_exact = all(answer.total_of(field.name).is_exact for answer in answers)
    ids = [[deal.id for deal in package.demand_deals][:50] for package in packages]
    deals = [[*desk.deals_api.get_many(DemandDeal, package_ids).values()] for package_ids in ids]
    return {
        "slicer": f"{report.project}/{report.name}",
        "days": [day.isoformat() for day in report.period(RECENT_DAYS)],
        "field": field.name,
        "precision": EXACT if is_exact else ESTIMATE,
        "packages": [
            {
                "id": package.id,
                "name": text(package.name or ""),
                field.name: figure(volume),
                "not_counted": [*map(text, translation.left_out)],
                "link": link(desk, "supply_deals", package.id),
                "report_link": desk.link(query),
            }
            for query, package, volume, translation in zip(
                lookup.queries, packages, single, translations, strict=False
            )
        ],
        "pairs": [
            {
                "packages": [packages[pair.first].id, packages[pair.second].id],
                "shared": figure(pair.volume),
                "percent_of_first": figure(pair.of_first),
                "percent_of_second": figure(pair.of_second),
            }
            for pair in pairs
        ],
        "seats_with_two_prices": [
            {
                "seat": text(offer.seat),
                "packages": [packages[offer.pair.first].id, packages[offer.pair.second].id],
                "prices": [number(float(price)) for price in offer.prices],
                **({"currency": offer.currency} if offer.currency else {}),
            }
            for offer in report.two_prices(deals, pairs)
        ],
    }


VERBS = (
    Verb(
        "forecast",
        "Bids and impressions that a package's targeting, or filters, may have in a period, with ranges.",
        Booking, forecast_inventory,
    ),
    Verb(
        "price_guide",
        "What wins cost (quartiles of the win CPM) in a package's targeting or filters, by seat on request.",
        Pricing, price_guide, "win_cpm", "Ask about fewer seats",
    ),
    Verb(
        "overlap", "The inventory that packages share, and seats that are offered it at two prices.",
        SeveralPackages, shared_inventory, "pairs", "Compare fewer packages",
    ),
)  # fmt: skip
