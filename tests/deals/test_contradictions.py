"""Terms that contradict each other or the report: asked about on screens, warned of by the API."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from deals.caller import Caller, World, option, package, unique
from lib.deals import doubts

NOW = dt.datetime(2026, 12, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("price", "units", "budget", "is_odd"),
    [
        ("5", 1_000_000, "5000", False),
        ("5", 1_000_001, "5000", True),
        ("0.01", 500_000_000, "4999.99", True),
        ("5", None, "1", False),
        (None, 5, "1", False),
        ("5", 1_000_000, None, False),
    ],
)
def test_a_guarantee_that_costs_more_than_the_budget(
    price: str | None, units: int | None, budget: str | None, is_odd: bool
) -> None:
    """Guaranteed impressions at a price per thousand may come to the budget, and not to more."""
    terms = {
        "price": price and Decimal(price), "units": units and Decimal(units),
        "budget": budget and Decimal(budget),
    }  # fmt: skip
    sentences = doubts.of_terms(terms)
    assert bool(sentences) is is_odd
    assert all("budget" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("units", "days", "daily", "word"),
    [
        (100, 10, 10.0, ""),
        (101, 10, 10.0, "about 100"),
        (10**9, 10, None, ""),
        (100, None, 10.0, "without an end"),
        (None, None, 10.0, ""),
        (100, -1, 1.0, ""),
    ],
    ids=["just enough", "one too many", "report not known", "no end", "no guarantee", "over already"],
)
def test_a_guarantee_against_what_the_targeting_had(
    units: int | None, days: int | None, daily: float | None, word: str
) -> None:
    """Guaranteed impressions are compared with what the targeting had over as many days as are left."""
    end = None if days is None else NOW + dt.timedelta(days=days)
    sentences = doubts.of_guarantee(units and Decimal(units), end, NOW - dt.timedelta(days=90), daily, NOW)
    assert [word in sentence for sentence in sentences] == ([True] if word else [])


def test_days_before_the_start_do_not_count() -> None:
    """A package that starts later has the days from its start to its end."""
    start, end = NOW + dt.timedelta(days=5), NOW + dt.timedelta(days=10)
    assert doubts.of_guarantee(Decimal(60), end, start, 10.0, NOW)
    assert not doubts.of_guarantee(Decimal(50), end, start, 10.0, NOW)


def test_the_api_warns_of_them(manager: Caller, there: World) -> None:
    """A deal alone, and deals with a package, are created, and the answer warns of too low a budget."""
    terms: dict[str, Any] = {"deal_type": "guaranteed", "units": 1_000_000, "budget": 10}
    answer = manager.ask("POST", "demand_deals/", {"name": unique("Deal"), **option(there.ada), **terms})
    assert [warning for warning in answer.json()["warnings"] if "budget of 10.00" in warning]
    body = package(
        end_date="2099-12-31 00:00:00+0000",
        create_demand_deals={"demand_deals_options": [option(there.ada) | terms]},
    )
    [warning] = manager.ask("POST", "supply_deals/", body).json()["warnings"]
    assert "budget of 10.00" in warning
