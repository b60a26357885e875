"""Answers of buyers on the page of a share link: accept, decline, propose, round after round."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from dealing import SOLD, clients
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals
from standin.state import TOKEN, State
from starlette.responses import PlainTextResponse

from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import MOST_ROUNDS, Negotiation, OfferTerms, Round
from lib.serving import connect
from lib.serving.connect import Clients
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.ui.audience.shared_pages import SnapshotPages
from lib.ui.deals.buyers.answers import offer_terms
from lib.ui.deals.buyers.dossier_pages import DossierPages
from lib.ui.deals.field_text import USUAL
from lib.wire.errors import BadRequest, Conflict
from lib.wire.transport import InProcess

DEAL, OTHER = 2, 1


@pytest.fixture
def settings(own_deals_home: Path) -> Settings:
    """The settings of a desk with deals."""
    return Settings(home=own_deals_home, demo=True)


@pytest.fixture
def manager(settings: Settings) -> Clients:
    """The clients of the manager, who may make share links."""
    connect.installation(settings).access.change("manager", "test", shares=True)
    return clients(settings)


@dataclass(frozen=True)
class Buyer:
    """Whoever has the link at this address."""

    client: httpx.Client
    address: str

    def page(self) -> str:
        """The page."""
        return self.client.get(self.address).text

    def answer(self, do: str, mark: str = "", **fields: str) -> httpx.Response:
        """Open the page, and send its form."""
        found = re.search(r'name="mark" value="([0-9a-f]+)"', self.page())
        assert found is not None
        form = {"do": do, "mark": mark or found[1], "name": "Bea Buyer", **fields}
        return self.client.post(self.address, data=form)


@pytest.fixture
def buyer(settings: Settings, manager: Clients) -> Buyer:
    """The buyer of the deal."""
    return buyer_of(settings, manager, DEAL)


def buyer_of(settings: Settings, manager: Clients, deal: int) -> Buyer:
    """Whoever gets a new link to a deal."""
    pages = SnapshotPages(settings, DossierPages(settings))
    route = SharedRoute(PlainTextResponse("The desk"), pages, 10**4, 10**4)
    key = manager.view_store.share_links.make("demo", SOLD, f"Offer {deal}", {}, deal=deal)[1]
    return Buyer(httpx.Client(transport=InProcess(route), base_url="http://desk", timeout=60), PREFIX + key)


def negotiation(manager: Clients, deal: int = DEAL) -> Negotiation:
    """The negotiation about a deal, as the house has it."""
    found = manager.deals.get(DemandDeal, deal)
    packages = [manager.deals.get(SupplyPackage, package.id or 0) for package in found.supply_deals]
    return manager.negotiations.of(found, offer_terms(found, packages, USUAL))


def reply(manager: Clients, act: str, word: str = "", **terms: object) -> None:
    """The house answers."""
    now, deal = negotiation(manager), manager.deals.get(DemandDeal, DEAL)
    round_ = Round("house", act, OfferTerms(**terms), "manager", word)  # type: ignore[arg-type]
    manager.negotiations.add(deal, now.terms, round_, now.mark)


@pytest.mark.parametrize(
    ("do", "fields", "status"),
    [
        ("accept", {}, "approved"),
        ("decline", {"word": "Too dear"}, "rejected"),
        ("propose", {"price": "2.10"}, "pending approval"),
    ],
)
def test_an_answer_is_stored_and_changes_nothing(
    buyer: Buyer, manager: Clients, do: str, fields: dict[str, str], status: str
) -> None:
    """Each has who and when, is a state of deal sync, and leaves the fields of the deal alone."""
    before = manager.deals.get(DemandDeal, DEAL)
    assert buyer.answer(do, **fields).status_code == 303
    after, last = manager.deals.get(DemandDeal, DEAL), negotiation(manager).last
    assert last is not None
    assert (last.who, last.side, last.word) == ("Bea Buyer", "buyer", fields.get("word", ""))
    assert last.at is not None
    assert datetime.now(UTC) - last.at < timedelta(minutes=1)
    assert after.buyer_status == status
    assert before.model_dump(exclude={"buyer_status"}) == after.model_dump(exclude={"buyer_status"})
    assert [one.id for one in manager.deals.everything(DemandDeal, buyer_status=status)] == [DEAL]


def test_rounds_go_to_and_fro(buyer: Buyer, manager: Clients) -> None:
    """A proposal, one back, its acceptance: both sides see all, and the house is asked in its turn."""
    assert buyer.answer("propose", price="2.10", word="For both quarters").status_code == 303
    assert negotiation(manager).waits_for_house
    assert "the seller has not answered yet" in buyer.page()
    reply(manager, "proposes", "Our floor", price=Decimal("2.60"))
    assert not negotiation(manager).waits_for_house
    page = buyer.page()
    for text in ("Bea Buyer proposed 2.10 USD CPM", "For both quarters", "The seller proposed 2.60 USD CPM"):
        assert text in page, text
    assert buyer.answer("accept").status_code == 303
    now = negotiation(manager)
    assert (now.last and now.last.terms.price, now.waits_for_house) == (Decimal("2.60"), True)
    manager.deals.change(DemandDeal, DEAL, {"price": Decimal("2.60")})
    assert negotiation(manager).is_agreed
    assert "You accepted 2.60 USD CPM" in buyer.page()


def test_nobody_accepts_other_terms_than_they_saw(buyer: Buyer, manager: Clients) -> None:
    """A price that changed after the page was opened asks to look again; what was typed is still there."""
    mark = negotiation(manager).mark
    manager.deals.change(DemandDeal, DEAL, {"price": Decimal("9.75")})
    page = buyer.answer("accept", mark=mark, word="Agreed <i>")
    assert page.status_code == 422
    assert "The offer has changed since you saw it" in page.text
    assert "9.75 USD CPM" in page.text
    assert 'value="Agreed &lt;i&gt;"' in page.text
    assert not negotiation(manager).rounds


@pytest.mark.parametrize(
    ("do", "fields", "sentence"),
    [
        ("accept", {"name": " "}, "Your name is missing."),
        ("accept", {"name": "x" * 65}, "too long: 65 characters, 64 at most."),
        ("accept", {"name": "Bea\u202e"}, "must not contain characters that change the reading direction"),
        ("decline", {}, "Your word is missing."),
        ("propose", {}, "A proposal changes at least one of"),
        ("propose", {"price": "3.00"}, "A proposal changes at least one of"),
        ("propose", {"price": "cheap"}, "Not a number"),
        ("propose", {"price": "-1"}, "Must be 0 or more."),
        ("propose", {"last_day": "soon"}, "is not a day: write it like"),
        ("propose", {"last_day": "2020-01-01"}, "has passed."),
        ("propose", {"first_day": "2999-01-02", "last_day": "2999-01-01"}, "is before the first"),
    ],
)
def test_what_is_wrong_is_said_and_kept(
    buyer: Buyer, manager: Clients, do: str, fields: dict[str, str], sentence: str
) -> None:
    """Nothing is stored, the fault is named, and every text is still in its field."""
    page = buyer.answer(do, **fields)
    assert page.status_code == 422
    assert sentence in page.text
    for name, text in fields.items():
        assert text.strip() == "" or f'name="{name}"' in page.text
        assert text.strip() == "" or f'value="{text}"' in page.text
    assert not negotiation(manager).rounds


@pytest.mark.parametrize(
    ("do", "fields"), [("accept", {}), ("decline", {"word": "No"}), ("propose", {"price": "2.10"})]
)
def test_an_answer_that_is_sent_twice_is_one(
    buyer: Buyer, manager: Clients, do: str, fields: dict[str, str]
) -> None:
    """A double click, or a form that is sent again, is no second round; another answer to it is refused."""
    reply(manager, "proposes", price=Decimal("2.60"))
    mark = negotiation(manager).mark
    for _ in range(3):
        assert buyer.answer(do, mark=mark, **fields).status_code == 303
    assert [round_.act[:6] for round_ in negotiation(manager).rounds] == ["propos", f"{do}s"[:6]]
    other = buyer.answer("propose", mark=mark, price="1.11")
    assert (other.status_code, "The offer has changed since you saw it" in other.text) == (422, True)
    assert len(negotiation(manager).rounds) == 2


@pytest.mark.parametrize("do", ["accept", "decline"])
def test_typed_terms_are_proposed_or_emptied(buyer: Buyer, manager: Clients, do: str) -> None:
    """Who types a price and accepts means one of both: nothing is stored, and the price is still there."""
    page = buyer.answer(do, price="2.10", word="Fine")
    assert page.status_code == 422
    assert "You typed other terms: propose them, or empty their fields." in page.text
    assert 'value="2.10"' in page.text
    assert not negotiation(manager).rounds


def test_the_currency_is_one_of_the_terms(buyer: Buyer, manager: Clients) -> None:
    """The page has the deal's own; what it was when somebody answered is stored, and after a change of it
    the page asks to look again; a price in another is refused."""
    manager.deals.change(DemandDeal, DEAL, {"currency": "EUR"})
    page = buyer.page()
    assert "Price, EUR CPM" in page
    assert "USD CPM" not in page.partition('id="answer"')[2].partition("</section>")[0]
    refused = buyer.answer("propose", price="$2.10")
    assert "The price is in EUR, and &#39;$2.10&#39; in USD: write it in EUR." in refused.text
    assert buyer.answer("propose", price="2,10 €").status_code == 303
    last = negotiation(manager).last
    assert last is not None
    assert (last.terms.price, last.terms.currency) == (Decimal("2.10"), "EUR")
    mark = negotiation(manager).mark
    manager.deals.change(DemandDeal, DEAL, {"currency": "GBP"})
    assert "The offer has changed since you saw it" in buyer.answer("accept", mark=mark).text
    assert "proposed 2.10 EUR CPM" in buyer.page()


def test_hostile_texts(buyer: Buyer, manager: Clients) -> None:
    """Long, reversed and empty ones are refused with what is wrong; nothing of them runs, none is stored."""
    for text, sentence in (
        ("x" * 10_000, "too long: 10,000 characters, 500 at most."),
        ("\u202eevil", "must not contain characters that change the reading direction"),
        ("<script>alert(1)</script>" * 30, "at most."),
    ):
        page = buyer.answer("decline", word=text)
        assert (page.status_code, sentence in page.text) == (422, True)
        assert "<script>alert" not in page.text
    assert not negotiation(manager).rounds


def test_nothing_that_is_typed_reaches_the_page_as_html(buyer: Buyer) -> None:
    """Names, words and refused texts are escaped, on the page and in its fields."""
    hostile = "<img src=x onerror=alert(1)>"
    assert buyer.answer("propose", name=hostile, word=f'"{hostile}', price="2").status_code == 303
    refused = buyer.answer("propose", price=hostile, name=hostile)
    for page in (buyer.page(), refused.text):
        assert "<img" not in page
        assert "&lt;img src=x" in page


def test_an_answer_stays_with_its_seat_and_deal(buyer: Buyer, settings: Settings, manager: Clients) -> None:
    """Another deal's page has nothing of it, nor has the deal's once it is another seat's."""
    buyer.answer("decline", word="A word for two")
    assert "A word for two" not in buyer_of(settings, manager, OTHER).page()
    seat = manager.deals.get(DemandDeal, OTHER).seat
    assert seat is not None
    manager.deals.change(DemandDeal, DEAL, {"seat": {"id": seat.id}})
    assert "A word for two" not in buyer.page()
    assert manager.deals.get(DemandDeal, DEAL).buyer_status is None


def test_the_later_of_dsp_and_buyer_counts(buyer: Buyer, manager: Clients) -> None:
    """A house that answers a decline with a proposal waits again, in the same field."""
    buyer.answer("decline", word="No")
    assert manager.deals.get(DemandDeal, DEAL).buyer_status == "rejected"
    reply(manager, "proposes", price=Decimal("2.50"))
    assert manager.deals.get(DemandDeal, DEAL).buyer_status == "pending approval"


def test_a_deal_of_a_remote_service_is_answered_alike(own_deals_home: Path, manager: Clients) -> None:
    """Rounds are kept by the desk, whatever service has the deal."""
    book = Book()
    number = book.add(71, "4.10")
    with serving(deals(State({}, deals=book))) as address:
        remote = Settings(
            home=own_deals_home, demo=True, curate_url=address, deals_token=TOKEN,
            deals_mapping_confirmed=True, seats=[{"id": 71, "name": "Alder Trading", "dsp_id": 8}],
            **SETTINGS,
        )  # fmt: skip
        theirs = clients(remote)
        assert buyer_of(remote, theirs, number).answer("accept").status_code == 303
        last = theirs.negotiations.of(theirs.deals.get(DemandDeal, number), OfferTerms()).last
        assert last is not None
        assert last.terms.price == Decimal("4.1")


def test_rounds_are_limited(buyer: Buyer, manager: Clients) -> None:
    """Whoever has the link can't fill the database."""
    for number in range(MOST_ROUNDS):
        reply(manager, "proposes", price=Decimal(number + 10))
    page = buyer.answer("propose", price="2")
    assert f"There are {MOST_ROUNDS} rounds already" in page.text


def test_two_answers_at_once(manager: Clients) -> None:
    """Of two that saw the same state one is stored; the other is told to look again."""
    deal, now = manager.deals.get(DemandDeal, DEAL), negotiation(manager)
    accept = Round("buyer", "accepts", now.offer, "Bea")
    manager.negotiations.add(deal, now.terms, accept, now.mark)
    with pytest.raises(Conflict):
        manager.negotiations.add(deal, now.terms, replace(accept, who="Cleo"), now.mark)


def test_days_of_a_proposal_are_compared_with_the_offer(manager: Clients) -> None:
    """A last day alone is held against the first day that is offered."""
    deal = manager.deals.get(DemandDeal, DEAL)
    terms = OfferTerms(Decimal(2), None, date(2999, 3, 1), date(2999, 3, 31))
    wrong = Round("buyer", "proposes", OfferTerms(last_day=date(2999, 2, 1)), "Bea")
    with pytest.raises(BadRequest):
        manager.negotiations.add(deal, terms, wrong, Negotiation(terms).mark)
