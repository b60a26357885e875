"""The form of a new package without a browser: values that the report does not have, wrong input, figures."""

import datetime as dt
from unittest.mock import Mock

import pytest
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, sold_rows
from opening import Popover
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.deals.package_records import Drafts
from lib.wire.errors import StoreTimeout


def targeting(desk: AppTest, kind: str, *values: str) -> AppTest:
    """The form with the popover of this kind open, once these values were typed or picked at Only."""
    popover = Popover(f"np_target_{kind}")
    popover.opened(desk)
    desk.multiselect(key=f"np_target_{kind}_only").set_value([*values])
    return popover.opened(desk)


def sentences(desk: AppTest) -> str:
    """All that is said on the screen."""
    texts = [*desk.markdown, *desk.caption]
    return "\n".join(text.value for text in texts).replace("\\", "")


def press(desk: AppTest, label: str) -> AppTest:
    """A click on the button of this label; AppTest closes the popover in which it is."""
    [button] = [button for button in desk.button if button.label.replace("\\", "") == label]
    return clean(button.click().run())


def test_unknown_values_are_added_only_on_purpose(visit: Visit) -> None:
    """`mobile` is offered as smartphone, `USA` as US; Atlantis is added anyway, marked in form and review."""
    desk = targeting(visit("new_package", slicer=SOLD), "device", "mobile")
    assert "The report has no 'mobile'." in sentences(desk)
    press(desk, "smartphone?")
    assert "sells banner supply: smartphone." in sentences(desk).replace("*", "")
    press(targeting(desk, "country", "USA"), "United States?")
    targeting(desk, "country", "US", "Atlantis")
    assert "Still needed: Name, Seats, Country: add or leave out 'Atlantis'." in sentences(desk)
    press(desk, "Add 'Atlantis' anyway")
    assert "United States, Atlantis (unknown)" in sentences(desk)
    assert "sells banner supply: Atlantis (unknown), United States · smartphone." in sentences(desk)


def test_what_the_report_cannot_say(visit: Visit) -> None:
    """A value that the report can't check is added on purpose, marked, and not counted in the figures."""
    desk = targeting(visit("new_package", slicer=SOLD), "city", "Lyon")
    press(desk, "Add 'Lyon' anyway")
    assert "Not counted in: City: this slicer has no key field for it." in sentences(desk)
    assert "Lyon (not checked)" in sentences(desk)


def test_figures_beside_the_form(visit: Visit) -> None:
    """Beside the form stands what the targeting had and costs, as pandas finds it in the same rows."""
    desk = targeting(visit("new_package", slicer=SOLD), "country", "FR")
    rows = sold_rows().to_pandas()
    week = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)]
    meant = week[week["geo.country"] == "FR"]
    tables = {table.proto.alt: table.value for table in desk.table}
    figures = tables["Figures of this targeting"]["Last 7 days"]
    assert figures["Impressions"] == pytest.approx(meant["imps"].sum())
    assert figures["Unique users"] == meant["users"].nunique()
    assert figures["Average win CPM"] == pytest.approx(1000 * meant["spend"].sum() / meant["imps"].sum())
    month = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=30)]["bids"]
    cost = 100 * (1 - month[rows["geo.country"] == "FR"].sum() / month.sum())
    assert tables["What each target costs or brings"].loc["France", "Bids"] == f"−{cost:.1f} %"


def test_a_draft_that_cannot_be_loaded_is_said(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store fails, the form is empty and says why, and that the draft is still there."""
    with monkeypatch.context() as patch:
        patch.setattr(Drafts, "get", Mock(side_effect=StoreTimeout))
        desk = visit("new_package", slicer=SOLD)
    assert any("Your draft could not be loaded" in error.value for error in desk.error)
    assert desk.text_input(key="np_name").value == ""


def test_a_wrong_price_stays_and_creates_nothing(visit: Visit, deals: Deals) -> None:
    """A price that can't be read is said to be wrong beside its field and stays; nothing is sent."""
    desk = visit("new_package", slicer=SOLD)
    desk.text_input(key="np_name").set_value("Wrong prices")
    desk.multiselect(key="np_seats").set_value([1]).run()
    for price, fault in {
        "-5": "Must be 0 or more.",
        "1e308": "Not a number",
        "12,50": "Write decimals with a point",
        "2.5.1": "Not a number",
        "": "Type a price.",
    }.items():
        press(desk.text_input(key="np_price_1").set_value(price).run(), "Create package")
        assert f"Price: {fault}" in sentences(desk)
        assert "Not created. To fix: Price of Alpha Buying." in sentences(desk)
        assert desk.text_input(key="np_price_1").value == price
    assert deals.list(SupplyPackage).count == 2


def test_no_e_mail(visit: Visit) -> None:
    """What is no e-mail address is refused beside its field, and stays typed."""
    desk = visit("new_package", slicer=SOLD)
    desk = clean(desk.text_input(key="np_contact_email").set_value("nobody").run())
    assert "Not an e-mail address" in sentences(desk)
    assert desk.text_input(key="np_contact_email").value == "nobody"


def test_more_terms_stay_open_once_a_fault_in_them_is_mended(visit: Visit) -> None:
    """What opened for a guarantee without impressions stays open when the guarantee is taken back."""
    desk = visit("new_package", slicer=SOLD)

    def is_open() -> bool:
        return next(part for part in desk.expander if part.label == "More terms").proto.expanded

    desk.multiselect(key="np_seats").set_value([1]).run()
    assert not is_open()
    desk.selectbox(key="np_deal_type").set_value("guaranteed").run()
    press(desk, "Create package")
    assert is_open()
    clean(desk.selectbox(key="np_deal_type").set_value("private_auction").run())
    assert is_open()


def test_a_named_zone_gives_each_date_its_own_offset(visit: Visit, deals: Deals) -> None:
    """The form sends both dates on the clocks of the chosen zone, on either side of their change."""
    desk = clean(visit("new_package", slicer=SOLD).text_input(key="np_name").set_value("Clocks").run())
    clean(desk.segmented_control(key="np_deals").set_value("none").run())
    desk.text_input(key="np_start_date").set_value("2027-10-01")
    desk.text_input(key="np_end_date").set_value("2027-11-30")
    clean(desk.selectbox(key="np_zone").set_value("Europe/Berlin").run())
    clean(desk.button(key="np_create_button").click().run())
    [package] = deals.list(SupplyPackage, name="Clocks").results
    assert package.start_date is not None and package.end_date is not None
    assert package.start_date.isoformat() == "2027-10-01T00:00:00+02:00"
    assert package.end_date.isoformat() == "2027-12-01T00:00:00+01:00"
