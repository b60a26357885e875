"""The filters of grants on Access: of people and of tokens, and the filter that fits their deals."""

import shutil
from collections.abc import Callable
from pathlib import Path

import boards
import pytest
from conftest import COUNTRIES, DEFINITION, small_rows
from opening import opened
from streamlit.testing.v1 import AppTest

from lib.people import DealsGrant, Grant
from lib.people.tokens.access import Access
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.ui.admin import access as screen
from lib.wire.filters import Filter

PLACE = "demo/delivery"
US = Filter(name="geo.country", value=("US",), match="equals")
CAMPAIGNS = Filter(name="campaign_id", value=("3", "7"), match="equals")
Drawer = Callable[..., AppTest]


@pytest.fixture
def access(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Access:
    """People of a desk whose slicer says that its campaigns are the seats of deals."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    warehouse = Warehouse(own_home / "warehouse")
    shutil.rmtree(own_home / "warehouse" / "demo" / "delivery")
    definition = DEFINITION.model_copy(update={"roles": {"seat": "campaign_id"}})
    with warehouse.writer("demo", "delivery", definition, {"country": COUNTRIES}) as writer:
        writer.write(small_rows(0))
        writer.commit("made for a test", "0")
    return connect.installation(Settings(home=own_home, demo=True)).access


def drawer(name: str = "viewer", whose: str | None = None) -> AppTest:
    """The drawer of this person as the administrator sees it, with the filters of the slicer in sight."""
    desk = opened("access", "admin")
    desk.segmented_control(key="access_shown").set_value(screen.PEOPLE).run()
    desk.session_state[screen.OPEN] = name
    desk.session_state[key("open", whose or name)] = True
    return clean(desk.run())


def key(name: str, whose: str = "viewer") -> str:
    """The key of a widget of the slicer's filters."""
    return f"row_filters_{whose}_{PLACE}_{name}"


def clean(desk: AppTest) -> AppTest:
    """The screen, once it is sure that nothing went wrong on it."""
    assert not desk.exception, desk.exception
    return desk


def expanders(desk: AppTest) -> list[str]:
    """The labels of the slicers with their filters."""
    return [expander.label.replace("\\", "") for expander in desk.expander]


def fill(desk: AppTest, field: str, *texts: str, match: str = "contains", whose: str = "viewer") -> AppTest:
    """Add a filter by texts in the editor."""
    desk.selectbox(key=key("field", whose)).set_value(field)
    clean(desk.run()).button_group(key=key("way", whose)).set_value("Text").run()
    desk.selectbox(key=key("draft_match", whose)).set_value(match)
    desk.text_area(key=key("draft_texts", whose)).set_value("\n".join(texts))
    return clean(desk.button(key=key("draft_done", whose)).click().run())


def pick(desk: AppTest, field: str, *values: str, whose: str = "viewer") -> AppTest:
    """Keep values in the editor's list."""
    desk.selectbox(key=key("field", whose)).set_value(field).run()
    return clean(boards.click(desk, key("board", whose), *(["add", [[field, value]]] for value in values)))


def grants(access: Access, name: str = "viewer") -> tuple[Grant, ...]:
    """The grants of a person now."""
    return access.people.require(name).grants


def test_a_filter_is_added_and_saved(access: Access) -> None:
    """A filter shows at once beside its slicer, and holds once it is saved; it can be removed again."""
    desk = drawer()
    assert expanders(desk) == [f"{PLACE}: all rows"]
    desk.selectbox(key=key("field")).set_value("geo.country").run()
    desk.button_group(key=key("way")).set_value("Text").run()
    desk.checkbox(key=key("draft_any_case")).set_value(True)
    fill(desk, "geo.country", "us", "de", match="not contains")
    assert expanders(desk) == [f"{PLACE}: Country doesn't contain us, de, in any case"]
    assert grants(access) == (Grant("demo", "delivery"),)
    clean(desk.button(key="person_save").click().run())
    more = Filter(name="geo.country", value=("us", "de"), match="not contains", case_insensitive=1)
    assert grants(access) == (Grant("demo", "delivery", (more,)),)
    desk = drawer()
    clean(desk.button(key=key("drop_0")).click().run())
    clean(desk.button(key="person_save").click().run())
    assert grants(access) == (Grant("demo", "delivery"),)


def test_values_are_offered_with_their_figures(access: Access) -> None:
    """The values of the key field are there to click on, by description, with the figures of all days."""
    desk = drawer()
    desk.selectbox(key=key("field")).set_value("geo.country").run()
    rows = small_rows(0).to_pandas()
    offered = {row["cells"][0]["text"]: row["cells"][1]["text"] for row in boards.drawn(desk)[0]["rows"]}
    assert offered["United States"] == f"{rows[rows['geo.country'] == 'US']['imps'].sum():,.0f}"


def test_seats_of_deals_are_offered_as_a_filter(access: Access) -> None:
    """Who has the deals of some seats is offered those rows of a slicer that says which field is the seat."""
    assert key("seats") not in {button.key for button in drawer().button}
    access.change("viewer", "a test", deals=DealsGrant.parse("read:3,7"))
    desk = drawer()
    assert "Campaign is 3, 7" in desk.button(key=key("seats")).label
    clean(desk.button(key=key("seats")).click().run())
    assert key("seats") not in {button.key for button in desk.button}
    clean(desk.button(key="person_save").click().run())
    assert grants(access) == (Grant("demo", "delivery", (CAMPAIGNS,)),)


def test_filters_stay_when_something_else_is_saved(access: Access) -> None:
    """Saving another e-mail, or another slicer beside it, changes no filter."""
    access.change("viewer", "a test", grants=[Grant("demo", "delivery", (US,))])
    desk = drawer()
    desk.text_input(key="person_email_viewer").set_value("vera@reader.example")
    desk.multiselect(key="person_grants_viewer").set_value([PLACE, "demo/curation"])
    clean(desk.button(key="person_save").click().run())
    assert grants(access) == (Grant("demo", "delivery", (US,)), Grant("demo", "curation"))


def test_a_grant_that_is_typed_keeps_its_filters(access: Access) -> None:
    """Whoever types a grant with filters as text into May see grants those rows, never all."""
    limited = Grant("demo", "delivery", (US,))
    desk = drawer()
    desk.multiselect(key="person_grants_viewer").set_value([str(limited)])
    clean(desk.run())
    assert expanders(desk) == [f"{PLACE}: Country is US"]
    clean(desk.button(key="person_save").click().run())
    assert grants(access) == (limited,)


def test_a_new_person_with_filters(access: Access) -> None:
    """Somebody who is added has their filters from the first moment."""
    desk = drawer(screen.NEW, "new")
    desk.text_input(key="person_username").set_value("bea")
    desk.text_input(key="person_password").set_value("a long password")
    desk.multiselect(key="person_grants_new").set_value([PLACE])
    clean(desk.run())
    pick(desk, "geo.country", "US", whose="new")
    clean(desk.button(key="person_add_sure").click().run())
    assert grants(access, "bea") == (Grant("demo", "delivery", (US,)),)


def test_a_field_that_is_gone_shows(access: Access) -> None:
    """A filter that opens nothing any more is named as such, to be removed or replaced."""
    gone = Filter(name="gone", value=("x",), match="equals")
    access.change("viewer", "a test", grants=[Grant("demo", "delivery", (gone,))])
    assert expanders(drawer()) == [f"{PLACE}: gone (no such key field: opens nothing)"]


def test_a_token_with_filters(access: Access) -> None:
    """A token for one slicer may be for some of its rows: the owner's filters and its own."""
    access.change("viewer", "a test", grants=[Grant("demo", "delivery", (US,))])
    desk = opened("access", "viewer")
    desk.text_input(key="token_name").set_value("buyer")
    desk.selectbox(key="token_service").set_value("reporting")
    desk.multiselect(key="token_opens").set_value([PLACE])
    desk.session_state[key("open", "token")] = True
    clean(desk.run())
    pick(desk, "campaign_id", "3", "7", whose="token")
    clean(desk.button(key="token_make").click().run())
    (token,) = access.store.everything("viewer")
    assert token.grants == (Grant("demo", "delivery", (CAMPAIGNS,)),)
    text = desk.session_state["token_made"]["text"]
    assert access.caller(text, "reporting").row_filters("demo", "delivery") == (US, CAMPAIGNS)
