"""Notes on dates on the Audience page: marks on the chart, and the popover that adds, edits and deletes."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import boards
import pytest
from conftest import LAST_DAY
from keeping import Keeper, keeper
from opening import menu, of_delivery
from streamlit.testing.v1 import AppTest

from lib.serving import connect
from lib.settings import Settings
from lib.views import ViewStore

DELIVERY = ("demo", "delivery")
HOSTILE = "<b>x</b> **y** [z](http://a.example) %{x}"
NOTES = menu("Notes")
START = datetime(2026, 11, 2)  # noqa: DTZ001


@pytest.fixture
def kept(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    """What the person of this name keeps in the data directory that the desk is over."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return keeper(Settings(home=own_home, demo=True))


def with_notes(person: str = "manager") -> AppTest:
    """The Audience page with the popover of notes open."""
    return NOTES.opened(of_delivery(person=person))


def marks(desk: AppTest) -> list[dict[str, Any]]:
    """The notes that the chart over time marks."""
    date_notes: list[dict[str, Any]] = boards.head(desk)["date_notes"]
    return date_notes


def stored(kept: ViewStore) -> list[tuple[date, str, str]]:
    """The notes of the slicer."""
    return [(note.day, note.text, note.owner) for note in kept.notes.of(*DELIVERY, date.min, date.max)]


def test_a_note_on_the_chart_and_in_its_accessible_text(kept: Keeper) -> None:
    """Whoever may see the slicer sees another's note: a mark with its text, also when read out."""
    kept("manager").notes.add(*DELIVERY, LAST_DAY, "Publisher left")
    desk = of_delivery(person="viewer")
    (mark,) = marks(desk)
    assert (mark["day"], mark["place"], mark["text"]) == (LAST_DAY.isoformat(), 6, "Publisher left")
    assert "Publisher left" in boards.head(desk)["alt_end"]


def test_texts_of_others_are_characters(kept: Keeper) -> None:
    """A note's marks, tags and links are no Markdown; the board sets them as text."""
    kept("manager").notes.add(*DELIVERY, LAST_DAY, HOSTILE)
    desk = with_notes("viewer")
    assert marks(desk)[0]["text"] == HOSTILE
    shown = [markdown.value for markdown in desk.markdown if "http" in markdown.value]
    assert shown
    assert all(r"\*\*y\*\*" in text and r"\<b\>" in text for text in shown)


def test_add_a_note(kept: Keeper) -> None:
    """Date and text make a note; it is marked at once, and the form is empty again."""
    desk = with_notes("viewer")
    assert not marks(desk)
    desk.date_input(key="date_note_day_0").set_value(LAST_DAY - timedelta(days=1))
    desk.text_input(key="date_note_text_0").set_value("Campaign began")
    NOTES.submit(desk, "Add note")
    assert stored(kept("viewer")) == [(LAST_DAY - timedelta(days=1), "Campaign began", "viewer")]
    assert len(marks(desk)) == 1
    assert desk.text_input(key="date_note_text_0").value == ""


def test_what_the_store_refuses_is_said(kept: Keeper) -> None:
    """Without a text nothing is stored, the reason is shown, and the date stays as it was chosen."""
    desk = with_notes()
    day = LAST_DAY - timedelta(days=3)
    desk.date_input(key="date_note_day_0").set_value(day)
    NOTES.submit(desk, "Add note")
    assert ["missing" in error.value for error in desk.error] == [True]
    assert desk.date_input(key="date_note_day_0").value == day
    assert stored(kept("manager")) == []


def test_a_note_on_another_day_than_those_on_screen(kept: Keeper) -> None:
    """It is stored, and the popover says why it can't be seen."""
    desk = with_notes()
    desk.date_input(key="date_note_day_0").set_value(LAST_DAY - timedelta(days=60))
    desk.text_input(key="date_note_text_0").set_value("Long ago")
    next(button for button in desk.button if button.label == "Add note").click()
    NOTES.opened(desk)
    assert "not among the days on screen" in str([caption.value for caption in desk.caption])
    assert len(stored(kept("manager"))) == 1
    assert not marks(desk)


def test_edit_and_delete_ones_own(kept: Keeper) -> None:
    """The owner changes day and text, and deletes with a second click."""
    note = kept("manager").notes.add(*DELIVERY, LAST_DAY, "Old")
    desk = NOTES.press(with_notes(), f"date_edit_{note.id}")
    desk.text_input(key=f"date_note_text_{note.id}").set_value("New")
    desk.date_input(key=f"date_note_day_{note.id}").set_value(LAST_DAY - timedelta(days=2))
    NOTES.submit(desk, "Save note")
    assert stored(kept("manager")) == [(LAST_DAY - timedelta(days=2), "New", "manager")]
    NOTES.press(NOTES.press(desk, f"date_delete_{note.id}"), "date_delete_not")
    assert len(stored(kept("manager"))) == 1
    NOTES.press(NOTES.press(desk, f"date_delete_{note.id}"), "date_delete_sure")
    assert stored(kept("manager")) == []
    assert not marks(desk)


def test_notes_of_others_are_changed_by_administrators_alone(kept: Keeper) -> None:
    """Somebody else has no buttons on a note; an administrator has."""
    note = kept("manager").notes.add(*DELIVERY, LAST_DAY, "Ours")
    buttons = {f"date_edit_{note.id}", f"date_delete_{note.id}"}
    assert not buttons & {button.key for button in with_notes("viewer").button}
    assert buttons <= {button.key for button in with_notes("admin").button}


@pytest.mark.parametrize("lost", [{"role": "viewer"}, {"role": "viewer", "grants": ()}, None])
def test_rights_that_are_lost_before_the_last_click(kept: Keeper, lost: dict[str, Any] | None) -> None:
    """Who is no administrator any more, sees the slicer no more, or is removed, deletes nobody's note."""
    note = kept("manager").notes.add(*DELIVERY, LAST_DAY, "Ours")
    desk = NOTES.press(with_notes("admin"), f"date_delete_{note.id}")
    people = connect.installation(Settings.current()).people
    if lost is None:
        people.remove("admin")
    else:
        people.change("admin", **lost)
    desk.button(key="date_delete_sure").click().run()
    assert len(stored(kept("manager"))) == 1
    assert not desk.exception
