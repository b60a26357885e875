"""The route that stops mails: one click, without a sign-in, and nothing else by it."""

import re

import httpx
import pytest
from keeping import Keeper
from mail_server import Mailbox, plain
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from lib.serving import connect
from lib.serving.front.shared_route import A_MINUTE, PATH, MailRoute
from lib.settings import Settings
from lib.share import Unsubscriber
from lib.share.mail.post import Post
from lib.views import Schedule, Subscription
from lib.wire.transport import InProcess

WEEK = {"start": "-7d", "end": "yesterday"}
ONE_CLICK = {"content": "List-Unsubscribe=One-Click"}


@pytest.fixture
def stopper(desk: Settings) -> Unsubscriber:
    """Makes and takes the addresses."""
    access = connect.installation(desk).access
    return Unsubscriber.of(access.store.engine, access.audit, desk.address)


@pytest.fixture
def client(stopper: Unsubscriber) -> httpx.Client:
    """A client without cookies of the route, in front of an application that answers everything else."""
    other = Starlette(routes=[Route("/{path:path}", lambda _: PlainTextResponse("other"))])
    return httpx.Client(transport=InProcess(MailRoute(other, stopper.stop)), base_url="https://desk.example")


@pytest.fixture
def subscription(kept: Keeper) -> Subscription:
    """A mail of the viewer's."""
    view = kept("viewer").views.save("demo", "delivery", "Week", WEEK)
    return kept("viewer").mails.add(view.id, Schedule())


def test_one_click(
    desk: Settings,
    kept: Keeper,
    post: Post,
    mailbox: Mailbox,
    client: httpx.Client,
    subscription: Subscription,
) -> None:
    """A POST to the address in the header ends the mails at once, and is in the audit log (RFC 8058, 3.1)."""
    post.look(subscription.due)
    address = mailbox.only()["List-Unsubscribe"].strip("<>")
    assert address.startswith(f"https://desk.example{PATH}?token=")
    assert address in plain(mailbox.only())
    answer = client.post(address, **ONE_CLICK)
    assert (answer.status_code, "is stopped" in answer.text) == (200, True)
    assert kept("viewer").mails.mine() == []
    _, (entry,) = connect.installation(desk).access.audit.entries(events=("mail removed",))
    assert (entry.who, entry.about) == ("the link in a mail", "viewer")


def test_opening_the_link_asks_back(
    kept: Keeper, stopper: Unsubscriber, client: httpx.Client, subscription: Subscription
) -> None:
    """A GET, as scanners of links send it, changes nothing; its page has a button that does."""
    answer = client.get(stopper.address(subscription))
    assert len(kept("viewer").mails.mine()) == 1
    assert answer.headers["cache-control"] == "no-store"
    (action,) = re.findall(r'<form method="post" action="([^"]+)">', answer.text)
    assert "is stopped" in client.post(action).text
    assert kept("viewer").mails.mine() == []


def test_tokens_that_are_none(
    kept: Keeper, stopper: Unsubscriber, client: httpx.Client, subscription: Subscription
) -> None:
    """A token that is wrong, of another mail, or used ends nothing, and all have the same answer."""
    another = kept("viewer").mails.add(None, Schedule("alerts"))
    good, other = (stopper.address(mail).partition("token=")[2] for mail in (subscription, another))
    proof = other.partition("-")[2]
    wrong = [
        "",
        "x",
        good[:-1],
        f"{good}0",
        f"{subscription.id}-{proof}",
        f"{subscription.id}-",
        "-1-x",
        "9" * 400,
    ]
    answers = {client.post(f"{PATH}?token={token}").text for token in (*wrong, "٣-x", "1-%FF", "<script>")}
    assert len(kept("viewer").mails.mine()) == 2
    client.post(f"{PATH}?token={good}")
    answers |= {client.post(f"{PATH}?token={good}").text}
    assert len(answers) == 1 and "no such mail" in answers.pop()
    assert [mail.id for mail in kept("viewer").mails.mine()] == [another.id]


def test_a_mail_that_was_set_again_has_another_link(
    kept: Keeper, client: httpx.Client, stopper: Unsubscriber, subscription: Subscription
) -> None:
    """The link of a mail that was stopped does not stop the one that was set later."""
    old = stopper.address(subscription)
    kept("viewer").mails.add(subscription.view_id, Schedule("weekly"))
    client.post(old)
    assert len(kept("viewer").mails.mine()) == 1


def test_nothing_else_is_open(client: httpx.Client) -> None:
    """Other methods are refused, other paths are not the route's, a page has no text of the address."""
    assert client.put(PATH).status_code == 405
    assert client.get("/mail/stop/x").text == client.get("/mail").text == "other"
    assert "<script>" not in client.get(f"{PATH}?token=<script>alert(1)</script>").text


def test_guesses_are_limited(client: httpx.Client) -> None:
    """So many requests a minute from one address, then 429."""
    codes = [client.post(f"{PATH}?token=1-x").status_code for _ in range(A_MINUTE + 1)]
    assert codes == [200] * A_MINUTE + [429]
