"""Share links that are limited to one address: a code by mail opens them, for one browser."""

import re
from datetime import timedelta
from email import message_from_string
from pathlib import Path

import httpx
import pytest
from dealing import SOLD, clients, deal_link
from file_settings import changed
from sqlalchemy import select, update
from starlette.responses import PlainTextResponse

from lib.deals.models import DemandDeal
from lib.deals.negotiation import OfferTerms
from lib.serving import connect
from lib.serving.connect import Clients, Installation
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
from lib.views.link_codes import CODE_WORKS, DAY, MOST_A_DAY, NEXT_AFTER, VISIT
from lib.views.share_links import MOST_WRONG_CODES
from lib.views.tables import link_codes, link_visits, mail_messages
from lib.wire.errors import BadRequest
from lib.wire.transport import InProcess

DEAL, BUYER, TERMS = 2, "bea@buyer.example", "3.00 USD CPM, floor price"


@pytest.fixture
def settings(own_deals_home: Path) -> Settings:
    """A desk with deals and a mail server; nothing is sent in these tests."""
    return Settings(
        home=own_deals_home, demo=True, smtp_host="127.0.0.1", smtp_port=9, smtp_security="none",
        mail_from="desk@house.example",
    )  # fmt: skip


@pytest.fixture
def installation(settings: Settings) -> Installation:
    """That desk; its manager may make share links."""
    opened = connect.installation(settings)
    opened.access.change("manager", "test", shares=True)
    return opened


@pytest.fixture
def manager(installation: Installation, settings: Settings) -> Clients:
    """The clients of the manager."""
    return clients(settings)


@pytest.fixture
def link(manager: Clients) -> str:
    """The address of a link to the deal, for its buyer alone."""
    return PREFIX + deal_link(manager, DEAL, "For Beta", recipient=BUYER)


def browser(settings: Settings) -> httpx.Client:
    """A browser: it keeps cookies."""
    pages = LinkPages(settings)
    route = SharedRoute(PlainTextResponse("The desk"), pages, 10**4, 10**4)
    return httpx.Client(transport=InProcess(route), base_url="https://desk", timeout=60)


def codes(installation: Installation) -> list[str]:
    """The codes that were mailed to the buyer, the latest last."""
    texts = mails(installation, BUYER)
    return [match[1] for text in texts if (match := re.search(r"Your code: ([0-9]{6})\b", text))]


def mails(installation: Installation, recipient: str) -> list[str]:
    """The texts of the mails to an address, the latest last."""
    query = select(mail_messages).where(mail_messages.c.recipient == recipient).order_by(mail_messages.c.id)
    with installation.access.store.engine.connect() as connection:
        rows = connection.execute(query).all()
    return [message_from_string(row.body).get_payload(0).get_payload(decode=True).decode() for row in rows]  # type: ignore[union-attr]


def wrong(code: str, by: int = 1) -> str:
    """Another code than this."""
    return f"{(int(code) + by) % 10**6:06}"


def pass_time(installation: Installation, span: timedelta) -> None:
    """Let codes and visits be older than they are."""
    with installation.access.store.engine.begin() as connection:
        for key, column in (
            (link_codes.c.id, link_codes.c.made),
            (link_visits.c.key_hash, link_visits.c.expires),
        ):
            for number, at in connection.execute(select(key, column)).all():
                change = update(column.table).where(key == number)
                connection.execute(change.values({column.name: at - span}))


def test_without_a_code_nothing_is_shown(settings: Settings, link: str) -> None:
    """Neither terms, nor its name, nor the address that it is for; a form is not taken either."""
    visitor = browser(settings)
    for answer in (visitor.get(link), visitor.post(link, data={"do": "accept", "name": "Eve", "mark": "0"})):
        assert "This page needs a code" in answer.text
        assert TERMS not in answer.text
        assert BUYER not in answer.text
        assert "For Beta" not in answer.text
        assert "set-cookie" not in answer.headers


def test_the_code_opens_it_for_one_browser(settings: Settings, installation: Installation, link: str) -> None:
    """The browser in which it was entered, for half a day; its cookie is for no script and no other site."""
    buyer = browser(settings)
    assert "A code is on its way" in buyer.post(link, data={"do": "send"}).text
    [code] = codes(installation)
    answer = buyer.post(link, data={"do": "code", "code": f" {code} "})
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "secure", f"path={PREFIX}"))
    assert TERMS in buyer.get(link).text
    assert TERMS not in browser(settings).get(link).text
    pass_time(installation, VISIT)
    assert TERMS not in buyer.get(link).text


def test_a_code_works_once_and_not_for_long(
    settings: Settings, installation: Installation, link: str
) -> None:
    """Nor after its time."""
    buyer = browser(settings)
    buyer.post(link, data={"do": "send"})
    [code] = codes(installation)
    assert buyer.post(link, data={"do": "code", "code": code}).status_code == 303
    assert browser(settings).post(link, data={"do": "code", "code": code}).status_code == 422
    pass_time(installation, NEXT_AFTER)
    other = browser(settings)
    other.post(link, data={"do": "send"})
    pass_time(installation, CODE_WORKS + timedelta(seconds=1))
    assert other.post(link, data={"do": "code", "code": codes(installation)[-1]}).status_code == 422


def test_ten_wrong_codes_close_the_link(
    settings: Settings, installation: Installation, manager: Clients, link: str
) -> None:
    """Whichever codes were sent meanwhile, the right one opens nothing any more, nor does a visit; its owner
    gets a mail and an entry in the log, once, and opens it again."""
    installation.access.change("manager", "test", email="max@house.example")
    guest, buyer = browser(settings), browser(settings)
    buyer.post(link, data={"do": "send"})
    assert buyer.post(link, data={"do": "code", "code": codes(installation)[-1]}).status_code == 303
    for number in range(MOST_WRONG_CODES - 1):
        if number % 4 == 0:
            pass_time(installation, NEXT_AFTER)
            assert "A code is on its way" in guest.post(link, data={"do": "send"}).text
        refused = guest.post(link, data={"do": "code", "code": wrong(codes(installation)[-1], number + 1)})
        assert (refused.status_code, "This code is wrong" in refused.text) == (422, True)
    assert TERMS in buyer.get(link).text
    for _ in range(3):
        closed = guest.post(link, data={"do": "code", "code": wrong(codes(installation)[-1])})
        assert (closed.status_code, "This link is closed" in closed.text) == (403, True)
    count = len(codes(installation))
    for answer in (
        guest.post(link, data={"do": "code", "code": codes(installation)[-1]}),
        guest.post(link, data={"do": "send"}),
        guest.get(link),
        buyer.get(link),
        buyer.post(link, data={"do": "accept", "name": "Bea", "mark": "0"}),
    ):
        assert (answer.status_code, answer.text) == (403, closed.text)
    assert len(codes(installation)) == count
    [mail] = mails(installation, "max@house.example")
    assert "10 wrong codes in a row were entered for the share link “For Beta”" in mail
    _, entries = installation.access.audit.entries(events=("share link closed",))
    assert [(entry.who, entry.about) for entry in entries] == [("share link 1", "manager")]
    [own] = manager.view_store.share_links.everything()
    assert own.is_closed
    manager.view_store.share_links.reopen(own.id)
    pass_time(installation, NEXT_AFTER)
    guest.post(link, data={"do": "send"})
    assert guest.post(link, data={"do": "code", "code": codes(installation)[-1]}).status_code == 303
    assert TERMS in guest.get(link).text


def test_a_right_code_begins_the_count_again(
    settings: Settings, installation: Installation, link: str
) -> None:
    """Whoever mistypes now and then closes nothing."""
    for _ in range(3):
        buyer = browser(settings)
        pass_time(installation, NEXT_AFTER)
        buyer.post(link, data={"do": "send"})
        for number in range(4):
            buyer.post(link, data={"do": "code", "code": wrong(codes(installation)[-1], number + 1)})
        assert buyer.post(link, data={"do": "code", "code": codes(installation)[-1]}).status_code == 303


def test_who_opens_a_closed_link_again(installation: Installation, settings: Settings, link: str) -> None:
    """Its owner and administrators; to others it is not there."""
    visitor, number = browser(settings), int(link.removeprefix(PREFIX).partition(".")[0])
    for _ in range(MOST_WRONG_CODES):
        visitor.post(link, data={"do": "code", "code": "x"})
    assert visitor.get(link).status_code == 403
    with pytest.raises(BadRequest, match="not there"):
        clients(settings, "viewer").view_store.share_links.reopen(number)
    clients(settings, "admin").view_store.share_links.reopen(number)
    assert visitor.get(link).status_code == 200


def test_an_address_gets_few_mails(settings: Settings, installation: Installation, link: str) -> None:
    """One in ten minutes and ten a day, however many browsers ask; then the last code works on."""
    pass_time(installation, NEXT_AFTER)
    for number in range(MOST_A_DAY):
        sent = browser(settings).post(link, data={"do": "send"})
        assert "A code is on its way" in sent.text
        refused = browser(settings).post(link, data={"do": "send"})
        assert (refused.status_code, "within the last ten minutes" in refused.text) == (422, True)
        assert len(codes(installation)) == number + 1
        pass_time(installation, NEXT_AFTER)
    refused = browser(settings).post(link, data={"do": "send"})
    assert (refused.status_code, "10 codes were sent within a day" in refused.text) == (422, True)
    code = {"do": "code", "code": codes(installation)[-1]}
    assert browser(settings).post(link, data=code).status_code == 303
    pass_time(installation, DAY)
    assert "A code is on its way" in browser(settings).post(link, data={"do": "send"}).text
    assert len(codes(installation)) == MOST_A_DAY + 1


def test_a_code_is_its_links_alone(
    settings: Settings, installation: Installation, manager: Clients, link: str
) -> None:
    """Neither the code nor the visit of a link opens another."""
    other = PREFIX + deal_link(manager, 1, recipient=BUYER)
    buyer = browser(settings)
    buyer.post(link, data={"do": "send"})
    [code] = codes(installation)
    assert buyer.post(other, data={"do": "code", "code": code}).status_code == 422
    buyer.post(link, data={"do": "code", "code": code})
    assert "This page needs a code" in buyer.get(other).text
    _, key = next(iter(buyer.cookies.items()))
    number = other.removeprefix(PREFIX).partition(".")[0]
    thief = browser(settings)
    thief.cookies.set(f"tranche_link_{number}", key)
    assert "This page needs a code" in thief.get(other).text


def test_an_answer_has_the_address(
    settings: Settings, installation: Installation, manager: Clients, link: str
) -> None:
    """Who answered is what they typed, and the address that they showed to be theirs."""
    buyer = browser(settings)
    buyer.post(link, data={"do": "send"})
    buyer.post(link, data={"do": "code", "code": codes(installation)[-1]})
    mark = re.search(r'name="mark" value="([0-9a-f]+)"', buyer.get(link).text)
    assert mark is not None
    sent = buyer.post(link, data={"do": "accept", "name": "Bea Buyer", "mark": mark[1]})
    assert sent.status_code == 303
    last = manager.negotiations.of(manager.deals.get(DemandDeal, DEAL), OfferTerms()).last
    assert last is not None
    assert last.who == f"Bea Buyer ({BUYER})"


def test_a_question_for_one_address(settings: Settings, installation: Installation, manager: Clients) -> None:
    """A link to figures has the same form, and shows nothing of them before the code is entered."""
    params = {"start": "-7d", "end": "yesterday"}
    links = manager.view_store.share_links
    link = PREFIX + links.make("demo", "delivery", "Delivery", params, recipient=BUYER)[1]
    buyer = browser(settings)
    closed = buyer.get(link)
    assert "This page needs a code" in closed.text
    assert "Impressions" not in closed.text
    assert "Delivery" not in closed.text
    assert "Impressions" not in buyer.post(link, data={"do": "code", "code": "000000"}).text
    buyer.post(link, data={"do": "send"})
    assert buyer.post(link, data={"do": "code", "code": codes(installation)[-1]}).status_code == 303
    opened = buyer.get(link)
    assert (opened.status_code, "Impressions" in opened.text) == (200, True)
    assert "This page needs a code" in browser(settings).get(link).text
    assert buyer.post(link, data={"do": "accept"}).status_code == 405


def test_a_link_for_one_address_is_embedded_nowhere(manager: Clients) -> None:
    """Browsers keep its cookie from a frame of another site, where it would never open."""
    with pytest.raises(BadRequest, match="can't be embedded"):
        manager.view_store.share_links.make(
            "demo", "delivery", "Delivery", {}, origins=["https://intranet.example"], recipient=BUYER
        )


def test_without_a_mail_server_it_says_so(settings: Settings, link: str) -> None:
    """Nobody waits for a code that can't come."""
    visitor = browser(replace_settings(settings))
    assert "No mail can be sent from here" in visitor.post(link, data={"do": "send"}).text


def replace_settings(settings: Settings) -> Settings:
    """The same desk without a mail server."""
    return changed(settings, smtp_host="")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        *((address, "is not an e-mail address") for address in ("nobody", "a@b@c", 'a"b@buyer.example')),
        ("x" * 250 + "@buyer.example", "The address is too long: 264 characters, 254 at most"),
    ],
)
def test_the_address_can_be_mailed_to(manager: Clients, address: str, reason: str) -> None:
    """A link for an address that mail can't reach is refused when it is made."""
    with pytest.raises(BadRequest, match=reason):
        manager.view_store.share_links.make("demo", SOLD, "x", {}, recipient=address)
