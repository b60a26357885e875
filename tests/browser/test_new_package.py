"""Setting up a package in a browser: what is typed is what is stored, errors lose nothing, one package."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from dealing import SOLD, Desk
from playwright.sync_api import Locator, Page, expect

from browser.conftest import PHONE, SCREEN, Visitor, enter, settled
from browser.distance import far_away
from lib.deals.models import DemandDeal, SupplyPackage


@pytest.fixture
def form(selling: Desk, page: Page) -> Iterator[Page]:
    """The empty form, over the slicer in which deals were delivered."""
    selling.drafts.discard()
    open_form(page, selling.address)
    yield page


def open_form(page: Page, address: str) -> None:
    """Sign in as the manager, at the form."""
    enter(page, f"{address}/new_package?project=demo&slicer={SOLD}")
    expect(page.get_by_role("heading", name="What will be created")).to_be_visible()


def start_over(page: Page) -> None:
    """Discard the draft."""
    page.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="Discard draft").click()
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("")
    settled(page)


def choose(page: Page, label: str, *texts: str) -> None:
    """Choose options of a picker by typing."""
    box = page.get_by_role("combobox", name=label)
    for text in texts:
        box.focus()
        box.press_sequentially(text)
        page.get_by_role("option").filter(has_text=text).first.wait_for()
        box.press("Enter")
        settled(page)
        box.press("Escape")
        expect(page.get_by_role("listbox")).to_have_count(0)


def target(page: Page, kind: str, side: str, *texts: str) -> None:
    """Choose values of a kind of targeting."""
    page.get_by_role("button", name=kind, exact=True).click()
    choose(page, side, *texts)
    leave(page)


def leave(page: Page) -> None:
    """Close the popover that is open."""
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Targeting", exact=True).click()
    settled(page)


def name(page: Page, text: str) -> None:
    """Name the package."""
    page.get_by_role("textbox", name="Name", exact=True).fill(text)
    page.get_by_role("textbox", name="Name", exact=True).press("Enter")
    settled(page)


def price(page: Page, seat: str) -> Locator:
    """The field of a seat's price."""
    return page.get_by_role("textbox", name=f"Price for {seat}")


def type_price(page: Page, seat: str, text: str) -> None:
    """Type a seat's price in place of the one that is there."""
    price(page, seat).fill(text)
    price(page, seat).press("Tab")
    settled(page)


def test_from_the_empty_form_to_the_list(form: Page, selling: Desk) -> None:
    """Three seats and a targeting; an error loses nothing; a double click creates one; it is in the list."""
    page, before = form, selling.deals.list(SupplyPackage).count
    name(page, "Autumn Evenings")
    target(page, "Country", "Only", "Germ", "US")
    target(page, "Device", "Never", "desk")
    choose(page, "Seats", "Alpha", "Beta", "Gamma")
    type_price(page, "Alpha Buying", "2.5")
    type_price(page, "Beta Media", "3")
    expect(
        page.get_by_text("Autumn Evenings sells banner supply: Germany, United States · not desktop.")
    ).to_be_visible()
    page.get_by_role("button", name="Create package").click()
    settled(page)

    expect(page.get_by_text("Not created. To fix: Price of Gamma Trading.")).to_be_visible()
    expect(page.get_by_text("Price: Type a price.")).to_be_visible()
    expect(price(page, "Alpha Buying")).to_have_value("2.5")
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("Autumn Evenings")
    assert selling.deals.list(SupplyPackage).count == before

    type_price(page, "Gamma Trading", "4.75")
    expect(page.get_by_text("Not created")).to_have_count(0)
    page.get_by_role("button", name="Create package").dblclick()
    expect(page.get_by_text("with 3 demand deals")).to_be_visible()
    settled(page)
    assert selling.deals.list(SupplyPackage).count == before + 1
    package = selling.deals.list(SupplyPackage, search="Autumn Evenings").results[0]
    prices = {
        deal.name: deal.price for deal in selling.deals.list(DemandDeal, supply_deals=package.id).results
    }
    assert prices == {
        "Autumn Evenings - Alpha Buying": Decimal("2.5"),
        "Autumn Evenings - Beta Media": Decimal("3"),
        "Autumn Evenings - Gamma Trading": Decimal("4.75"),
    }

    page.get_by_role("link", name="Open in Deals").click()
    targeting = page.get_by_role("dialog").get_by_text("Germany, United States · not desktop")
    expect(targeting.first).to_be_visible()  # among the facts, and in the text for the buyer


def test_prices_typed_far_away_are_stored_to_the_digit(selling: Desk, visitor: Visitor) -> None:
    """At 40, 150 and 400 ms a key, 150 ms away, each price is stored as typed, on a fresh browser."""
    typed = {"Alpha Buying": ("2.50", 150), "Beta Media": ("2.345678", 40), "Gamma Trading": ("1.07", 400)}
    selling.drafts.discard()
    page = visitor().new_page()
    with far_away(selling.address) as distant:
        open_form(page, distant)
        name(page, "Far away")
        choose(page, "Seats", "Alpha", "Beta", "Gamma")
        for seat, (text, milliseconds) in typed.items():
            price(page, seat).click()
            page.keyboard.type(text, delay=milliseconds)
        for seat, (text, _) in typed.items():
            expect(price(page, seat)).to_have_value(text)
        page.get_by_role("button", name="Create package").click()
        expect(page.get_by_text("with 3 demand deals")).to_be_visible()
    package = selling.deals.list(SupplyPackage, search="Far away").results[0]
    deals = selling.deals.list(DemandDeal, supply_deals=package.id).results
    assert {deal.seat.name: deal.price for deal in deals if deal.seat} == {
        seat: Decimal(text) for seat, (text, _) in typed.items()
    }


def test_the_list_of_fees_stays_open_while_the_page_moves(form: Page) -> None:
    """A list that is open goes along when the page moves it, and closes when somebody scrolls; what is chosen
    in it counts, and a fee of 1,234.56 is shown whole at 1440 pixels."""
    kind, flat = form.get_by_role("combobox", name="Agency fee"), form.get_by_role("option", name="Flat")
    kind.click()
    before = flat.bounding_box()
    form.locator("[data-testid=stMain]").evaluate("main => main.scrollBy(0, -30)")
    form.wait_for_timeout(100)
    after = flat.bounding_box()
    assert before and after and after["y"] - before["y"] == pytest.approx(30, abs=2)
    form.mouse.move(200, 300)
    form.mouse.wheel(0, -40)
    expect(flat).to_have_count(0)
    kind.click()
    flat.click()
    settled(form)
    fee = form.get_by_role("textbox", name="Fee, USD")
    fee.fill("1234.567891")
    assert fee.evaluate("field => field.scrollWidth <= field.clientWidth")


def test_a_button_that_moves_while_it_is_pressed_is_clicked(form: Page) -> None:
    """What is drawn between the press and the release, as after a field was left, takes no click away."""
    create = form.get_by_role("button", name="Create package")
    create.hover()
    form.mouse.down()
    create.evaluate("button => { button.style.marginTop = '6rem' }")
    form.mouse.up()
    expect(form.get_by_text("Not created. To fix: Name, Seats.")).to_be_visible()


def test_a_reload_keeps_values_that_are_not_added_yet(form: Page) -> None:
    """Values typed fast or slowly and neither added nor left out belong to the draft: after a reload they are
    still asked about, and nothing can be created before they are answered."""
    form.get_by_role("button", name="Country", exact=True).click()
    for side, value, delay in (("Only", "Narnia", 40), ("Only", "Mordor", 40), ("Never", "Oz", 400)):
        box = form.get_by_role("combobox", name=side)
        box.focus()
        box.press_sequentially(value, delay=delay)
        box.press("Enter")
    settled(form)
    asked = form.get_by_text("Country: add or leave out 'Narnia', 'Mordor', 'Oz'.")
    expect(asked).to_be_visible()

    form.reload()
    expect(form.get_by_text("Your draft from")).to_be_visible()
    expect(asked).to_be_visible()
    name(form, "Far away")
    form.get_by_role("button", name="Create package").click()
    settled(form)
    expect(form.get_by_text("Not created. To fix: Seats, Country: add or leave out")).to_be_visible()
    form.get_by_role("button", name="Country", exact=True).click()
    form.get_by_role("button", name="Add 'Narnia' anyway").click()
    form.get_by_role("button", name="Leave out 'Mordor'").click()
    form.get_by_role("button", name="Add 'Oz' anyway").click()
    settled(form)
    leave(form)
    expect(asked).to_have_count(0)
    expect(form.get_by_text("sells banner supply: Narnia (unknown) · not Oz (unknown).")).to_be_visible()


def test_an_open_list_does_not_cover_its_twin(form: Page) -> None:
    """On a desktop and on a phone, a click on Never while the list of Only is open closes that list and
    chooses nothing in it."""
    only, never = (form.get_by_role("combobox", name=side) for side in ("Only", "Never"))
    for size, text, chosen in ((SCREEN, "Fran", "not France."), (PHONE, "Germ", "not France, Germany.")):
        form.set_viewport_size(size)
        form.get_by_role("button", name="Country", exact=True).click()
        only.click()
        expect(form.get_by_role("listbox", name="Only")).to_be_visible()
        never.click()
        expect(form.get_by_role("listbox", name="Only")).to_have_count(0)
        expect(never).to_be_focused()
        choose(form, "Never", text)
        leave(form)
        expect(form.get_by_text(f"sells banner supply: {chosen}")).to_be_visible()


def test_a_reload_keeps_the_draft(form: Page) -> None:
    """A far date stays after Tab; a reload and another screen keep the form; Start over asks first."""
    asked: list[str] = []
    form.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    name(form, "Half done")
    choose(form, "Seats", "Beta")
    type_price(form, "Beta Media", "1.50")
    end = form.get_by_role("textbox", name="End")
    end.press_sequentially("2041-05-06 10:30", delay=40)
    end.press("Tab")
    expect(form.get_by_text("until 6 May 2041, 10:30")).to_be_visible()
    settled(form)

    form.reload()
    expect(form.get_by_text("Your draft from")).to_be_visible()
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("Half done")
    expect(price(form, "Beta Media")).to_have_value("1.50")
    expect(end).to_have_value("2041-05-06 10:30")
    form.get_by_role("link", name="Deals", exact=True).click()
    expect(form.get_by_role("heading", name="What will be created")).to_have_count(0)
    settled(form)
    form.get_by_role("link", name="New package").click()
    settled(form)
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("Half done")

    form.get_by_role("button", name="Start over").click()
    expect(form.get_by_text("What you entered will be discarded.")).to_be_visible()
    form.keyboard.press("Escape")
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("Half done")
    settled(form)
    start_over(form)
    form.reload()
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("")
    assert asked == []


def test_a_day_of_the_calendar(form: Page) -> None:
    """A day that is picked in the calendar is put into the field, where it can be changed by typing."""
    form.get_by_role("textbox", name="End").fill("2040-03-01 18:00")
    form.get_by_role("textbox", name="End").press("Tab")
    settled(form)
    form.get_by_role("button", name="Calendar").click()
    form.get_by_role("group", name="End on").get_by_role("spinbutton").first.click()
    form.get_by_role("button", name="Friday, March 16, 2040").click()
    settled(form)
    expect(form.get_by_role("textbox", name="End", exact=True)).to_have_value("2040-03-16 18:00")
    form.keyboard.press("Escape")
