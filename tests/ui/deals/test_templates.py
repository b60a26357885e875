"""Templates of packages: what they keep, and New package started from one."""

from dataclasses import replace

import pytest
from dealing import SOLD, Visit, clean
from opening import Popover
from streamlit.testing.v1 import AppTest

from lib.deals.models import GeoTarget, Seat, Targeting
from lib.ui.deals.forms.draft import Draft, Terms
from lib.ui.deals.new_package import templates
from lib.wire.errors import BadRequest

TEMPLATES = Popover("package_templates")
US = Targeting(geo_targetings=(GeoTarget(type="country", value="US"),))


def own_terms(is_active: bool, fee_type: int | None, fee: str, contact: str) -> dict[str, object]:
    """The terms of a copied deal that differ from those of the others, as typed."""
    return {
        "is_active": is_active,
        "agency_curation_fee_type": fee_type,
        "agency_curation_fee": fee,
        "contact_email": contact,
    }


FULL = Draft.of(
    name="Morning News",
    media_type="video",
    start_date="2026-11-22 09:00",
    end_date="2026-12-01",
    zone=330,
    targeting=US,
    seats={1: Terms("2.5", True), 2: Terms("3", own=own_terms(False, 1, "5", "b@b.example"))},
    agency_curation_fee_type=1,
    agency_curation_fee="5",
    contact_email="a@b.example",
)


def test_a_template_has_no_dates_and_no_contact() -> None:
    """All of the form is kept, but for start, end, time zone and the contacts, also those of single deals."""
    body = templates.body_of(FULL)
    assert "b.example" not in str(body)
    fields, missing = templates.draft_of(body, {1: Seat(id=1), 2: Seat(id=2)})
    own = replace(FULL.seats[2], own=own_terms(False, 1, "5", ""))
    kept = FULL.with_(end_date="", start_date=fields["start_date"])
    terms = {**FULL.terms, "contact_email": ""}
    assert fields == replace(kept, terms=terms, seats={1: FULL.seats[1], 2: own}, zone=fields.zone)
    assert (missing, fields["start_date"] != FULL["start_date"]) == (0, True)


def test_seats_that_the_person_does_not_see_are_left_out() -> None:
    """A shared template names no seat that the person who opens it may not see; how many is said."""
    fields, missing = templates.draft_of(templates.body_of(FULL), {2: Seat(id=2)})
    assert (list(fields.seats), missing) == ([2], 1)


def test_a_template_that_can_not_be_read() -> None:
    """What is kept of another form is refused with a sentence."""
    with pytest.raises(BadRequest, match="can't be read"):
        templates.draft_of({"draft": {"seats": "all"}}, None)


def names(desk: AppTest) -> list[str]:
    """The templates that the popover has."""
    return [button.label for button in desk.button if (button.key or "").startswith("view_open_template_")]


def test_start_from_a_template(visit: Visit) -> None:
    """A form is kept as a template, and fills the form later; what it would replace is asked about first."""
    desk = visit("new_package", slicer=SOLD)
    desk.text_input(key="np_name").set_value("Autumn *news*")
    clean(desk.text_input(key="np_contact_email").set_value("a@b.example").run())
    desk = TEMPLATES.opened(desk)
    desk.text_input(key="view_template_name").set_value("Usual")
    desk.checkbox(key="view_template_share").set_value(True)
    desk = TEMPLATES.submit(desk, "Save template")
    assert names(desk) == ["Usual"]
    clean(desk.text_input(key="np_name").set_value("Another").run())
    desk = TEMPLATES.press(TEMPLATES.opened(desk), "view_open_template_1")
    assert desk.text_input(key="np_name").value == "Another", "it is asked about first"
    desk = clean(desk.button(key="view_template_replace").click().run())
    assert desk.text_input(key="np_name").value == "Autumn *news*"
    assert desk.text_input(key="np_contact_email").value == ""
    assert desk.text_input(key="np_start_date").value
    other = TEMPLATES.opened(visit("new_package", "admin", slicer=SOLD))
    other = clean(other.button(key="view_open_template_1").click().run())
    assert other.text_input(key="np_name").value == "Autumn *news*"
