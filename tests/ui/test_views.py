"""Saved views on the screen: save, open, change, delete; the mark of a changed one; the start page."""

from collections.abc import Callable
from pathlib import Path

import boards
import pytest
from keeping import Keeper, keeper
from opening import Popover
from streamlit.testing.v1 import AppTest

from lib.settings import Settings
from lib.ui.audience import overview_controls
from lib.ui.query import board_addition
from lib.views import BoardCell

DESK = str(Path(__file__).parents[2] / "lib" / "desk.py")
AUDIENCE, SLICERS = "../pages/audience.py", "../pages/slicers.py"
VIEWS = Popover("saved_views")
HOSTILE = "<b>x</b> **y** [z](http://a.example)"
Desk = Callable[..., AppTest]


@pytest.fixture
def signed_in(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The desk over a data directory of its own, for this person, on the Audience page."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))

    def opened(person: str = "manager", page: str = AUDIENCE, **params: str) -> AppTest:
        desk = AppTest.from_file(DESK, default_timeout=60).run()
        desk.button(key=f"demo_{person}").click().run()
        desk.switch_page(page)
        for name, value in {"project": "demo", "slicer": "delivery", **params}.items():
            desk.query_params[name] = value
        return VIEWS.opened(desk.run())

    return opened


@pytest.fixture
def kept(own_home: Path) -> Keeper:
    """What the person of this name keeps in that data directory."""
    return keeper(Settings(home=own_home, demo=True))


def views(desk: AppTest) -> list[str]:
    """The views that the popover lists."""
    return [button.label for button in desk.button if (button.key or "").startswith("view_open_")]


def actions(desk: AppTest, number: int) -> set[str]:
    """What the menu of a view offers."""
    menus = {menu.key: menu.options for menu in desk.get("menu_button")}
    return {label.partition(": ")[2] for label in menus[f"view_do_{number}"]}


def asked(desk: AppTest, name: str) -> str:
    """A parameter in the URL; empty without it."""
    value = desk.query_params.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def test_save_and_open(signed_in: Desk) -> None:
    """A question is saved under a name; later, and after other questions, a click asks it anew."""
    desk = signed_in(**{"is.geo.country": "US", "split": "campaign_id"})
    desk.text_input(key="view_name").set_value("US *campaigns*")
    VIEWS.submit(desk, "Save view")
    assert views(desk) == [r"US \*campaigns\*"]
    other = signed_in()
    assert asked(other, "is.geo.country") == ""
    other.button[[button.label for button in other.button].index(r"US \*campaigns\*")].click().run()
    assert (asked(other, "is.geo.country"), asked(other, "split")) == ("US", "campaign_id")
    other.button(key="question_undo").click().run()
    assert asked(other, "is.geo.country") == ""


def test_changed_since_saved(signed_in: Desk, kept: Keeper) -> None:
    """A view whose question was changed is marked; update keeps the new question, open as saved the old."""
    desk = signed_in(**{"is.geo.country": "US", "split": "geo.country", "lower": "split"})
    desk.text_input(key="view_name").set_value("Mine")
    VIEWS.submit(desk, "Save view")
    assert "changed since saved" not in str([markdown.value for markdown in desk.markdown])
    desk.multiselect(key="split_fields").set_value(["campaign_id"]).run()
    assert "**Mine** · changed since saved" in [markdown.value for markdown in VIEWS.opened(desk).markdown]
    VIEWS.press(desk, "view_restore")
    assert asked(desk, "split") == "geo.country"
    desk.multiselect(key="split_fields").set_value(["campaign_id"]).run()
    VIEWS.press(VIEWS.opened(desk), "view_update")
    assert "changed since saved" not in str([markdown.value for markdown in desk.markdown])
    (view,) = kept("manager").views.of("demo", "delivery")
    assert (view.params["split"], view.params["is.geo.country"]) == ("campaign_id", "US")


def test_rename_share_and_delete(signed_in: Desk, kept: Keeper) -> None:
    """The owner renames and shares a view, and deletes it with a second click."""
    view = kept("manager").views.save("demo", "delivery", "Old", {"start": "-14d"})
    desk = VIEWS.press(signed_in(), f"view_do_edit_{view.id}")
    desk.text_input(key=f"view_rename_{view.id}").set_value("New")
    desk.checkbox(key=f"view_reshare_{view.id}").set_value(True)
    VIEWS.submit(desk, "Save changes")
    (seen,) = kept("viewer").views.of("demo", "delivery")
    assert (seen.name, seen.is_shared, seen.params) == ("New", True, {"start": "-14d"})
    VIEWS.press(desk, "view_all")
    VIEWS.press(VIEWS.press(desk, f"view_do_delete_{view.id}"), "view_delete_not")
    assert kept("manager").views.get(view.id) is not None
    VIEWS.press(VIEWS.press(desk, f"view_do_delete_{view.id}"), "view_delete_sure")
    assert kept("manager").views.get(view.id) is None
    assert views(desk) == []


def test_views_of_others(signed_in: Desk, kept: Keeper) -> None:
    """A shared view of somebody else can be opened and not changed, but by an administrator."""
    view = kept("manager").views.save("demo", "delivery", "Ours", {"start": "-14d"}, is_shared=True)
    kept("manager").views.save("demo", "delivery", "Private", {"start": "-30d"})
    desk = signed_in("viewer")
    assert views(desk) == ["Ours"]
    assert actions(desk, view.id) == {
        "Alert on Ours",
        "Open Tranche on Ours",
        "Comments on Ours",
        "Add Ours to a board",
        "Link to Ours",
    }
    assert [
        caption.value.partition(" · saved")[0] for caption in desk.caption if "saved" in caption.value
    ] == ["by manager · shared"]
    assert actions(signed_in("admin"), view.id) >= {"Edit Ours", "Delete Ours"}


def test_a_name_that_is_taken(signed_in: Desk, kept: Keeper) -> None:
    """What the store refuses is said in the popover, and stays typed; once it is saved, the form is empty."""
    kept("manager").views.save("demo", "delivery", "Weekly", {"start": "-14d"})
    desk = signed_in()
    desk.text_input(key="view_name").set_value("weekly")
    desk.checkbox(key="view_share").check()
    VIEWS.submit(desk, "Save view")
    assert len(kept("manager").views.of("demo", "delivery")) == 1
    assert ["already" in error.value for error in desk.error] == [True]
    assert (desk.text_input(key="view_name").value, desk.checkbox(key="view_share").value) == ("weekly", True)
    desk.text_input(key="view_name").set_value("Weekly too")
    VIEWS.submit(desk, "Save view")
    assert [view.is_shared for view in kept("manager").views.of("demo", "delivery")] == [False, True]
    assert (desk.text_input(key="view_name").value, desk.checkbox(key="view_share").value) == ("", False)


def test_what_no_longer_fits_is_named(signed_in: Desk, kept: Keeper) -> None:
    """A view whose key field the slicer has no more asks the rest, and a sentence says what was left out."""
    view = kept("manager").views.save(
        "demo", "delivery", "Old", {"is.zone": "1", "is.geo.country": "FR", "project": "other"}
    )
    desk = signed_in()
    desk.button(key=f"view_open_{view.id}").click().run()
    assert asked(desk, "is.geo.country") == "FR"
    assert (asked(desk, "is.zone"), asked(desk, "project")) == ("", "demo")
    assert ["the filter on Zone" in warning.value for warning in desk.warning] == [True]


def test_the_start_page(signed_in: Desk, kept: Keeper) -> None:
    """Who chose a start page sees it after the sign-in; a link that asks for something is opened as it is."""
    view = kept("manager").views.save("demo", "curation", "Morning", {"start": "-14d", "end": "yesterday"})
    desk = signed_in(slicer="curation")
    VIEWS.press(desk, f"view_do_start_{view.id}")
    assert kept("manager").start.get() == view
    assert "start page" in str([caption.value for caption in desk.caption])
    fresh = AppTest.from_file(DESK, default_timeout=60).run()
    fresh.button(key="demo_manager").click().run()
    assert (asked(fresh, "slicer"), asked(fresh, "start")) == ("curation", "-14d")
    assert boards.headline(fresh)
    linked = AppTest.from_file(DESK, default_timeout=60)
    linked.query_params["slicer"] = "delivery"
    linked.run().button(key="demo_manager").click().run()
    assert linked.selectbox(key="slicer").value == "delivery"
    assert asked(linked, "start") == ""
    VIEWS.press(signed_in(slicer="curation"), f"view_do_start_{view.id}")
    assert kept("manager").start.get() is None


def test_views_on_the_slicers_screen(signed_in: Desk, kept: Keeper) -> None:
    """Slicers has the same views: saved, marked as changed, renamed, deleted; one opens on Audience."""
    desk = signed_in(page=SLICERS, **{"is.geo.country": "US"})
    desk.text_input(key="view_name").set_value("Here")
    VIEWS.submit(desk, "Save view")
    assert views(desk) == ["Here"]
    (view,) = kept("manager").views.of("demo", "delivery")
    assert view.params["is.geo.country"] == "US"
    kept("manager").views.change(view.id, params={"is.geo.country": "FR", "start": "-14d"})
    assert "**Here** · changed since saved" in [
        markdown.value for markdown in VIEWS.opened(desk.run()).markdown
    ]
    VIEWS.press(desk, f"view_do_link_{view.id}")
    assert any("/audience?project=demo&slicer=delivery&is.geo.country=FR" in code.value for code in desk.code)
    VIEWS.press(VIEWS.press(desk, "view_all"), f"view_do_edit_{view.id}")
    desk.text_input(key=f"view_rename_{view.id}").set_value("There")
    VIEWS.submit(desk, "Save changes")
    VIEWS.press(desk, "view_all").button(key=f"view_open_{view.id}").click().run()
    assert not desk.exception
    assert (asked(desk, "is.geo.country"), asked(desk, "start")) == ("FR", "-14d")
    assert boards.headline(desk)
    other = VIEWS.press(signed_in(page=SLICERS), f"view_do_delete_{view.id}")
    VIEWS.press(other, "view_delete_sure")
    assert views(other) == []


def test_a_view_keeps_what_is_explored(signed_in: Desk, kept: Keeper) -> None:
    """A view saved on Slicers has its fields and their order; with another field it has changed."""
    explored = "campaign_id~clicks~-clicks"
    desk = signed_in(page=SLICERS, explore=explored)
    desk.text_input(key="view_name").set_value("Campaigns")
    VIEWS.submit(desk, "Save view")
    (view,) = kept("manager").views.of("demo", "delivery")
    assert view.params["explore"] == explored
    assert "changed since saved" not in str([markdown.value for markdown in desk.markdown])
    desk.text_input(key="fields_search").set_value("country").run()
    assert "**Campaigns** · changed since saved" in [
        markdown.value for markdown in VIEWS.opened(desk.run()).markdown
    ]
    other = signed_in()
    other.button(key=f"view_open_{view.id}").click().run()
    other.switch_page(SLICERS).run()
    assert [header.value for header in other.header] == ["Campaign by Clicks"]


def leaderboards(desk: AppTest) -> list[str]:
    """The key fields that have a card."""
    return [table["id"] for table in boards.drawn(desk) if table["card"]]


def choose_leaderboards(desk: AppTest, names: list[str]) -> None:
    """Choose the key fields with a card."""
    Popover(overview_controls.PICKER).opened(desk)
    (picker,) = [
        multiselect for multiselect in desk.multiselect if str(multiselect.key).startswith("card_fields")
    ]
    picker.set_value(names).run()


def test_chosen_leaderboards_are_remembered(signed_in: Desk) -> None:
    """The next visit shows the leaderboards that a person chose, unless the link asks for others."""
    desk = signed_in()
    choose_leaderboards(desk, ["categories", "geo.country"])
    assert leaderboards(desk) == ["categories", "geo.country"]
    fresh = signed_in()
    assert leaderboards(fresh) == ["categories", "geo.country"]
    assert asked(fresh, "cards") == ""
    assert leaderboards(signed_in(cards="campaign_id")) == ["campaign_id"]
    usual = leaderboards(signed_in("admin"))
    assert usual == ["geo.country", "campaign_id"]
    choose_leaderboards(fresh, usual)
    assert leaderboards(signed_in()) == usual


def test_chosen_leaderboards_stay_after_a_click_that_leads_on(signed_in: Desk) -> None:
    """A click that leads to another question keeps the leaderboards that the person chose, at once."""
    desk = signed_in(**{"is.geo.country": "nowhere"})
    choose_leaderboards(desk, ["categories"])
    params = {"start": "-7d", "end": "yesterday"}
    parts = boards.parts(desk, params, ["cards"], ["go", params])
    assert [table["id"] for table in parts["cards"]] == ["categories"]


def test_comments_on_a_view(signed_in: Desk, kept: Keeper) -> None:
    """A comment stands under its view as characters, with name and time; whom it mentions sees a count."""
    view = kept("manager").views.save("demo", "delivery", "Ours", {"start": "-7d"}, is_shared=True)
    VIEWS.press(desk := signed_in(), f"view_do_comments_{view.id}")
    desk.text_input(key=f"view_{view.id}_note_text_0").set_value(f"@viewer {HOSTILE}")
    VIEWS.submit(desk, "Add comment")
    (comment,) = kept("viewer").notes.on_views("demo", "delivery")[view.id]
    assert (comment.text, comment.owner) == (f"@viewer {HOSTILE}", "manager")
    reader = signed_in("viewer")
    assert "1 comment, **1 mentions you**" in str([caption.value for caption in reader.caption])
    VIEWS.press(reader, f"view_do_comments_{view.id}")
    assert any(r"\*\*y\*\* \[z\]" in markdown.value for markdown in reader.markdown)
    about = next(caption.value for caption in reader.caption if "mentions you" in caption.value)
    assert about.startswith("by manager")
    assert f"{comment.created:%H:%M} UTC" in about
    assert f"view_{view.id}_delete_{comment.id}" not in {button.key for button in reader.button}
    root = VIEWS.press(signed_in("admin"), f"view_do_comments_{view.id}")
    VIEWS.press(root, f"view_{view.id}_delete_{comment.id}")
    VIEWS.press(root, f"view_{view.id}_delete_sure")
    assert kept("viewer").notes.on_views("demo", "delivery") == {}


@pytest.mark.parametrize("part", ["headline", "table"])
def test_a_view_goes_onto_a_board(signed_in: Desk, kept: Keeper, part: str) -> None:
    """From its actions a view becomes the last cell of one's own board; boards of others are not offered."""
    store = kept("manager")
    view = store.views.save(
        "demo", "delivery", "Monday", {"start": "-7d", "end": "yesterday"}, is_shared=True
    )
    board = store.boards.save("Weekly", False, [BoardCell(view.id, "chart")], {})
    kept("admin").boards.save("Of the boss", True, [BoardCell(view.id, "chart")], {})
    desk = VIEWS.press(signed_in(), f"view_do_board_{view.id}")
    assert desk.selectbox(key=board_addition.BOARD).options == ["Weekly"]
    desk.selectbox(key=board_addition.PART).set_value(part)
    VIEWS.press(desk, "view_board_add")
    assert desk.success[0].value == "Added to Weekly."
    (changed,) = (stored for stored in store.boards.all() if stored.id == board.id)
    assert [cell.part for cell in changed.cells] == ["chart", part]
    assert changed.cells[-1].view_id == view.id
