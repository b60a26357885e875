"""What is typed in the drawer's Change is kept for whoever typed it, and offered after a reload."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import Visit, clean, clients
from sqlalchemy import text
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.package_records import Drafts
from lib.settings import Settings

PRICE, NAME = "change-demand_deals-1-price", "change-demand_deals-1-name"


def form(visit: Visit, key: str = "demand_deals-1", person: str = "manager") -> AppTest:
    """The drawer's form."""
    desk = visit("deals", person, open=key)
    return clean(desk.button_group(key="drawer_shown").set_value("Change").run())


def press(desk: AppTest, label: str) -> AppTest:
    """Press the button of this label."""
    return clean(next(button for button in desk.button if button.label == label).click().run())


def test_a_store_that_fails_hides_nothing(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it can't be looked for, the form's place says so; once the store answers, it is offered."""
    clean(form(visit).text_input(key=PRICE).set_value("2.75").run())
    with monkeypatch.context() as failing:
        failing.setattr(Drafts, "get", lambda self, key=None: self.row(text("SELECT * FROM away")))
        desk = form(visit)
        [problem] = [error for error in desk.error if "database" in error.value]
        assert "If you left a change unsaved, it is kept." in problem.value
        assert not [field for field in desk.text_input if field.key == PRICE]
    desk = press(desk, "Try again")
    assert [info.value for info in desk.info if "was not saved" in info.value]
    assert press(desk, "Continue").text_input(key=PRICE).value == "2.75"


@pytest.mark.parametrize("text", ["3.40", "2,5", "", "3.4"])
def test_it_is_offered_after_a_reload(text: str, visit: Visit, deals: Deals) -> None:
    """A new session offers what was typed, to the letter; until somebody goes on nothing is filled in."""
    clean(form(visit).text_input(key=PRICE).set_value(text).run())
    desk = visit("deals", open="demand_deals-1")
    [offer] = [info.value for info in desk.info if "was not saved" in info.value]
    assert offer.startswith("Your change from ")
    assert not [field for field in desk.text_input if field.key == PRICE]
    desk = press(desk, "Continue")
    assert desk.text_input(key=PRICE).value == text
    assert deals.get(DemandDeal, 1).price == Decimal("2.5")


def test_it_is_saved_once_somebody_saves_it(visit: Visit, deals: Deals) -> None:
    """Going on and saving changes the deal, and the next session is asked nothing."""
    clean(form(visit).text_input(key=PRICE).set_value("2.75").run())
    press(press(visit("deals", open="demand_deals-1"), "Continue"), "Save")
    assert deals.get(DemandDeal, 1).price == Decimal("2.75")
    assert not form(visit).info


def test_discarding_it_is_for_good(visit: Visit, deals: Deals) -> None:
    """Discard deletes it, from the offer as well as from the form."""
    clean(form(visit).text_input(key=PRICE).set_value("2.75").run())
    desk = press(visit("deals", open="demand_deals-1"), "Discard")
    assert desk.text_input(key=PRICE).value == "2.50"
    press(clean(desk.text_input(key=PRICE).set_value("2.76").run()), "Discard")
    assert not form(visit).info
    assert deals.get(DemandDeal, 1).price == Decimal("2.5")


def test_nobody_else_sees_it(visit: Visit) -> None:
    """Another person gets the form as the deal is."""
    clean(form(visit).text_input(key=PRICE).set_value("2.75").run())
    desk = form(visit, person="admin")
    assert not desk.info
    assert desk.text_input(key=PRICE).value == "2.50"


def test_what_others_changed_meanwhile_is_not_overwritten_unseen(visit: Visit, deals: Deals) -> None:
    """A change that is saved after a reload meets what somebody else has saved since it was typed."""
    clean(form(visit).text_input(key=PRICE).set_value("2.75").run())
    deals.change(DemandDeal, 1, {"price": Decimal("2.6")})
    desk = press(press(visit("deals", open="demand_deals-1"), "Continue"), "Save")
    assert desk.warning[0].value.startswith("Nothing was saved yet")
    assert deals.get(DemandDeal, 1).price == Decimal("2.6")


def test_targeting_and_dates_of_a_package(visit: Visit, deals: Deals) -> None:
    """Of a package dates, targeting and links come back too, and what is saved is what was typed."""
    desk = form(visit, "supply_deals-1")
    desk.text_input(key="change-supply_deals-1-end_date").set_value("2031-05-06").run()
    desk.session_state["change-supply_deals-1-target_country_only"] = ["US"]
    clean(desk.run())
    desk = press(visit("deals", open="supply_deals-1"), "Continue")
    assert desk.text_input(key="change-supply_deals-1-end_date").value == "2031-05-06"
    clean(press(desk, "Save"))
    package = deals.get(SupplyPackage, 1)
    assert [target.value for target in package.geo_targetings] == ["US"]
    assert package.end_date is not None
    assert package.end_date.isoformat().startswith("2031-05-07T00:00")
    assert len(package.demand_deals) == 3


def test_a_namesake_who_came_later_does_not_see_it(visit: Visit, own_deals_home: Path) -> None:
    """What a person of the same name typed who was removed is not offered."""
    clean(form(visit).text_input(key=PRICE).set_value("2.75").run())
    drafts = clients(Settings(home=own_deals_home, demo=True)).drafts
    kept_draft = drafts.get(("demand_deals", 1))
    assert kept_draft is not None
    later = replace(drafts, person=replace(drafts.person, added=kept_draft.at.replace(year=2100)))
    assert later.get(("demand_deals", 1)) is None
