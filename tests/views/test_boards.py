"""Boards: who sees them and their views, who may change them, start pages and mails; once per database."""

import json
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, update

from lib.people import Grant, Person, Role
from lib.views import BoardCell, Schedule, ViewStore
from lib.views.board_copies import BoardCopy, copy_board
from lib.views.entries import Scope
from lib.views.tables import boards
from lib.wire.errors import AccessError, BadRequest

DELIVERY, CURATION = ("demo", "delivery"), ("demo", "curation")
WEEK = {"start": "-7d", "end": "yesterday"}
As = Callable[..., ViewStore]


@pytest.fixture
def kept(engine: Engine) -> As:
    """What this person keeps; all may see the project demo unless `sees` says something else."""

    def of(name: str, role: Role = "viewer", sees: str = "demo") -> ViewStore:
        return ViewStore(Scope(engine, "", Person(name, name, None, role, (Grant.parse(sees),), shares=True)))

    return of


def test_a_board_is_what_was_saved(kept: As) -> None:
    """Cells with their parts, widths and order, and the days and filters of all, come back."""
    views = [kept("ada").views.save(*pair, "View", WEEK) for pair in (DELIVERY, CURATION)]
    cells = (BoardCell(views[1].id, "chart", 3), BoardCell(views[0].id, "leaderboard", 1, "geo.country"))
    board = kept("ada").boards.save("  Monday\tmeeting ", cells=cells, params={"is.geo.country": "US"})
    assert kept("ada").boards.get(board.id) == board
    assert (board.name, board.cells, board.params) == ("Monday meeting", cells, {"is.geo.country": "US"})
    changed = kept("ada").boards.change(board.id, cells=cells[::-1])
    assert (changed.cells, changed.params) == (cells[::-1], board.params)
    assert kept("ada").boards.views_of(board) == {view.id: view for view in views}


def test_a_shared_board_is_seen_by_who_sees_one_of_its_views(kept: As) -> None:
    """And shows its reader those views alone; an own board is private, and an empty one its owner's."""
    shared = kept("ada").views.save(*DELIVERY, "Shared", WEEK, is_shared=True)
    private = kept("ada").views.save(*DELIVERY, "Private", WEEK)
    cells = [BoardCell(shared.id), BoardCell(private.id)]
    board = kept("ada").boards.save("Ours", True, cells)
    kept("ada").boards.save("Mine", False, cells)
    kept("ada").boards.save("Empty", True)
    assert [board.name for board in kept("ada").boards.all()] == ["Empty", "Mine", "Ours"]
    assert [board.name for board in kept("bo").boards.all()] == ["Ours"]
    assert set(kept("bo").boards.views_of(board)) == {shared.id}
    elsewhere = kept("cy", sees="other")
    assert elsewhere.boards.all() == []
    assert elsewhere.boards.get(board.id) is None


def test_only_its_owner_or_an_administrator_changes_a_board(kept: As) -> None:
    """Others get AccessError for a shared one, and for one that they can't see that it is not there."""
    view = kept("ada").views.save(*DELIVERY, "View", WEEK, is_shared=True)
    board = kept("ada").boards.save("Ours", True, [BoardCell(view.id)])
    private = kept("ada").boards.save("Mine", False, [BoardCell(view.id)])
    with pytest.raises(AccessError):
        kept("bo").boards.change(board.id, params=WEEK)
    with pytest.raises(BadRequest, match="not there"):
        kept("bo").boards.delete(private.id)
    assert kept("root", role="admin").boards.rename(board.id, "All", True).name == "All"
    with pytest.raises(BadRequest, match="already"):
        kept("ada").boards.save("all")


def test_a_deleted_view_keeps_its_cell(kept: As) -> None:
    """The board stays whole: the cell is there without its view, and so it is in a copy."""
    view, gone = (kept("ada").views.save(*DELIVERY, name, WEEK) for name in ("View", "Gone"))
    board = kept("ada").boards.save("Board", cells=[BoardCell(gone.id, "chart"), BoardCell(view.id)])
    kept("ada").views.delete(gone.id)
    after = kept("ada").boards.get(board.id)
    assert after is not None
    assert after.cells == board.cells
    copy = copy_board(after, kept("ada").boards.views_of(after), {})
    assert [(item.is_missing, item.name) for item in copy.items] == [(True, ""), (False, "View")]
    assert BoardCopy.from_params(copy.to_params()) == copy


def test_a_text_is_a_cell_without_a_view(kept: As) -> None:
    """It has a title, a text or both, each in one line; without either, or with what can't be seen, it is
    refused."""
    text = BoardCell(part="text", width=4, title=" Pacing ", text="First\nprices")
    view = kept("ada").views.save(*DELIVERY, "View", WEEK)
    board = kept("ada").boards.save("Board", cells=[text, BoardCell(view.id, title="Ours")])
    assert kept("ada").boards.get(board.id) == board
    assert (board.cells[0].title, board.cells[0].text) == ("Pacing", "First prices")
    copy = copy_board(board, kept("ada").boards.views_of(board), {})
    assert [(item.is_missing, item.title) for item in copy.items] == [(False, "Pacing"), (False, "Ours")]
    assert copy.slicers == {DELIVERY}
    for wrong in ({}, {"text": "x" * 301}, {"title": "x" * 101}, {"text": "a\u202eb"}):
        with pytest.raises(BadRequest):
            BoardCell(part="text", **wrong)


def test_a_board_that_was_stored_before_texts_is_read(kept: As, engine: Engine) -> None:
    """Its cells, and those of its share links, have neither title nor text."""
    view = kept("ada").views.save(*DELIVERY, "View", WEEK)
    board = kept("ada").boards.save("Board", cells=[BoardCell(view.id, "chart", 3)])
    old = [{"view_id": view.id, "part": "chart", "width": 3, "card": ""}]
    with engine.begin() as connection:
        connection.execute(update(boards).where(boards.c.id == board.id).values(cells=old))
    assert kept("ada").boards.get(board.id) == board
    item = {"part": "chart", "width": 3, "card": "", "project": "demo", "slicer": "delivery", "name": "View"}
    link = {"board": json.dumps({"items": [{**item, "params": WEEK}], "params": {}})}
    assert BoardCopy.from_params(link) == copy_board(board, kept("ada").boards.views_of(board), {})


@pytest.mark.parametrize(("part", "width"), [("pie", 2), ("chart", 0), ("chart", 5)])
def test_a_cell_that_can_not_be_is_refused(part: str, width: int) -> None:
    """Another part, or a width that the grid does not have, says what would be right."""
    with pytest.raises(BadRequest):
        BoardCell(1, part, width)  # type: ignore[arg-type]


def test_too_many_cells_are_refused(kept: As) -> None:
    """24 at most."""
    with pytest.raises(BadRequest, match="24"):
        kept("ada").boards.save("Board", cells=[BoardCell(number) for number in range(25)])


def test_a_board_or_a_view_is_the_start_page(kept: As) -> None:
    """The later choice counts; a board that is deleted is none any more."""
    store = kept("ada")
    view = store.views.save(*DELIVERY, "View", WEEK)
    board = store.boards.save("Board", cells=[BoardCell(view.id)])
    store.start.set(view.id)
    store.start.set_board(board.id)
    assert (store.start.get(), store.start.board()) == (None, board)
    store.start.set(view.id)
    assert (store.start.get(), store.start.board()) == (view, None)
    store.start.set_board(board.id)
    store.boards.delete(board.id)
    assert store.start.board() is None
    with pytest.raises(BadRequest, match="not there"):
        store.start.set_board(board.id)


def test_a_mail_of_a_board(kept: As) -> None:
    """It is one mail, not of alerts, named after the board, and goes with it."""
    store = kept("ada")
    view = store.views.save(*DELIVERY, "View", WEEK)
    board = store.boards.save("Board", cells=[BoardCell(view.id)])
    mail = store.mails.add(None, Schedule("weekly"), board_id=board.id)
    assert (mail.board_name, mail.view_id, mail.is_of_alerts) == ("Board", None, False)
    store.mails.add(None, Schedule("alerts"))
    store.mails.add(None, Schedule("daily"), board_id=board.id)
    assert [(schedule.pace, schedule.board_name) for schedule in store.mails.mine()] == [
        ("alerts", ""),
        ("daily", "Board"),
    ]
    with pytest.raises(BadRequest, match="not there"):
        kept("bo").mails.add(None, Schedule("daily"), board_id=board.id)
    store.boards.delete(board.id)
    assert [schedule.pace for schedule in store.mails.mine()] == ["alerts"]


def test_a_share_link_has_a_copy_of_the_board(kept: As) -> None:
    """What its owner may see, and later changes of board and view do not reach it."""
    store = kept("ada")
    view = store.views.save(*DELIVERY, "View", {**WEEK, "is.geo.country": "US"})
    board = store.boards.save("Board", cells=[BoardCell(view.id)])
    copy = copy_board(board, store.boards.views_of(board), {})
    link, _ = store.share_links.make("", "", "Board", copy.to_params())
    store.views.change(view.id, params=WEEK)
    (stored,) = store.share_links.everything()
    assert stored == link
    assert BoardCopy.from_params(stored.params) == copy
    assert link.about == "a board"
    with pytest.raises(AccessError):
        kept("cy", sees="other").share_links.make("", "", "Board", copy.to_params())
    with pytest.raises(AccessError):
        store.share_links.make("", "", "No board", {})
    with pytest.raises(BadRequest):
        store.share_links.make("", "", "Nothing", BoardCopy((), {}).to_params())
