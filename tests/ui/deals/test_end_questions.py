"""Ends at midnight of before: asked about once, in a list, for each package or for all."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from dealing import Visit, clean
from sqlalchemy import delete, insert, select, update
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.deals.unclear_ends import unclear_ends
from lib.serving import connect
from lib.settings import Settings

ZONE = dt.timezone(dt.timedelta(hours=1))
END = dt.datetime(2031, 12, 31, tzinfo=ZONE)


@pytest.fixture
def asked(own_deals_home: Path, deals: Deals) -> Iterator[Path]:
    """Two packages whose ends at midnight in their zone were noted by the migration."""
    engine = connect.installation(Settings(home=own_deals_home, demo=True)).access.store.engine
    for number in (1, 2):
        deals.change(SupplyPackage, number, {"end_date": END})
    with engine.begin() as connection:
        connection.execute(delete(unclear_ends))
        rows = [{"package_id": number, "end_date": END} for number in (1, 2)]
        connection.execute(insert(unclear_ends), rows)
    yield own_deals_home


def opened(visit: Visit, person: str = "manager") -> AppTest:
    """The dialog."""
    desk = visit("deals", person, deals_kind="Packages")
    return clean(desk.button(key="deals_ends").click().run())


def has_button(visit: Visit, person: str = "manager") -> bool:
    """Whether somebody is asked."""
    desk = visit("deals", person, deals_kind="Packages")
    return any(button.key == "deals_ends" for button in desk.button)


def finished(desk: AppTest) -> AppTest:
    """The dialog once its plan has read or written all."""
    while desk.session_state["end_questions"].plan.is_running:
        clean(desk.run())
    return clean(desk.run())


def test_each_is_answered_once(asked: Path, visit: Visit, deals: Deals) -> None:
    """One end moves to the next midnight through the plan, the other stays; nobody is asked again."""
    desk = opened(visit)
    assert desk.button(key="deals_ends").label == "Check ends 2"
    desk.button_group(key="ends_1").set_value("day").run()
    desk.button_group(key="ends_2").set_value("moment").run()
    desk = finished(clean(desk.button(key="ends_go").click().run()))
    assert [row["End"] for row in desk.table[0].value.to_dict("records")] == ["30 Dec 2031 → 31 Dec 2031"]
    assert deals.get(SupplyPackage, 1).end_date == END, "nothing is saved by a preview"
    finished(clean(desk.button(key="ends_save").click().run()))
    assert deals.get(SupplyPackage, 1).end_date == END + dt.timedelta(days=1)
    assert deals.get(SupplyPackage, 2).end_date == END
    assert not has_button(visit)


def test_for_all(asked: Path, visit: Visit, deals: Deals) -> None:
    """A click answers for all, and without a later end nothing has to be previewed."""
    desk = clean(opened(visit).button(key="ends_all_moment").click().run())
    assert desk.button(key="ends_go").label == "Keep 2 ends"
    clean(desk.button(key="ends_go").click().run())
    assert not has_button(visit)
    engine = connect.installation(Settings(home=asked, demo=True)).access.store.engine
    with engine.connect() as connection:
        answers = connection.execute(select(unclear_ends.c.answer, unclear_ends.c.who)).all()
    assert [tuple(row) for row in answers] == [("moment", "manager")] * 2
    assert deals.get(SupplyPackage, 1).end_date == END


def test_an_end_that_was_changed_is_no_question(asked: Path, visit: Visit, deals: Deals) -> None:
    """Who has given a package another end since has answered; so has time where it is over."""
    deals.change(SupplyPackage, 1, {"end_date": END + dt.timedelta(days=3)})
    assert opened(visit).button(key="deals_ends").label == "Check ends 1"
    engine = connect.installation(Settings(home=asked, demo=True)).access.store.engine
    over = dt.datetime.now(dt.UTC) - dt.timedelta(days=400)
    deals.change(SupplyPackage, 2, {"start_date": over - dt.timedelta(days=1), "end_date": over})
    with engine.begin() as connection:
        connection.execute(update(unclear_ends).where(unclear_ends.c.package_id == 2).values(end_date=over))
    assert not has_button(visit)


def test_only_who_may_change_deals_is_asked(asked: Path, visit: Visit) -> None:
    """A viewer has no such button, and the store answers nothing to them."""
    assert not has_button(visit, "viewer")
    assert has_button(visit)
