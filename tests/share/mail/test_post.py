"""Mails of saved views and alerts: what they say, when they come, to whom, and once."""

import email
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from threading import Barrier

import pytest
from conftest import LAST_DAY, rows_by_week
from file_settings import changed
from keeping import Keeper, keeper
from mail_server import SENDER, Mailbox, page, plain, sending
from serving import free_port
from watched import IMPS, SLICER, imported, set_up

from lib.figures import numbers
from lib.people import Grant
from lib.serving import connect
from lib.serving.mail_server import MailServer
from lib.settings import Settings
from lib.share import tell
from lib.share.alerts.watch import Watch
from lib.share.mail.letter import FigureRow, FigureTable
from lib.share.mail.post import Post
from lib.views import BoardCell, Schedule, Subscription, ViewStore
from lib.wire.errors import AccessError, BadRequest
from lib.wire.text import write_day

WEEK = {"start": str(LAST_DAY - timedelta(days=6)), "end": str(LAST_DAY)}
DELIVERY = ("demo", "delivery")
DAILY, ALERTS, IMPORT = Schedule("daily"), Schedule("alerts"), Schedule("import")


def subscribed(
    store: ViewStore, schedule: Schedule = DAILY, name: str = "Week", **more: object
) -> Subscription:
    """A view of the last week, mailed to its owner."""
    view = store.views.save(*DELIVERY, name, WEEK, is_shared=bool(more.pop("is_shared", False)))
    return store.mails.add(view.id, schedule, **more)  # type: ignore[arg-type]


def only(store: ViewStore) -> Subscription:
    """The person's only mail."""
    (mail,) = store.mails.mine()
    return mail


def figure(mail: EmailMessage, title: str) -> str:
    """What the mail says of a figure."""
    (line,) = [line for line in plain(mail).splitlines() if line.startswith(f"  {title}: ")]
    return line.partition(": ")[2]


@pytest.fixture
def now() -> datetime:
    """When the test begins: what it adds is due after that."""
    return datetime.now(UTC)


def test_figures_are_those_of_the_rows(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """Figures and changes in a mail are what pandas makes of the same rows, in the text and in the HTML."""
    due = subscribed(kept("viewer")).due
    post.look(due)
    rows = rows_by_week("geo.country")
    now, before = (rows[rows["week"] == week][["imps", "clicks"]].sum() for week in (0, 1))
    change = 100 * (now["imps"] / before["imps"] - 1)
    sign = "−" if change < 0 else "+"
    mail = mailbox.only()
    text = figure(mail, "Impressions")
    assert text.startswith(f"{now['imps']:,.0f} (")
    assert f"{sign}{abs(change):.1f} %" in text
    assert figure(mail, "CTR").startswith(f"{100 * now['clicks'] / now['imps']:.2f}")
    assert f"{now['imps']:,.0f}" in page(mail) and f"{sign}{abs(change):.1f} %" in page(mail)
    assert [part.get_content_type() for part in mail.walk() if part["Content-ID"]] == ["image/png"]
    assert (mail["From"], mail["To"]) == (SENDER, "viewer@reader.example")
    assert mailbox.recipients == [["viewer@reader.example"]]


def test_the_snapshot_is_attached_where_requested(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """The file has the figures of the mail, and makes no network requests."""
    view = kept("viewer").views.save(*DELIVERY, "Week", WEEK)
    due = kept("viewer").mails.add(view.id, DAILY, with_snapshot=True).due
    post.look(due)
    (file,) = mailbox.only().iter_attachments()
    assert (file.get_filename(), file.get_content_type()) == ("Week.html", "text/html")
    assert figure(mailbox.only(), "Impressions").split(" ")[0] in file.get_content()
    assert kept("viewer").mails.add(view.id, DAILY).due == due
    post.look(due)
    assert [*mailbox.mails[-1].iter_attachments()] == []


def test_when_it_comes(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """A mail comes at its time, not before, once; one that was missed comes once as soon as can be."""
    due = subscribed(kept("viewer")).due
    post.look(due - timedelta(seconds=1))
    assert mailbox.mails == []
    post.look(due)
    post.look(due + timedelta(minutes=1))
    assert len(mailbox.mails) == 1
    assert only(kept("viewer")).due == due + timedelta(days=1)
    assert only(kept("viewer")).sent == due
    post.look(due + timedelta(days=5, hours=1))
    post.look(due + timedelta(days=5, hours=2))
    assert len(mailbox.mails) == 2


def test_one_is_sent_now(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """A mail comes at once where its person asks for it, though nothing is new, and at its time as before."""
    subscription = kept("viewer").mails.add(subscribed(kept("viewer")).view_id, DAILY, only_new=True)
    post.look(subscription.due)
    kept("viewer").mails.send_now(subscription.id)
    now = only(kept("viewer")).due
    post.look(now)
    assert len(mailbox.mails) == 2
    assert only(kept("viewer")).due == DAILY.next_after(now)
    with pytest.raises(AccessError):
        kept("manager").mails.send_now(subscription.id)


def test_nothing_new(own_home: Path, kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """Without new data there is no mail where that is requested, and its next time is set all the same."""
    imported(own_home, [100.0] * 20)
    view = kept("manager").views.save(*SLICER, "Week", WEEK)
    due = kept("manager").mails.add(view.id, DAILY, only_new=True).due
    for day in range(3):
        post.look(due + timedelta(days=day))
    assert len(mailbox.mails) == 1
    assert only(kept("manager")).due == due + timedelta(days=3)
    imported(own_home, [120.0] * 20)
    post.look(due + timedelta(days=3))
    assert len(mailbox.mails) == 2


def test_after_each_import(own_home: Path, kept: Keeper, post: Post, mailbox: Mailbox, now: datetime) -> None:
    """A mail that follows imports comes after each of them, and neither before the first nor in between."""
    imported(own_home, [100.0] * 20)
    view = kept("manager").views.save(*SLICER, "Week", WEEK)
    kept("manager").mails.add(view.id, IMPORT)
    for minute in (1, 2):
        post.look(now + timedelta(minutes=minute))
    assert mailbox.mails == []
    for minute, daily in ((3, 110.0), (5, 130.0)):
        imported(own_home, [daily] * 20)
        post.look(now + timedelta(minutes=minute))
        post.look(now + timedelta(minutes=minute + 1))
    assert [figure(mail, "Impressions").split(" ")[0] for mail in mailbox.mails] == ["770", "910"]


def test_what_moved(own_home: Path, kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """A figure whose days rose for certain is said to have risen; one whose days differ as much is noise."""
    daily = [100.0, 140.0, 90.0, 130.0, 95.0, 120.0, 110.0]
    for factor, is_noise in ((2.0, False), (1.0, True)):
        imported(own_home, [*daily, *[factor * value for value in [*daily[3:], *daily[:3]]]])
        view = kept("manager").views.save(*SLICER, f"Week {factor}", WEEK)
        post.look(kept("manager").mails.add(view.id, DAILY).due)
        assert ("within chance" in figure(mailbox.mails[-1], "Impressions")) == is_noise
        assert "What moved" in plain(mailbox.mails[-1])


def test_grants_of_the_reader_hold(desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """Who lost the slicer, or was removed, gets no mail; the list says why; with access it comes again."""
    due = subscribed(kept("viewer")).due
    people = connect.installation(desk).people
    people.change("viewer", grants=(Grant("demo", "other"),))
    post.look(due)
    assert mailbox.mails == []
    assert "can't see this view" in only(kept("viewer")).problem
    people.change("viewer", grants=(Grant("demo", "delivery"),))
    post.look(due + timedelta(hours=1))
    assert len(mailbox.mails) == 1
    people.remove("viewer")
    post.look(due + timedelta(days=1))
    assert len(mailbox.mails) == 1


def test_a_view_that_is_not_shared_any_more(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """Another's view that was made private is not mailed, and its name is not shown."""
    view = kept("manager").views.save(*DELIVERY, "Secret plans", WEEK, is_shared=True)
    due = kept("viewer").mails.add(view.id, DAILY).due
    kept("manager").views.change(view.id, is_shared=False)
    post.look(due)
    assert mailbox.mails == []
    assert only(kept("viewer")).view_name == ""
    assert "can't see" in only(kept("viewer")).problem


def test_access_that_is_lost_while_a_mail_waits(
    desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox
) -> None:
    """A mail that was made and not yet taken is not sent after its reader lost the slicer."""
    due = subscribed(kept("viewer")).due
    mailbox.to_mail = ["451 Later"]
    post.look(due)
    connect.installation(desk).people.change("viewer", grants=(Grant("demo", "other"),))
    post.look(due + timedelta(minutes=2))
    assert mailbox.mails == []
    assert "can't see this" in only(kept("viewer")).problem


def test_another_password_while_a_mail_waits(
    desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox
) -> None:
    """A mail is no session of its reader: it comes, since they may see the slicer as before."""
    due = subscribed(kept("viewer")).due
    mailbox.to_mail = ["451 Later"]
    post.look(due)
    connect.installation(desk).access.set_password("viewer", "another password", "admin")
    post.look(due + timedelta(minutes=2))
    assert len(mailbox.mails) == 1


def test_a_person_without_an_address(desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """Nothing is sent, and the list says who sets addresses; once one is set the mail comes."""
    connect.installation(desk).people.change("viewer", email="")
    due = subscribed(kept("viewer")).due
    post.look(due)
    assert "an administrator sets it" in only(kept("viewer")).problem
    connect.installation(desk).people.change("viewer", email="vera@reader.example")
    post.look(due + timedelta(minutes=2))
    assert mailbox.recipients == [["vera@reader.example"]]
    assert only(kept("viewer")).problem == ""


def test_a_server_that_fails(
    kept: Keeper, post: Post, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    """A refused mail is tried again, later each time; its maker and administrators see why."""
    due = subscribed(kept("viewer")).due
    mailbox.to_mail = ["451 Later"] * 3
    for minutes in (0, 0.5, 1, 2, 6.1, 10):
        post.look(due + timedelta(minutes=minutes))
    for name in ("viewer", "admin"):
        (mail,) = kept(name).mails.all()
        assert "code 451" in mail.problem and "tried again" in mail.problem
    assert (mailbox.mails, mailbox.to_mail) == ([], [])
    post.look(due + timedelta(minutes=22))
    assert len(mailbox.mails) == 1
    assert only(kept("viewer")).problem == ""


def test_a_mail_that_is_given_up(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """A recipient who is refused permanently is not tried again before the next mail."""
    due = subscribed(kept("viewer")).due
    mailbox.to_recipient = ["550 No such user"]
    for minutes in (0, 2, 10, 60):
        post.look(due + timedelta(minutes=minutes))
    assert mailbox.mails == []
    assert "given up" in only(kept("viewer")).problem
    post.look(due + timedelta(days=1))
    assert len(mailbox.mails) == 1


def test_a_server_that_is_not_there(desk: Settings, kept: Keeper, mailbox: Mailbox) -> None:
    """While nobody listens mails wait, and arrive in their order once somebody does."""
    away = changed(desk, **sending(free_port()))
    for number in range(2):
        due = subscribed(kept("viewer"), name=f"View {number}").due
    Post(away).look(due)
    assert all("can't be reached" in mail.problem for mail in kept("viewer").mails.mine()[:1])
    Post(desk).look(due + timedelta(minutes=2))
    assert [mail["Subject"][:6] for mail in mailbox.mails] == ["View 0", "View 1"]


def test_a_question_that_fails(desk: Settings, kept: Keeper, mailbox: Mailbox) -> None:
    """Where the figures can't be computed there is no mail; it is tried again, and the list says why."""
    due = subscribed(kept("viewer")).due
    hurried = desk.model_copy(update={"deadline_seconds": 1e-9, "answer_seconds": 1e-9})
    Post(hurried).look(due)
    assert only(kept("viewer")).problem and not mailbox.mails
    assert only(kept("viewer")).failures == 1
    Post(desk).look(due + timedelta(minutes=1))
    assert len(mailbox.mails) == 1


def test_two_desks_send_once(shared_desk: Settings, mailbox: Mailbox) -> None:
    """Two desks over one database that look at the same moment make and send each mail once."""
    for number in range(4):
        due = subscribed(keeper(shared_desk)("viewer"), name=f"View {number}").due
    posts, barrier = [Post(shared_desk) for _ in range(2)], Barrier(2)

    def looked(post: Post) -> None:
        barrier.wait()
        post.look(due)
        post.look(due)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(looked, posts))
    assert sorted(mail["Subject"][:6] for mail in mailbox.mails) == [f"View {number}" for number in range(4)]


def test_a_desk_that_dies_amid_sending(
    shared_desk: Settings, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mail is sent by another desk once the claim is over, and not before, under the same Message-ID."""
    due = subscribed(keeper(shared_desk)("viewer")).due
    copies = []

    def die(server: MailServer, mail: bytes, recipient: str) -> None:
        copies.append(email.message_from_bytes(mail))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(MailServer, "send", die)
        Post(shared_desk).look(due)
    other = Post(shared_desk)
    other.look(due + timedelta(minutes=4))
    assert mailbox.mails == []
    other.look(due + timedelta(minutes=5))
    assert mailbox.only()["Message-ID"] == copies[0]["Message-ID"]


def test_a_mail_that_waits_keeps_its_days(own_home: Path, kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """The days are those that the view's dates meant when it was due, whatever was imported since; the
    figures are of now."""
    imported(own_home, [100.0] * 10, LAST_DAY - timedelta(days=2))
    view = kept("manager").views.save(*SLICER, "All", {"start": "first", "end": "last"})
    due = kept("manager").mails.add(view.id, DAILY).due
    mailbox.to_mail = ["451 Later"]
    post.look(due)
    imported(own_home, [200.0] * 10 + [7.0, 7.0])
    post.look(due + timedelta(hours=9))
    first, last = LAST_DAY - timedelta(days=11), LAST_DAY - timedelta(days=2)
    assert mailbox.only()["Subject"] == f"All: {numbers.days(first, last)}"
    assert figure(mailbox.only(), "Impressions").split(" ")[0] == "2,000"
    post.look(due + timedelta(days=1))
    assert figure(mailbox.mails[-1], "Impressions").split(" ")[0] == "2,014"


def test_alerts_come_together(
    own_home: Path, desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox, now: datetime
) -> None:
    """Alerts that fire with one import are one mail, a minute later; those that clear are one too."""
    watch = Watch(desk)
    imported(own_home, [50])
    for bound in (100.0, 110.0):
        set_up(kept("manager"), "above", bound)
    kept("manager").mails.add(None, ALERTS)
    watch.look(now)
    post.look(now + timedelta(minutes=5))
    assert mailbox.mails == []
    at = now + timedelta(minutes=20)
    imported(own_home, [120])
    watch.look(at)
    for seconds in (1, 59, 61, 90, 600):
        post.look(at + timedelta(seconds=seconds))
    mail = mailbox.only()
    assert mail["Subject"] == "2 alerts fired"
    assert len(re.findall(r"now 120", plain(mail))) == 2
    imported(own_home, [50])
    watch.look(at + timedelta(minutes=20))
    for minutes in (20.5, 22, 30):
        post.look(at + timedelta(minutes=minutes))
    assert [mail["Subject"] for mail in mailbox.mails] == ["2 alerts fired", "2 alerts cleared"]


def test_alerts_are_their_owners(
    own_home: Path, desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox, now: datetime
) -> None:
    """Nobody is mailed another's alerts, and one who lost access is told of no figure."""
    imported(own_home, [120])
    set_up(kept("manager"), "above", 100.0)
    for name in ("manager", "admin"):
        kept(name).mails.add(None, ALERTS)
    Watch(desk).look(now)
    post.look(now + timedelta(minutes=2))
    assert mailbox.recipients == [["manager@reader.example"]]
    connect.installation(desk).people.change("manager", grants=(Grant("demo", "delivery"),))
    imported(own_home, [777])
    Watch(desk).look(now + timedelta(minutes=20))
    post.look(now + timedelta(minutes=22))
    # As a word: the link in the mail has a random key, in which the digits can stand.
    assert "777" not in re.findall(r"\w+", plain(mailbox.mails[-1]))
    assert "can't see this view any more" in plain(mailbox.mails[-1])


def test_what_a_colleague_tells(desk: Settings, post: Post, mailbox: Mailbox) -> None:
    """`tell` mails something to a person soon; without an address or a mail server it does nothing."""
    installation = connect.installation(desk)
    engine, people = installation.access.store.engine, installation.people
    assert tell(
        engine,
        desk,
        people.require("viewer"),
        "You were named",
        "A text",
        FigureTable([FigureRow("Spend", "$12")]),
    )
    assert not tell(engine, changed(desk, smtp_host=""), people.require("viewer"), "No", "x")
    people.change("manager", email="")
    assert not tell(engine, desk, people.require("manager"), "No", "x")
    post.look(datetime.now(UTC))
    assert mailbox.only()["Subject"] == "You were named"
    assert "Spend: $12" in plain(mailbox.only())
    assert mailbox.only()["List-Unsubscribe"] is None


def test_no_secret_is_in_the_log(
    desk: Settings, kept: Keeper, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    """What fails is logged without the reader's address and the link that stops the mail."""
    due = subscribed(kept("viewer")).due
    mailbox.to_mail = ["451 Later"]
    with caplog.at_level(logging.DEBUG, "lib"):
        Post(desk).look(due)
    assert "tried again later" in caplog.text
    assert "reader.example" not in caplog.text and "token=" not in caplog.text


def test_an_alert_on_a_view_has_its_link(
    own_home: Path, desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox, now: datetime
) -> None:
    """A mail links to the view on the desk, with its question."""
    imported(own_home, [120])
    view = kept("manager").views.save(*SLICER, "Mine", {"start": "yesterday", "end": "yesterday"})
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 100.0)
    kept("manager").mails.add(None, ALERTS)
    Watch(desk).look(now)
    post.look(now + timedelta(minutes=2))
    address = "https://desk.example/audience?project=demo&slicer=weeks&start=yesterday&end=yesterday"
    assert address in plain(mailbox.only())
    assert address.replace("&", "&amp;") in page(mailbox.only())


def test_people_without_an_account(desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """They get the figures of who shares, as long as that person may; nobody else may name an address."""
    view = kept("manager").views.save(*DELIVERY, "Week", WEEK)
    with pytest.raises(AccessError, match="who may share"):
        kept("manager").mails.add(view.id, DAILY, recipient="eve@partner.example")
    people = connect.installation(desk).people
    people.change("manager", shares=True)
    store = connect.connect(people.require("manager"), desk).view_store
    with pytest.raises(BadRequest, match="one address"):
        store.mails.add(view.id, DAILY, recipient="eve@partner.example\nBcc: x@y.example")
    with pytest.raises(BadRequest, match="one address"):
        store.mails.add(None, ALERTS, recipient="eve@partner.example")
    due = store.mails.add(view.id, DAILY, recipient="eve@partner.example").due
    post.look(due)
    assert mailbox.recipients == [["eve@partner.example"]]
    mailbox.to_mail = ["451 Later"]
    post.look(due + timedelta(days=1))
    people.change("manager", shares=False)
    for minutes in (2, 60 * 24):
        post.look(due + timedelta(days=1, minutes=minutes))
        assert "may not send figures" in only(store).problem
    assert len(mailbox.mails) == 1


def test_an_address_that_changed_while_a_mail_waits(
    desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox
) -> None:
    """It goes to the new address, and not to the old one any more."""
    due = subscribed(kept("viewer")).due
    mailbox.to_mail = ["451 Later"]
    post.look(due)
    connect.installation(desk).people.change("viewer", email="new@reader.example")
    post.look(due + timedelta(minutes=2))
    assert mailbox.recipients == [["new@reader.example"]]


def test_one_mail_has_a_whole_board(kept: Keeper, post: Post, mailbox: Mailbox) -> None:
    """Each cell's figures under its view's name, and all of it attached; a board that is gone says why."""
    store = kept("manager")
    views = [store.views.save(*DELIVERY, name, WEEK) for name in ("Last week", "Countries")]
    cells = [BoardCell(views[0].id), BoardCell(views[0].id, "chart"), BoardCell(views[1].id, "leaderboard")]
    board = store.boards.save("Monday", cells=cells)
    due = store.mails.add(None, DAILY, board_id=board.id, with_snapshot=True).due
    post.look(due)
    mail = mailbox.only()
    rows = rows_by_week("geo.country").query("week == 0")
    assert mail["Subject"].startswith("Monday: ")
    assert figure(mail, "Impressions").startswith(f"{rows['imps'].sum():,.0f} (")
    assert "Last week" in plain(mail) and "Countries" in plain(mail)
    assert [part.get_content_type() for part in mail.walk() if part["Content-ID"]] == ["image/png"]
    (file,) = mail.iter_attachments()
    assert file.get_filename() == "Monday.html"
    for view in views:
        store.views.delete(view.id)
    post.look(due + timedelta(days=1))
    assert len(mailbox.mails) == 1
    assert "any of its views" in only(store).problem


def test_a_mail_of_a_board_is_of_the_readers_day(
    own_home: Path, kept: Keeper, post: Post, mailbox: Mailbox
) -> None:
    """On an evening in Los Angeles, where the data's clock is a day ahead, the subject has the date there and
    yesterday is the day before it."""
    last = LAST_DAY + timedelta(days=3)
    imported(own_home, [float(100 + place) for place in range(20)], last)
    store = kept("manager")
    view = store.views.save(*SLICER, "Yesterday", {"start": "yesterday", "end": "yesterday"})
    board = store.boards.save("Evening", cells=[BoardCell(view.id)])
    schedule = Schedule("daily", "America/Los_Angeles", 20 * 60)
    due = store.mails.add(None, schedule, board_id=board.id).due
    post.look(due)
    mail, day = mailbox.only(), (due - timedelta(hours=12)).date()  # 20:00 there is 03:00 or 04:00 UTC
    assert mail["Subject"] == f"Evening: {write_day(day)}"
    assert figure(mail, "Impressions").split(" ")[0] == str(119 - (last - day).days - 1)
    assert "America/Los_Angeles" in plain(mail)


def test_rows_of_two_comparisons_have_the_change_of_the_first(
    kept: Keeper, post: Post, mailbox: Mailbox
) -> None:
    """A leaderboard and a split compared with two periods have the change against the first in rows."""
    store = kept("manager")
    params = {
        **WEEK,
        "compare": "previous",
        "also": f"{LAST_DAY - timedelta(days=10)}~{LAST_DAY - timedelta(days=8)}",
        "split": "geo.country",
        "cards": "geo.country",
    }
    view = store.views.save(*DELIVERY, "Countries", params)
    cells = [BoardCell(view.id, "leaderboard"), BoardCell(view.id, "table")]
    board = store.boards.save("Monday", cells=cells)
    post.look(store.mails.add(None, DAILY, board_id=board.id).due)
    by_week = rows_by_week("geo.country").pivot_table("imps", "geo.country", "week", "sum")
    country = by_week[0].idxmax()
    change = 100 * (by_week[0][country] / by_week[1][country] - 1)
    text = f"({'−' if change < 0 else '+'}{abs(change):.1f} %"
    lines = [line for line in plain(mailbox.only()).splitlines() if text in line]
    assert len(lines) == 2, plain(mailbox.only())


def test_a_mail_of_a_board_is_not_sent_once_its_owner_lost_a_slicer(
    desk: Settings, kept: Keeper, post: Post, mailbox: Mailbox
) -> None:
    """It waits for the mail server with figures that its owner may not see any more: it is given up."""
    store = kept("manager")
    view = store.views.save(*DELIVERY, "Week", WEEK)
    board = store.boards.save("Monday", cells=[BoardCell(view.id)])
    due = store.mails.add(None, DAILY, board_id=board.id).due
    mailbox.to_mail = ["451 Later"]
    post.look(due)
    connect.installation(desk).people.change("manager", grants=(Grant("demo", "other"),))
    post.look(due + timedelta(minutes=2))
    assert mailbox.mails == []
    assert "can't see this" in only(kept("manager")).problem
