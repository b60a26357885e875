"""What agents propose: stored for a person to decide, and applied by nobody else."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dealing import clients

from lib.agents.python_client import Desk
from lib.agents.toolbox import Toolbox
from lib.deals.models import DemandDeal, SupplyPackage
from lib.serving import connect
from lib.settings import Settings

MONDAY = dt.date(2027, 3, 1)
PACKAGE = {"name": "Quiet Mornings", "reason": "Two seats ask for it", "start": MONDAY.isoformat(), "like": 1}


@pytest.fixture
def settings(own_deals_home: Path) -> Settings:
    """Settings of a data directory with deals, of the test's own."""
    return Settings(home=own_deals_home, demo=True)


@pytest.fixture
def toolbox(settings: Settings) -> Toolbox:
    """The manager's verbs."""
    return Toolbox("manager", Desk.local("manager", settings=settings), lambda _: None)


def answered(toolbox: Toolbox, verb: str, **arguments: Any) -> dict[str, Any]:
    """The answer to a call that is not refused."""
    outcome = toolbox.call(verb, arguments)
    assert not outcome.is_error, outcome.text
    return json.loads(outcome.text)


def approve(settings: Settings, number: int) -> dict[str, Any]:
    """What the deals API answers when somebody else approves a proposal."""
    installation = connect.installation(settings)
    person = installation.people.require("admin")
    headers = {"Authorization": f"Bearer {installation.desk_tokens.token(person, 'deals')}"}
    response = installation.http.post(f"/api/proposals/{number}/approve/", json={}, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_change_waits_for_a_person(toolbox: Toolbox, settings: Settings) -> None:
    """A proposed price changes nothing until it is approved; proposed again, it is the same proposal."""
    before = clients(settings).deals.get(DemandDeal, 1).price
    change = {"kind": "deals", "id": 1, "fields": {"price": 1.75}, "reason": "Bids lie below the floor"}
    proposal = answered(toolbox, "propose_change", **change)
    assert proposal["state"] == "open"
    assert proposal["changes"] == [{"field": "price", "before": float(before), "after": 1.75}]
    assert answered(toolbox, "propose_change", **change)["proposal"] == proposal["proposal"]
    assert clients(settings).deals.get(DemandDeal, 1).price == before
    approve(settings, proposal["proposal"])
    assert clients(settings).deals.get(DemandDeal, 1).price == Decimal("1.75")


def test_a_package_like_another_has_its_targeting(toolbox: Toolbox, settings: Settings) -> None:
    """A proposed package has the other's targeting, filters in place of its own kinds, dates and prices."""
    filters = [{"field": "geo.country", "values": ["FR"]}, {"field": "deal", "values": ["3"]}]
    seats = [{"seat": 1, "price": "2.25"}]
    proposal = answered(toolbox, "propose_package", **PACKAGE, end=str(MONDAY), filters=filters, seats=seats)
    assert proposal["not_targeted"] == ["deal: no target stands for this key field"]
    response = clients(settings).deals.get(
        SupplyPackage, approve(settings, proposal["proposal"])["applied_id"]
    )
    like = clients(settings).deals.get(SupplyPackage, 1)
    assert [targeting.value for targeting in response.geo_targetings] == ["FR"]
    assert response.device_targetings == like.device_targetings
    assert response.media_type == like.media_type
    assert response.end_date - response.start_date == dt.timedelta(days=1)
    deal = clients(settings).deals.get(DemandDeal, response.demand_deals[0].id)
    assert (deal.seat.id, deal.price) == (1, Decimal("2.25"))


def test_an_expected_range_is_that_of_the_forecast(toolbox: Toolbox) -> None:
    """A proposal's range is that of the verb `forecast` for the package's targeting in its first week."""
    start = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=1)
    week = {"start": str(start), "end": str(start + dt.timedelta(days=6))}
    proposed = answered(toolbox, "propose_package", **PACKAGE | {"start": str(start)})["expected"]
    forecast = answered(toolbox, "forecast", package=1, **week)["forecast"]["bids"]
    assert proposed["field"] == "bids"
    assert proposed["days"] == [*week.values()]
    for part in ("low", "high", "range_held", "past_periods_tested"):
        assert proposed[part] == forecast[part]


@pytest.mark.parametrize(
    ("verb", "arguments", "sentence"),
    [
        ("propose_change", {"kind": "deals", "id": 1, "fields": {"pric": 1}, "reason": "x"}, "'price'"),
        ("propose_change", {"kind": "deals", "id": 99, "fields": {"price": 1}, "reason": "x"}, "no deal 99"),
        ("propose_change", {"kind": "deals", "id": 1, "fields": {"price": 1}}, "reason is required"),
        ("propose_package", PACKAGE | {"filters": [{"field": "contry", "values": ["US"]}]}, "did you mean"),
        ("propose_package", {**PACKAGE, "like": None}, "media_type is required"),
    ],
)
def test_a_wrong_proposal_is_refused(
    toolbox: Toolbox, verb: str, arguments: dict[str, Any], sentence: str
) -> None:
    """A field, deal or filter that is not there, and a proposal without a reason, are refused and say why."""
    outcome = toolbox.call(verb, arguments)
    assert outcome.is_error
    assert sentence in outcome.answer["error"]


def test_a_reader_proposes_nothing(settings: Settings) -> None:
    """Somebody who may only see deals can't propose."""
    viewer = Toolbox("viewer", Desk.local("viewer", settings=settings), lambda _: None)
    change = {"kind": "deals", "id": 1, "fields": {"price": 1.75}, "reason": "x"}
    outcome = viewer.call("propose_change", change)
    assert outcome.is_error
    assert clients(settings).proposals.page(("open",)) == (0, [])
