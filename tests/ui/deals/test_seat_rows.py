"""The rows of seats in a form: each seat's own terms, what they come to in all, and contacts."""

from decimal import Decimal
from typing import Any

from dealing import SOLD, Visit, clean
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage


def form(visit: Visit, *columns: str) -> AppTest:
    """A form of two seats at a price, whose terms `columns` are each seat's own."""
    desk = visit("new_package", slicer=SOLD)
    desk.session_state["np_columns"] = [*columns]
    desk = clean(desk.multiselect(key="np_seats").set_value([1, 2]).run())
    desk.text_input(key="np_name").set_value("Each its own")
    return clean(desk.text_input(key="np_price_all").set_value("2.5").run())


def test_each_seat_has_its_own_terms(visit: Visit, deals: Deals) -> None:
    """Terms of a column are stored with the deal of their seat, in one request; their sum is shown."""
    desk = form(visit, "budget", "contact_email")
    for seat, budget in ((1, "100"), (2, "250.50")):
        desk.text_input(key=f"np_budget_{seat}").set_value(budget)
        desk.text_input(key=f"np_contact_email_{seat}").set_value(f"b{seat}@agency.example")
    clean(desk.run())
    assert any("350.50 budget" in caption.value for caption in desk.caption)
    clean(desk.button(key="np_create_button").click().run())
    [package] = deals.list(SupplyPackage, name="Each its own").results
    stored = [deals.get(DemandDeal, link.id) for link in package.demand_deals]
    assert {deal.seat and deal.seat.id: (deal.price, deal.budget, deal.contact_email) for deal in stored} == {
        1: (Decimal("2.5"), Decimal(100), "b1@agency.example"),
        2: (Decimal("2.5"), Decimal("250.5"), "b2@agency.example"),
    }


def test_a_contact_is_remembered_by_its_seat(visit: Visit, deals: Deals) -> None:
    """With several seats each has the contact of its newest deal, and none is offered to another buyer."""
    first, second = (
        next(deal.id for deal in deals.list(DemandDeal, seat=seat, ordering="-id").results) for seat in (1, 2)
    )
    deals.change(DemandDeal, first or 0, {"contact_email": "one@agency.example"})
    deals.change(DemandDeal, second or 0, {"contact_email": "two@agency.example"})
    desk = clean(visit("new_package", slicer=SOLD).multiselect(key="np_seats").set_value([1, 2]).run())
    contacts = [desk.text_input(key=f"np_contact_email_{seat}").value for seat in (1, 2)]
    assert contacts == ["one@agency.example", "two@agency.example"]


def test_a_contact_stays_when_another_seat_comes_or_goes(visit: Visit) -> None:
    """What is typed as the contact of a seat is neither lost nor given to another buyer."""
    desk = clean(visit("new_package", slicer=SOLD).multiselect(key="np_seats").set_value([1]).run())
    clean(desk.text_input(key="np_contact_email_1").set_value("one@agency.example").run())
    for seats in ([1, 2], [1], [1, 3]):
        clean(desk.multiselect(key="np_seats").set_value(seats).run())
        contacts = [desk.text_input(key=f"np_contact_email_{seat}").value for seat in seats]
        assert contacts == ["one@agency.example", ""][: len(seats)]


def test_shared_terms_say_each_and_in_all(visit: Visit) -> None:
    """A term that adds up over deals is labelled as that of each, and the review says what all come to."""
    desk = form(visit)
    clean(desk.selectbox(key="np_deal_type").set_value("guaranteed").run())
    units = clean(desk.text_input(key="np_units").set_value("1000000").run()).text_input(key="np_units")
    assert units.label == "Guaranteed impressions, each"
    review = " ".join(block.value for block in desk.markdown).replace("\\", "")
    assert "Guaranteed impressions: 1,000,000 each, 2,000,000 in all." in review


def test_a_guarantee_beyond_the_budget_is_asked_about(visit: Visit, deals: Deals) -> None:
    """What a guarantee costs at its price is compared with the budget; nothing is created unasked."""
    desk = form(visit)
    clean(desk.selectbox(key="np_deal_type").set_value("guaranteed").run())
    desk.text_input(key="np_units").set_value("1000000")
    desk.text_input(key="np_budget").set_value("5")
    clean(desk.run())
    clean(desk.button(key="np_create_button").click().run())
    assert any("more than the budget of 5.00" in warning.value for warning in desk.warning)
    assert deals.list(SupplyPackage, name="Each its own").count == 0


def path(block: Any, key: str) -> tuple[int, ...] | None:
    """Where the widget of this key is on the screen: its index in each block on the way."""
    for index, child in block.children.items():
        if getattr(child, "key", None) == key:
            return (index,)
        if hasattr(child, "children") and (rest := path(child, key)) is not None:
            return (index, *rest)
    return None


def test_no_field_moves_while_seats_are_chosen(visit: Visit) -> None:
    """A first, a second and a third seat leave every field where it is: a move would lose what is typed."""
    desk = visit("new_package", slicer=SOLD)
    terms = path(desk.main, "np_budget")
    paths = []
    for seats in ([1], [1, 2], [1, 2, 3]):
        clean(desk.multiselect(key="np_seats").set_value(seats).run())
        assert path(desk.main, "np_budget") == terms is not None
        paths.append(path(desk.main, "np_price_1"))
    assert paths[0] is not None
    assert len(set(paths)) == 1
