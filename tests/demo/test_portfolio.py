"""The portfolio of the demo, its overlaps compared with a database that is not ours."""

import datetime as dt
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from peopled import people_in

from lib import connect
from lib.deals.models import AppList, DemandDeal, DomainList, SupplyPackage
from lib.demo.cast import PEOPLE
from lib.demo.deals import seed
from lib.insight.deal_report import DealReport
from lib.insight.filters import entries
from lib.insight.portfolio_report import DealBook, Portfolio, read
from lib.reporting import dates
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.wire.errors import BadRequest

from .conftest import TODAY


@pytest.fixture(scope="module")
def book_and_report(
    warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DealBook, DealReport]:
    """The demo's active deals, and its slicer of deals."""
    home: Path = tmp_path_factory.mktemp("portfolio")
    (home / "warehouse").symlink_to(warehouse.root)
    people = people_in(home)
    people.add(PEOPLE[1], "demo")
    clients = connect.connect(people.get("manager") or PEOPLE[1], Settings(home=home, demo=True))
    seed(clients.deals, TODAY)
    deals = [*clients.deals.everything(DemandDeal, is_active=True, ordering="id")]
    packages = {one.id or 0: one for one in clients.deals.everything(SupplyPackage)}
    lists = entries([*clients.deals.everything(DomainList), *clients.deals.everything(AppList)])
    slicer = clients.reporting.info(InfoQuery(project_name="demo", slicer_name="curation"))

    def ask(query: AudienceQuery) -> Audience:
        days = dates.date_range(query.start_date, query.end_date, TODAY)
        whole = {"start_date": days[0].isoformat(), "end_date": days[1].isoformat()}
        return clients.reporting.audience(query.model_copy(update=whole), slicer=slicer)

    return DealBook(deals, packages, lists), DealReport("demo", "curation", slicer, TODAY, ask)


@pytest.fixture(scope="module")
def portfolio(book_and_report: tuple[DealBook, DealReport]) -> Portfolio:
    """Their portfolio."""
    return read(book_and_report[1], book_and_report[0])


def condition(package: SupplyPackage, lists: dict[tuple[str, int], tuple[str, ...]]) -> str:
    """A package's targeting as SQL."""
    parts = [f"media_type = '{package.media_type}'"]
    values = defaultdict(list)
    for geo in package.geo_targetings:
        values["country", geo.is_excluded].append(geo.value)
    for device in package.device_targetings:
        values["device_type", device.is_excluded].append(device.value)
    for size in package.size_targetings:
        values["size", size.is_excluded].append(f"{size.width}x{size.height}")
    for one in package.domain_list_targetings:
        values["site_domain", one.is_excluded] += lists["domain_list", one.id]
    for (name, is_excluded), some in values.items():
        quoted = ", ".join(f"'{value}'" for value in some)
        parts.append(f"coalesce({name}, '') {'not in' if is_excluded else 'in'} ({quoted})")
    return " and ".join(parts)


def test_overlaps_are_those_of_duckdb(portfolio: Portfolio, rows: duckdb.DuckDBPyConnection) -> None:
    """Each deal's bid requests, wins and spend, and the share that each other deal of its seat reaches."""
    book = portfolio.book
    known = {deal.id: deal for deal in book.deals}
    days = f"time::date between '{portfolio.first}' and '{portfolio.last}'"
    pairs = 0
    for one in portfolio.standings:
        mine = f"from curation where {days} and deal = '{one.deal.id}'"
        sums = rows.sql(f"select sum(bid_requests), sum(imps), sum(spend) {mine}").fetchall()[0]
        assert (one.requests, one.wins, one.spend) == pytest.approx([each or 0 for each in sums])
        wanted, seat = {}, known[one.deal.id].seat
        for other in book.deals:
            if other.id == one.deal.id or other.seat.id != seat.id or not one.requests:
                continue
            package = book.packages[other.supply_deals[0].id]
            where = condition(package, dict(book.lists))
            reached = rows.sql(f"select sum(bid_requests) {mine} and {where}").fetchall()[0][0]
            if reached:
                wanted[other.id] = 100 * reached / one.requests
        assert dict(one.competition.rivals) == pytest.approx(wanted)
        pairs += len(wanted)
    assert pairs > 20


def test_no_claim_without_its_whole_range(portfolio: Portfolio) -> None:
    """Whatever is said to be able to end loses less than 5 % at most, and a paused deal is none of them."""
    assert all(one.competition.loss.high < 5 for one in portfolio.standings if one.verdict == "Could end")
    assert 14 not in {one.deal.id for one in portfolio.standings}


def test_a_spent_budget_is_seen(book_and_report: tuple[DealBook, DealReport]) -> None:
    """A budget that the report says is spent caps the deal, and twice of it does not."""
    book, report = book_and_report
    spent = report.ask(
        report.query(7).model_copy(
            update={"start_date": report.slicer.first_date, "split_by": ("deal",), "data_fields": ("spend",)}
        )
    )
    of = dict(zip(spent.names["deal"], spent.values["spend"], strict=True))["1"]
    for factor, verdict in ((1.0, "Capped"), (2.0, "Keep")):
        deals = [
            deal.model_copy(update={"budget": factor * of}) if deal.id == 1 else deal for deal in book.deals
        ]
        standings = read(report, DealBook(deals, book.packages, book.lists)).standings
        assert (next(one for one in standings if one.deal.id == 1).verdict == "Capped") == (
            verdict == "Capped"
        )


def test_fields_that_make_it_too_long_are_left_out(book_and_report: tuple[DealBook, DealReport]) -> None:
    """Where the report refuses so many rows it is asked for fewer key fields, and the screen says which."""
    book, report = book_and_report

    def ask(query: object) -> object:
        if len(query.split_by) > 3:  # type: ignore[attr-defined]
            raise BadRequest("Too many rows")
        return report.ask(query)  # type: ignore[arg-type]

    found = read(DealReport(report.project, report.name, report.slicer, report.today, ask), book)  # type: ignore[arg-type]
    assert any(sentence.startswith("Too many values to compare by") for sentence in found.scope)
    assert any("known in part" in sentence for sentence in found.scope)


def test_a_package_is_widened_by_its_narrowest_target(portfolio: Portfolio) -> None:
    """If all of its deals are small: the kind whose removal brings most; not if one of them is not small."""
    numbers = {deal.id for deal in portfolio.book.deals if deal.supply_deals[0].id == 10}
    small = [one for one in portfolio.standings if one.deal.id in numbers]
    package = portfolio.book.packages[10]
    only = package.model_copy(
        update={"demand_deals": tuple(one for one in package.demand_deals if one.id in numbers)}
    )
    as_small = [
        replace(one, verdict="Never reached scale") if one in small else one for one in portfolio.standings
    ]
    book = replace(portfolio.book, packages={**portfolio.book.packages, 10: only})
    of = replace(portfolio, standings=as_small, book=book)
    change = of.change(replace(small[0], verdict="Never reached scale"))
    assert (change.entity, change.entity_id, change.fields) == ("supply_deals", 10, {"geo_targetings": []})  # type: ignore[union-attr]
    assert isinstance(portfolio.change(replace(small[0], verdict="Never reached scale")), str)


def test_days_are_the_last_complete_ones(portfolio: Portfolio) -> None:
    """28 days up to yesterday."""
    assert (portfolio.last - portfolio.first, portfolio.last) == (dt.timedelta(27), TODAY - dt.timedelta(1))


def test_days_without_data(book_and_report: tuple[DealBook, DealReport]) -> None:
    """Long before the first day of the report nothing is said of any deal."""
    book, report = book_and_report
    past = {"start_date": "2024-01-01", "end_date": "2024-02-01"}
    found = read(replace(report, ask=lambda query: report.ask(query.model_copy(update=past))), book)
    assert {one.verdict for one in found.standings} == {"Too little data"}
    assert all(one.competition.alone is None for one in found.standings)
