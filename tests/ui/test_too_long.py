"""A text that is too long for its field: every form says how long it may be, keeps it, and stores nothing."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import DATABASE, SOLD, Visit, clean, clients
from opening import Popover, menu
from streamlit.testing.v1 import AppTest

from lib import settings as settings_module
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import OfferTerms, Round
from lib.deals.proposals.writers import ClientWriter
from lib.people import DealsGrant
from lib.serving import connect
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.ui.audience.boards import board_list
from lib.ui.deals.new_package import from_audience
from lib.views import BoardCell

DEAL = "demand_deals-1"
LINE = "{what} is too long: {length:,} characters, {most:,} at most."
FIELD = "At most {most:,} characters; this has {length:,}."
SERVICE = "{what}: This may have at most {most} characters."
FORMULA = "A formula has at most {most:,} characters, this one {length:,}."
Opening = Callable[[Visit, Clients], AppTest]


@dataclass(frozen=True)
class Form:
    """A form, what opens it, the field with room for `most` characters, and what is pressed, if it can be.

    `popover` is the one that it is in, which AppTest closes with each run.
    """

    open: Opening
    field: str
    most: int
    press: str
    sentence: str = LINE
    what: str = "The name"
    popover: Popover | None = None


def draw(screen: str, person: str = "manager", popover: Popover | None = None, **params: str) -> Opening:
    """Opens a screen, and the popover in it."""

    def open(visit: Visit, _: Clients) -> AppTest:
        desk = visit(screen, person, **params)
        return desk if popover is None else popover.opened(desk)

    return open


def section(name: str, person: str, key: str) -> Opening:
    """Opens a section of a drawer."""

    def open(visit: Visit, _: Clients) -> AppTest:
        desk = visit("deals", person, open=key)
        return clean(desk.button_group(key="drawer_shown").set_value(name).run())

    return open


def change(visit: Visit, clients: Clients) -> AppTest:
    """The form of a change that the viewer may propose."""
    desk = section("Change", "viewer", DEAL)(visit, clients)
    return clean(desk.text_input(key=f"change-{DEAL}-price").set_value("2.9").run())


def proposal(visit: Visit, clients: Clients) -> AppTest:
    """The dialog of a proposal, to decline it."""
    body = {"entity": "demand_deals", "entity_id": 1, "fields": {"price": Decimal(3)}, "reason": "Low"}
    number = clients.proposals.propose(body, ClientWriter(clients.deals)).id
    return visit("deals", proposal=str(number))


def answer(visit: Visit, clients: Clients) -> AppTest:
    """The form that answers a buyer."""
    deal = clients.deals.get(DemandDeal, 2)
    packages = [clients.deals.get(SupplyPackage, package.id or 0) for package in deal.supply_deals]
    offer = clients.negotiations.of(deal, OfferTerms.of(deal, packages, clients.usual_terms))
    theirs = Round("buyer", "proposes", OfferTerms(price=Decimal(2)), "Bea Buyer", "", 7)
    clients.negotiations.add(deal, offer.terms, theirs, offer.mark)
    desk = visit("deals", open="demand_deals-2")
    desk.session_state["answer_2_back"] = True
    clean(desk.run())
    desk.text_input(key="answer_2_price").set_value("2.60")
    return desk


def board(visit: Visit, clients: Clients) -> AppTest:
    """A board that is arranged, of a text alone."""
    number = clients.view_store.boards.save(
        "Monday", True, [BoardCell(part="text", width=4, text="Old")], {}
    ).id
    desk = visit("boards", board=str(number))
    return clean(desk.button(key="board_arrange").click().run())


def edited(visit: Visit, clients: Clients) -> AppTest:
    """The panel that renames a saved view."""
    number = clients.view_store.views.save(*DEMO.values(), "Old", {"start": "-7d"}).id
    return VIEWS.press(VIEWS.opened(visit("audience", **DEMO)), f"view_do_edit_{number}")


def metric(visit: Visit, _: Clients) -> AppTest:
    """The dialog of a new metric, of which all is right."""
    desk = menu("Metrics").opened(visit("audience", **DEMO))
    clean(desk.button(key="own_metric_add").click().run())
    desk.text_input(key="own_metric_name").set_value("Mine")
    return clean(desk.text_input(key="own_metric_formula").set_value("1000 * revenue / imps").run())


DEMO = {"project": "demo", "slicer": "delivery"}
CATS = {"slicer": SOLD, "is.site_domain": "cats.example", "start": "-7d", "end": "yesterday"}
FROM, VIEWS, BOARDS = Popover(from_audience.FORM), Popover("saved_views"), Popover(board_list.POPOVER)
SHARE, NOTES, REASON = Popover("share"), menu("Notes"), f"change-{DEAL}-proposal_reason"
NOTED = draw("deals", open="supply_deals-1")
SHARED, AUDIENCE = (draw("audience", popover=popover, **DEMO) for popover in (SHARE, VIEWS))
FORMS = {
    "token": Form(draw("access"), "token_name", 200, "token_make", what="The token's name"),
    "owner": Form(NOTED, "note_owner_1", 100, "Save", FIELD),
    "note": Form(NOTED, "note_text_1", 2_000, "Save", FIELD),
    "list of a question": Form(
        draw("audience", popover=FROM, **CATS), "package_from_name_0", 200, "package_from_open", SERVICE,
        "name", FROM,
    ),
    "reason": Form(change, REASON, 2_000, f"change-{DEAL}-propose", SERVICE, "reason"),
    "word of a decline": Form(proposal, "proposals_word", 500, "proposal_decline_sure", SERVICE, "word"),
    "new list": Form(draw("lists"), "lists_new_name", 200, "lists_new_create", SERVICE, "name"),
    "list": Form(
        draw("lists", list="app_lists-1"), "list_name_app_lists-1", 200, "list_rename", SERVICE, "name"
    ),
    "link of a deal": Form(
        section("Facts", "manager", DEAL), "dossier_title_1", 100, "Make a link for the buyer"
    ),
    "word to a buyer": Form(answer, "answer_2_word", 500, "Send to the buyer", what="Your word"),
    "package": Form(draw("new_package", slicer=SOLD), "np_name", 200, "np_create_button", FIELD),
    "deal": Form(section("Change", "manager", DEAL), f"change-{DEAL}-name", 200, "", FIELD),
    "note on a day": Form(
        draw("audience", popover=NOTES, **DEMO), "date_note_text_0", 300, "Add note", what="The text",
        popover=NOTES,
    ),
    "new view": Form(AUDIENCE, "view_name", 100, "Save view", popover=VIEWS),
    "view": Form(edited, "view_rename_1", 100, "Save changes", popover=VIEWS),
    "new board": Form(
        draw("boards", popover=BOARDS, **DEMO), "view_board_name", 100, "Save board", popover=BOARDS
    ),
    "share link": Form(SHARED, "share_link_name", 100, "Make a share link", popover=SHARE),
    "recipient": Form(
        SHARED, "share_link_recipient", 254, "Make a share link", what="The address", popover=SHARE
    ),
    "name of a metric": Form(metric, "own_metric_name", 100, "own_metric_save"),
    "formula": Form(metric, "own_metric_formula", 2_000, "", FORMULA),
    "unit": Form(metric, "own_metric_unit", 20, "", what="The unit"),
    "title of a cell": Form(board, "board_1_0_0_title_", 100, "", what="The title"),
    "text of a cell": Form(board, "board_1_0_0_text_", 300, "", what="The text"),
    "heading": Form(board, "board_1_heading_1", 100, "_add_text-Add", what="The title"),
    "text": Form(board, "board_1_text_1", 300, "_add_text-Add", what="The text"),
}  # fmt: skip


@pytest.fixture
def house(own_deals_home: Path, monkeypatch: pytest.MonkeyPatch) -> Clients:
    """The manager's clients, where mail is sent; the manager may share, the viewer may propose."""
    monkeypatch.setenv("TRANCHE_SMTP_HOST", "127.0.0.1")
    monkeypatch.setenv("TRANCHE_MAIL_FROM", "desk@house.example")
    monkeypatch.setenv("TRANCHE_HOME", str(own_deals_home))
    monkeypatch.setenv("TRANCHE_DEMO", "true")
    settings_module._current.cache_clear()
    people = connect.installation(Settings.current()).people
    people.change("manager", shares=True)
    people.change("viewer", deals=DealsGrant("propose"))
    return clients(Settings.current())


def field(desk: AppTest, key: str) -> object:
    """The field whose key begins so."""
    return next(box for box in (*desk.text_input, *desk.text_area) if (box.key or "").startswith(key))


def sentences(desk: AppTest) -> str:
    """What is said on screen."""
    parts = (*desk.error, *desk.markdown, *desk.caption)
    return "\n".join(element.value for element in parts).replace("\\", "")


def tables_with(home: Path, text: str) -> set[str]:
    """The tables of the data directory in which this text stands, but for what keeps unfinished forms."""
    with closing(sqlite3.connect(home / DATABASE)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        with_text = {name for name in names if text in str([*database.execute(f'SELECT * FROM "{name}"')])}
        return with_text - {"drafts", "change_drafts"}


@pytest.mark.parametrize("name", FORMS)
def test_a_text_that_is_too_long_is_refused_in_words_and_kept(
    name: str, visit: Visit, house: Clients, own_deals_home: Path
) -> None:
    """One character more than there is room for: the sentence has both numbers, the field its text."""
    form = FORMS[name]
    desk = form.open(visit, house)
    text = ("1 + " * form.most)[: form.most] + "1" if name == "formula" else "w" * (form.most + 1)
    box = field(desk, form.field)
    assert not box.proto.max_chars
    box.set_value(text)
    if form.popover is not None:
        form.popover.open_next(desk)
    if form.press:
        button = next(
            button
            for button in desk.button
            if form.press == button.label or (button.key or "").endswith(form.press)
        )
        button.click()
    clean(desk.run())
    expected = form.sentence.format(what=form.what, length=len(text), most=form.most)
    assert expected in sentences(desk)
    assert field(desk, form.field).value == text
    assert tables_with(own_deals_home, text[:-1]) == set()
