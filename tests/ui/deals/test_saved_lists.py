"""Saved lists of the Deals screen: save, open, change, delete, and their links."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from boards import components
from dealing import SOLD, Visit, clean, listed
from opening import Popover
from streamlit.testing.v1 import AppTest

from lib.ui.deals import deal_rows

VIEWS = Popover("deals_views")


def views(desk: AppTest) -> list[str]:
    """The lists that the popover has."""
    return [button.label for button in desk.button if (button.key or "").startswith("view_open_list_")]


def saved(visit: Visit, name: str, is_shared: bool = False) -> AppTest:
    """A list of deals, found, filtered, ordered and with a column, under this name."""
    desk = visit("deals", slicer=SOLD, deals_kind="Deals", find="morning", deals_order="price")
    clean(desk.multiselect(key="deals_seat").set_value(["1", "3"]).run())
    clean(columns(desk).set_value([*columns(desk).value, "contact_email"]).run())
    desk = VIEWS.opened(desk)
    desk.text_input(key="view_list_name").set_value(name)
    desk.checkbox(key="view_list_share").set_value(is_shared)
    return VIEWS.submit(desk, "Save view")


def columns(desk: AppTest) -> Any:
    """The choice of columns of the list of deals."""
    return desk.button_group(key="deal_columns")


def shown(desk: AppTest) -> tuple[object, ...]:
    """The controls and the rows of a list."""
    return (
        desk.text_input(key="find").value,
        desk.multiselect(key="deals_seat").value,
        "contact_email" in columns(desk).value,
        listed(desk),
    )


FOUND = ("morning", ["1", "3"], True, ["Morning News - Alpha Buying", "Morning News - Gamma Trading"])


def test_save_and_open(visit: Visit) -> None:
    """What was saved opens with a click, whatever list is on screen, and is marked once it has changed."""
    desk = saved(visit, "Morning *deals*")
    assert shown(desk) == FOUND
    other = VIEWS.opened(visit("deals", slicer=SOLD))
    assert views(other) == [r"Morning \*deals\*"]
    other = clean(other.button(key="view_open_list_1").click().run())
    assert shown(other) == FOUND
    assert "deals_order" in other.query_params
    clean(other.text_input(key="find").set_value("").run())
    other = VIEWS.opened(other)
    assert any("changed since saved" in markdown.value for markdown in other.markdown)
    other = VIEWS.press(other, "view_list_update")
    assert not any("changed since saved" in markdown.value for markdown in other.markdown)


def test_the_link_shows_the_same_list(visit: Visit) -> None:
    """The link of a saved list has all of it in its parameters."""
    desk = VIEWS.press(saved(visit, "Mine"), "view_do_list_link_1")
    [link] = [code.value for code in desk.code]
    params = parse_qs(urlsplit(link).query)
    assert params["deals_seat"] == ["Alpha Buying", "Gamma Trading"]
    assert shown(visit("deals", slicer=SOLD, **params)) == FOUND


def test_rename_share_and_delete(visit: Visit) -> None:
    """A renamed and shared list is seen by others, who can't change it; its owner deletes it."""
    desk = VIEWS.press(saved(visit, "Mine"), "view_do_list_edit_1")
    desk.text_input(key="view_rename_list_1").set_value("Ours")
    desk.checkbox(key="view_reshare_list_1").set_value(True)
    VIEWS.submit(desk, "Save changes")
    other = VIEWS.opened(visit("deals", "viewer", slicer=SOLD))
    assert views(other) == ["Ours"]
    assert not [menu for menu in other.get("menu_button") if "Edit" in str(menu.options)]
    desk = VIEWS.press(VIEWS.press(desk, "view_list_all"), "view_do_list_delete_1")
    desk = VIEWS.press(desk, "view_list_delete_sure")
    assert views(desk) == []


def test_columns_are_each_persons_own(visit: Visit) -> None:
    """A person's columns are there at their next visit, in the list's order; nobody else has them."""
    desk = visit("deals", slicer=SOLD)
    usual = columns(desk).value
    clean(columns(desk).set_value(["contact_email", "deal_id"]).run())
    assert shown_columns(desk) == ["name", "deal_id", "contact_email"]
    again = visit("deals", slicer=SOLD)
    assert shown_columns(again) == ["name", "deal_id", "contact_email"]
    assert shown_columns(visit("deals", "viewer", slicer=SOLD)) == ["name", *usual]
    clean(columns(again).set_value([]).run())
    assert shown_columns(visit("deals", slicer=SOLD)) == ["name"]
    clean(columns(again).set_value(usual).run())
    assert shown_columns(visit("deals", slicer=SOLD)) == ["name", *usual]


def test_columns_of_earlier_views(visit: Visit) -> None:
    """A view that names only columns beside the usual ones, as views once did, opens with both."""
    saved(visit, "Earlier")
    desk = VIEWS.opened(visit("deals", slicer=SOLD, deal_columns="Deal id"))
    assert shown_columns(desk) == ["name", "deal_id"]
    desk = clean(desk.button(key="view_open_list_1").click().run())
    assert shown_columns(desk) == ["name", *deal_rows.COLUMNS["demand_deals"][1:], "contact_email"]


def shown_columns(desk: AppTest) -> list[str]:
    """The columns of the list, in order."""
    [listing] = [data for data in components(desk) if "rows" in data]
    return [column["id"] for column in listing["columns"]]
