"""What was made under rights that changed: mails, alerts, messages, views and notes, by each change.

Each cell makes a thing while the mail server and the receiver of messages are down, changes the rights, and
says what then goes out and what is shown. Figures are held against those of pandas.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from conftest import LAST_DAY, small_rows
from dealing import clients
from mail_server import Mailbox, mail_server, plain
from serving import serving
from shares.test_answers import buyer_of
from sqlalchemy import inspect, text
from watched import IMPS, Receiver, webhook

from lib.deals.models import DemandDeal
from lib.people import DealsGrant, Grant
from lib.serving import connect
from lib.serving.connect import dependents, opening
from lib.settings import Settings
from lib.share import tell
from lib.share.alerts.watch import Watch
from lib.share.mail.post import Post
from lib.views import BoardCell, Schedule, ViewStore
from lib.wire.errors import AccessError
from lib.wire.filters import Filter

OLD, NEW = ("demo", "delivery"), ("demo", "shipped")
FIRST = LAST_DAY - timedelta(days=13)
DAYS = {"start": str(FIRST), "end": str(LAST_DAY)}
GERMANY = (Filter(name="geo.country", value=("DE",), match="equals"),)
AT_ALL = re.compile(r"\d{2,3}(?:,\d{3})+")


def impressions(country: str | None = None, seed: int = 0) -> float:
    """Those of the view's days, by pandas."""
    rows = small_rows(seed).to_pandas()
    rows = rows[rows["time"].dt.date >= FIRST]
    return float(
        rows["imps"].sum() if country is None else rows[rows["geo.country"] == country]["imps"].sum()
    )


@dataclass
class House:
    """A desk whose manager keeps things, and what left it: mails, and messages to the receiver."""

    settings: Settings
    mailbox: Mailbox
    receiver: Receiver
    now: datetime = field(default_factory=lambda: datetime.now(UTC) + timedelta(days=1))

    @property
    def installation(self) -> connect.Installation:
        """People, slicers and database."""
        return connect.installation(self.settings)

    @property
    def store(self) -> ViewStore:
        """What the manager keeps, as they may see it now."""
        return connect.connect(self.installation.people.require("manager"), self.settings).view_store

    def look(self, minutes: float = 0) -> None:
        """Let the desk do its work, so many minutes later."""
        self.now += timedelta(minutes=minutes)
        Watch(self.settings).look(self.now)
        Post(self.settings).look(self.now)

    def stored(self) -> str:
        """All texts in the database."""
        engine = self.installation.access.store.engine
        with engine.connect() as connection:
            tables = inspect(connection).get_table_names()
            return str([[*connection.execute(text(f"select * from {table}"))] for table in tables])


@pytest.fixture
def house(own_home: Path) -> Iterator[House]:
    """A desk with a mail server and a receiver that are both down: they refuse the first try."""
    mailbox, receiver = Mailbox(), Receiver(503)
    mailbox.to_mail = ["451 Later"]
    with mail_server(mailbox) as mails, serving(receiver.app) as address:
        settings = Settings(home=own_home, demo=True, **mails, **webhook(address))
        for name in ("viewer", "manager", "admin"):
            connect.installation(settings).people.change(name, email=f"{name}@reader.example")
        yield House(settings, mailbox, receiver)


def view_mail(house: House) -> None:
    """A mail of a view."""
    view = house.store.views.save(*OLD, "Fortnight", DAYS)
    house.store.mails.add(view.id, Schedule("daily"))


def board_mail(house: House) -> None:
    """A mail of a board with a view."""
    view = house.store.views.save(*OLD, "Fortnight", DAYS)
    board = house.store.boards.save("Monday", cells=[BoardCell(view.id)])
    house.store.mails.add(None, Schedule("daily"), board_id=board.id)


def alert(house: House) -> None:
    """A view with an alert that fires."""
    view = house.store.views.save(*OLD, "Fortnight", DAYS)
    house.store.alerts.watch(view.id, "imps", IMPS, "above", 1.0)


def alert_mail(house: House) -> None:
    """The same, which is mailed."""
    alert(house)
    house.store.mails.add(None, Schedule("alerts"))


def mention(house: House) -> None:
    """A mail about a colleague's note that mentions the manager."""
    person, engine = house.installation.people.require("manager"), house.installation.access.store.engine
    tell(engine, house.settings, person, "You are mentioned", "Fortnight launch", about=OLD)
    house.now = datetime.now(UTC)


def saved(house: House) -> None:
    """A saved view, and notes on a day and on the view."""
    view = house.store.views.save(*OLD, "Fortnight", DAYS)
    house.store.notes.add(*OLD, dt.date(2026, 3, 1), "Fortnight launch")
    house.store.notes.comment(view.id, "Fortnight comment")


def narrow(house: House) -> None:
    """The manager may see the rows of a country."""
    house.installation.access.change("manager", "admin", grants=[Grant("demo"), Grant(*OLD, GERMANY)])


def lose_grant(house: House) -> None:
    """The manager may see another slicer alone."""
    house.installation.access.change("manager", "admin", grants=[Grant("demo", "curation")])


def lose_role(house: House) -> None:
    """The manager becomes a viewer with the grants that they had."""
    house.installation.access.change("manager", "admin", role="viewer")


def lower_admin(house: House) -> None:
    """The manager, who was an administrator, is one no more: the filter of their grant holds from now on."""
    house.installation.access.change("manager", "admin", role="viewer")


def remove_person(house: House) -> None:
    """The manager is removed, and somebody else gets the name, with more rights."""
    manager = house.installation.people.require("manager")
    house.installation.access.remove("manager", "admin")
    house.installation.access.add(replace(manager, role="admin", added=None), "a long password", "admin")


def rename(house: House) -> None:
    """The slicer gets another name."""
    dependents.rename(house.installation.warehouse, house.installation.access, OLD, NEW, "admin", ())


def remove_slicer(house: House) -> None:
    """The slicer is removed."""
    dependents.remove(house.installation.warehouse, house.installation.access, OLD, "admin")


def import_again(house: House) -> None:
    """The slicer is removed, and another is imported under its name."""
    warehouse = house.installation.warehouse
    definition = warehouse.definition(*OLD)
    remove_slicer(house)
    with warehouse.writer(*OLD, definition, {"country": {}}) as writer:
        writer.write(small_rows(7))
        writer.commit("again", "again")


ALL, SOME, NONE = impressions(), impressions("DE"), None
CHANGES: dict[Callable[[House], None], float | None] = {
    narrow: SOME, lose_grant: NONE, lose_role: ALL, lower_admin: SOME, remove_person: NONE, rename: ALL,
    remove_slicer: NONE, import_again: NONE,
}  # fmt: skip
"""Each change, and the impressions that the manager may see of what they made before it."""


def begin(house: House, make: Callable[[House], None], change: Callable[[House], None]) -> None:
    """Let the manager make the thing, as who they are before the change."""
    if change is lower_admin:
        narrow(house)
        house.installation.access.change("manager", "admin", role="admin")
    make(house)


cells = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)


def figures(mail: EmailMessage) -> set[str]:
    """The large numbers in a mail."""
    return {*AT_ALL.findall(plain(mail))}


@cells
@pytest.mark.parametrize("make", [view_mail, board_mail], ids=lambda make: make.__name__)
def test_a_mail_that_waits_shows_what_its_owner_sees_when_it_is_sent(
    house: House, make: Callable[[House], None], change: Callable[[House], None]
) -> None:
    """Made before the change and refused once, it has the figures of after the change, or is not sent; no
    figure is stored meanwhile, and its Message-ID is that of the first try."""
    begin(house, make, change)
    house.look()
    assert house.mailbox.to_mail == [] and house.mailbox.mails == []
    assert f"{ALL:,.0f}" not in house.stored() and str(ALL) not in house.stored()
    requests = [mail.request for mail in house.store.mails.mine()]
    change(house)
    for _ in range(3):
        house.look(30)
    if CHANGES[change] is None:
        assert house.mailbox.mails == []
        return
    mail, other = house.mailbox.only(), {ALL: SOME, SOME: ALL}[CHANGES[change]]
    assert f"{CHANGES[change]:,.0f}" in plain(mail)
    assert f"{other:,.0f}" not in str(mail)
    assert [mail["Message-ID"]] == [request["message_id"] for request in requests]


@cells
def test_an_alert_shows_the_figure_of_the_rights_of_now(
    house: House, change: Callable[[House], None]
) -> None:
    """The stored figure of before is nobody's at once; the next look, seconds later, has the right one."""
    begin(house, alert, change)
    house.look()
    (before,) = house.store.alerts.mine()
    assert (before.state, before.value) == ("firing", ALL)
    change(house)
    assert [one.value for one in house.store.alerts.mine()] in ([], [None], [CHANGES[change]])
    house.look(0.2)
    assert [one.value for one in house.store.alerts.mine()] in ([], [CHANGES[change]])
    if CHANGES[change] is not None:
        assert len(house.store.alerts.mine()) == 1


@cells
def test_a_mail_of_alerts_shows_no_figure_of_before(house: House, change: Callable[[House], None]) -> None:
    """Of an alert that fired before the change, the mail that waits has the figure of after it, or none."""
    begin(house, alert_mail, change)
    house.look()
    house.look(2)
    assert house.mailbox.to_mail == [] and house.mailbox.mails == []
    change(house)
    for _ in range(3):
        house.look(30)
    sent = {figure for mail in house.mailbox.mails for figure in figures(mail)}
    assert sent == ({f"{CHANGES[change]:,.0f}"} if CHANGES[change] else set())


@cells
def test_a_message_to_the_receiver_has_no_figure_of_before(
    house: House, change: Callable[[House], None]
) -> None:
    """Refused before the change, it has the figure of after it, or none, nor the view's name and question."""
    begin(house, alert, change)
    house.look()
    assert house.receiver.answers == [] and house.receiver.taken == []
    change(house)
    house.look(2)
    values = {message["alert"].get("value") for message in house.receiver.taken}
    assert values <= {CHANGES[change], None}
    assert CHANGES[change] in values or CHANGES[change] is None
    if CHANGES[change] is None:
        assert "Fortnight" not in str(house.receiver.taken)


@cells
def test_a_mail_about_a_note_comes_to_who_may_see_it(house: House, change: Callable[[House], None]) -> None:
    """A mention that waits is mailed as long as its reader sees a slicer, whatever rows of it."""
    begin(house, mention, change)
    house.look()
    change(house)
    house.look(30)
    is_seen = CHANGES[change] is not None
    assert [mail["Subject"] for mail in house.mailbox.mails] == ["You are mentioned"] * is_seen


DEAL, SEAT, OTHER_SEAT = 2, 2, 3
DEAL_CHANGES: dict[str, Callable[[House], object]] = {
    "narrowed": lambda house: give_deals(house, DealsGrant("write", frozenset({OTHER_SEAT}))),
    "no deals": lambda house: give_deals(house, DealsGrant()),
    "another seat": lambda house: change_deal(house, seat={"id": OTHER_SEAT}),
    "deal removed": lambda house: clients(house.settings, "admin").deals.remove(DemandDeal, DEAL),
    "person removed": remove_person,
    "still seen": lambda house: give_deals(house, DealsGrant("read", frozenset({SEAT}))),
}


def give_deals(house: House, deals: DealsGrant) -> None:
    """The manager gets another grant for deals."""
    house.installation.access.change("manager", "admin", deals=deals)


def change_deal(house: House, **fields: object) -> None:
    """The deal is changed by somebody else."""
    clients(house.settings, "admin").deals.change(DemandDeal, DEAL, fields)


@pytest.fixture
def deals_house(own_deals_home: Path) -> Iterator[House]:
    """A desk with deals, whose manager may share them and has a mail server that refuses the first try."""
    mailbox = Mailbox()
    mailbox.to_mail = ["451 Later"]
    with mail_server(mailbox) as mails:
        house = House(Settings(home=own_deals_home, demo=True, **mails), mailbox, Receiver(503))
        connect.installation(house.settings).access.change("manager", "admin", shares=True)
        house.installation.people.change("manager", email="manager@reader.example")
        house.now = datetime.now(UTC)
        yield house


@pytest.mark.parametrize("change", DEAL_CHANGES)
def test_a_buyers_answer_is_mailed_to_who_sees_the_deal(deals_house: House, change: str) -> None:
    """Refused once, it comes as long as its reader sees the deal, and the deal is that of its seat."""
    house = deals_house
    assert buyer_of(house.settings, clients(house.settings), DEAL).answer("propose", price="2.10").is_redirect
    post = Post(house.settings)
    post.look(house.now + timedelta(minutes=5))
    assert (house.mailbox.to_mail, house.mailbox.mails) == ([], [])
    DEAL_CHANGES[change](house)
    for minutes in (30, 60):
        post.look(house.now + timedelta(minutes=minutes))
    if change != "still seen":
        assert house.mailbox.mails == []
        assert "2.10" not in str(post.outbox.waiting(house.now + timedelta(days=1)))
        return
    assert "proposed 2.10 USD CPM" in plain(house.mailbox.only())


@cells
def test_views_and_notes_are_those_of_who_sees_their_slicer(
    house: House, change: Callable[[House], None]
) -> None:
    """They go with the slicer, follow its name, and are nobody's who doesn't see it or only has the name."""
    begin(house, saved, change)
    change(house)
    views, pair = house.store.views.all(), NEW if change is rename else OLD
    try:
        notes = house.store.notes.of(*pair, dt.date.min, dt.date.max)
        comments = house.store.notes.on_views(*pair)
    except AccessError:
        notes, comments = [], {}
    is_kept = CHANGES[change] is not None
    assert [(view.project, view.slicer) for view in views] == [pair] * is_kept
    assert len(comments) == is_kept
    # a note on a day is for everybody who sees the slicer, whoever has the name of its author now
    assert len(notes) == (is_kept or change is remove_person)
    assert not any(note.is_mine for note in notes) or is_kept


def test_the_next_start_shows_the_same(house: House) -> None:
    """Nothing of this is in the memory of a process: another one sends it, by the rights of then."""
    view_mail(house)
    house.look()
    narrow(house)
    opening._open.cache_clear()
    house.look(30)
    assert f"{SOME:,.0f}" in plain(house.mailbox.only())
