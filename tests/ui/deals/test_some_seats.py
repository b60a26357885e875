"""What screens join of reports and deals, for somebody with the deals of one seat and the whole report."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, clients, sold_rows
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.deals.deal_health import DealHealth
from lib.figures.numbers import Numbers
from lib.people import DealsGrant, Grant, Person
from lib.reporting.models import AudienceQuery
from lib.serving.health_watch import HealthWatch
from lib.settings import Settings
from lib.slicers.models import DataField

SEAT, OWN, HIDDEN, SHARED, OTHERS, MISSING = 2, 2, 1, 1, 2, 987_654
ADA = Person("ada", "Ada", None, "manager", (Grant("demo"),), deals=DealsGrant("write", frozenset({SEAT})))
SECRET = "3 Nov 2026: price of the deal: 123.25"


@pytest.fixture(autouse=True)
def _ada(own_deals_home: Path) -> None:
    """The person: of the deals 1 to 4 they see the second, of its package, sold to two others, no other."""
    people_in(own_deals_home).add(ADA, "a password")


def questions(desk: AppTest) -> Iterator[AudienceQuery]:
    """What is asked in the background of these screens."""
    for key, _ in desk.session_state["insights"].values() if "insights" in desk.session_state else ():
        yield from (query for query in key if isinstance(query, AudienceQuery))


def texts(desk: AppTest) -> str:
    """All that is said on the screen."""
    kinds = (desk.markdown, desk.caption, desk.info, desk.warning, desk.error)
    return "\n".join(element.value.replace("\\", "") for some in kinds for element in some)


@pytest.mark.parametrize(("entity", "hidden"), [("demand_deals", HIDDEN), ("supply_deals", OTHERS)])
def test_what_is_hidden_opens_as_what_is_missing(visit: Visit, entity: str, hidden: int) -> None:
    """A deal or a package of another seat opens as one that there never was, and nothing is asked."""
    screens = []
    for number in (hidden, MISSING):
        desk = visit("deals", "ada", slicer=SOLD, open=f"{entity}-{number}")
        screens.append([line.replace(f"{number} does", "N does") for line in texts(desk).splitlines()])
        assert not [*questions(desk)]
    assert screens[0] == screens[1]
    assert any("does not exist" in line for line in screens[0])


def test_a_shared_package_delivered_what_own_deals_did(visit: Visit) -> None:
    """The delivery of a package that is sold to others too is that of one's own deals in it."""
    desk = visit("deals", "ada", slicer=SOLD, open=f"supply_deals-{SHARED}")
    desk = clean(desk.button_group(key="drawer_shown").set_value("Delivery").run())
    rows = sold_rows().to_pandas()
    rows = rows[(rows["deal"] == str(OWN)) & (rows["time"].dt.date > LAST_DAY - dt.timedelta(days=30))]
    imps = next(metric.value for metric in desk.metric if metric.label == "Impressions")
    assert imps == Numbers().short(rows["imps"].sum(), DataField(name="imps"))


def test_reasons_of_health_are_found_in_ones_own_name(visit: Visit, own_deals_home: Path) -> None:
    """Stored health, which is made of all deals and of their whole past, is for people who see them all."""
    settings = Settings(home=own_deals_home, demo=True)
    now = dt.datetime.now(dt.UTC)
    HealthWatch(settings).look(now)
    store = clients(settings).healths
    assert store is not None
    stored = {OWN: DealHealth("attention", "No wins", findings=(SECRET,))}
    store.keep(store.reports()["demo", SOLD], stored, store.batch([OWN], now))
    assert SECRET in texts(visit("deals", "manager", slicer=SOLD, open=f"demand_deals-{OWN}"))
    assert SECRET not in texts(visit("deals", "ada", slicer=SOLD, open=f"demand_deals-{OWN}"))
