"""Owner and note of a package: kept by the desk, never overwritten unseen, in the drawer and the list."""

from pathlib import Path

import pytest
from boards import components
from dealing import Visit, clean, clients

from lib.deals.client import Deals
from lib.deals.package_records import LONGEST_NOTE, PackageNote, PackageNotes
from lib.settings import Settings
from lib.wire.errors import Conflict, Forbidden, Invalid


def kept(home: Path, person: str = "manager") -> PackageNotes:
    """The notes in the name of a person."""
    return clients(Settings(home=home, demo=True), person).package_notes


def test_kept_per_service_and_package(own_deals_home: Path) -> None:
    """What is kept is that of one package of one service; emptied, nothing is kept of it."""
    notes = kept(own_deals_home)
    note = notes.keep(1, "  Ada   L. ", "Call on Monday.\nThen pause.", PackageNote())
    assert (note.owner, note.note, note.who) == ("Ada L.", "Call on Monday.\nThen pause.", "manager")
    assert notes.of([1, 2]) == {1: notes.get(1)}
    remote = PackageNotes(notes.engine, "https://deals.example", notes.person)
    assert remote.get(1) == PackageNote()
    notes.keep(1, "", " ", notes.get(1))
    assert notes.of([1]) == {}


def test_nothing_is_overwritten_unseen(own_deals_home: Path) -> None:
    """Who read it before somebody else's change is told who that was, and their text stays."""
    mine, theirs = kept(own_deals_home), kept(own_deals_home, "admin")
    theirs.keep(1, "Bob", "", PackageNote())
    with pytest.raises(Conflict, match="admin has changed it meanwhile"):
        mine.keep(1, "Ada", "", PackageNote())
    assert mine.get(1).owner == "Bob"


def test_refused(own_deals_home: Path) -> None:
    """Viewers read only; texts are bounded, and read as they are stored."""
    with pytest.raises(Forbidden):
        kept(own_deals_home, "viewer").keep(1, "Ada", "", PackageNote())
    notes = kept(own_deals_home)
    with pytest.raises(Invalid) as long:
        notes.keep(1, "Ada\x07", "x" * (LONGEST_NOTE + 1), PackageNote())
    assert long.value.fields.keys() == {"owner", "note"}


def test_in_drawer_and_list(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """A manager saves both in the drawer; the owner is a column of the list where it is chosen."""
    desk = visit("deals", open="supply_deals-1")
    desk.text_input(key="note_owner_1").set_value("Ada *L.*")
    desk.text_area(key="note_text_1").set_value("No [link](x)")
    save = next(button for button in desk.button if button.label == "Save")
    clean(save.click().run())
    note = kept(own_deals_home).get(1)
    assert (note.owner, note.note, note.who) == ("Ada *L.*", "No [link](x)", "manager")
    assert "No [link](x)" in [text.value for text in desk.text]
    desk = visit("deals", "viewer", deals_kind="Packages", package_columns="Owner")
    [listing] = [data for data in components(desk) if "rows" in data]
    place = [column["id"] for column in listing["columns"]].index("owner")
    owners = {row["cells"][0]["text"]: row["cells"][place]["text"] for row in listing["rows"]}
    assert owners == {"Morning News": "Ada *L.*", "Evening Sports": "–"}
