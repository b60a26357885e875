"""Answers of buyers on the page of a share link: accept, decline, propose, round after round."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from dealing import clients, deal_link
from markupsafe import escape
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals
from standin.state import TOKEN, State
from starlette.responses import PlainTextResponse

from lib.deals import fields
from lib.deals.models import DemandDeal, DomainList, ListTarget, Seat, SupplyPackage
from lib.deals.negotiation import MOST_ROUNDS, Negotiation, OfferTerms, Round
from lib.serving import connect
from lib.serving.connect import Clients
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
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

    def form(self) -> dict[str, str]:
        """The hidden fields of the form of the page as it is now: what an answer is about."""
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', self.page())
        return {name: unescape(value) for name, value in hidden}

    def answer(self, do: str, form: Mapping[str, str] | None = None, **fields: str) -> httpx.Response:
        """Send the form of a page that was opened before; without one, open it first."""
        hidden = self.form() if form is None else form
        return self.client.post(self.address, data={**hidden, "do": do, "name": "Bea Buyer", **fields})


@pytest.fixture
def buyer(settings: Settings, manager: Clients) -> Buyer:
    """The buyer of the deal."""
    return buyer_of(settings, manager, DEAL)


def buyer_of(settings: Settings, manager: Clients, deal: int) -> Buyer:
    """Whoever gets a new link to a deal."""
    pages = LinkPages(settings)
    route = SharedRoute(PlainTextResponse("The desk"), pages, 10**4, 10**4)
    desk = httpx.Client(transport=InProcess(route), base_url="http://desk", timeout=60)
    return Buyer(desk, PREFIX + deal_link(manager, deal))


def negotiation(manager: Clients, deal: int = DEAL) -> Negotiation:
    """The negotiation about a deal, as the house has it."""
    sold_deal = manager.deals.get(DemandDeal, deal)
    packages = [manager.deals.get(SupplyPackage, package.id or 0) for package in sold_deal.supply_deals]
    return manager.negotiations.of(sold_deal, OfferTerms.of(sold_deal, packages, manager.usual_terms))


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
    assert [deal.id for deal in manager.deals.everything(DemandDeal, buyer_status=status)] == [DEAL]


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
    form = buyer.form()
    manager.deals.change(DemandDeal, DEAL, {"price": Decimal("9.75")})
    page = buyer.answer("accept", form, word="Agreed <i>")
    assert page.status_code == 422
    assert "The offer has changed since you saw it" in page.text
    assert "9.75 USD CPM" in page.text
    assert 'value="Agreed &lt;i&gt;"' in page.text
    assert not negotiation(manager).rounds


def change_package(**fields: Any) -> Callable[[Clients], None]:
    """Changes the deal's package."""
    return lambda house: house.deals.change(SupplyPackage, 1, fields)


def change_deal(**fields: Any) -> Callable[[Clients], None]:
    """Changes the deal."""
    return lambda house: house.deals.change(DemandDeal, DEAL, fields)


YESTERDAY = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
DEAL_FIELDS: Mapping[str, Callable[[Clients], None]] = {
    "price": change_deal(price=Decimal("9.75")),
    "currency": change_deal(currency="EUR"),
    "price_type": change_deal(price_type="fixed"),
    "deal_type": change_deal(deal_type="private_auction"),
    "units": change_deal(deal_type="guaranteed", units=1_000_000),
    "pacing": change_deal(pacing="fast"),
    "budget": change_deal(budget=Decimal(500)),
    "frequency_cap": change_deal(frequency_cap=3),
    "viewability_goal": change_deal(viewability_goal=Decimal(70)),
    "block_override": change_deal(block_override=False),
    "audience_segments": change_deal(audience_segments="Readers"),
    "buyer_note": change_deal(buyer_note="Creatives by Friday"),
}
PACKAGE_FIELDS: Mapping[str, Callable[[Clients], None]] = {
    "media_type": change_package(media_type="video"),
    "start_date": change_package(start_date=YESTERDAY),
    "end_date": change_package(end_date=YESTERDAY + timedelta(days=90)),
}
CHANGES = {
    **DEAL_FIELDS,
    **PACKAGE_FIELDS,
    "paused": change_deal(is_active=False),
    "complete": change_package(start_date=YESTERDAY - timedelta(days=9), end_date=YESTERDAY),
    "name of the package": change_package(name="Evening News"),
    "targeting": change_package(device_targetings=[]),
    "entries of a list": lambda house: house.deals.change(
        DomainList, 1, {"domains": ("a.example", "b.example")}
    ),
    "another package": lambda house: house.deals.change(
        SupplyPackage, 2, {"demand_deals": [{"id": 4}, {"id": DEAL}]}
    ),
    "name of the seat": lambda house: house.deals.change(Seat, 2, {"name": "Beta Media Europe"}),
}
"""What a page of a deal says, each by a change of it."""
FIRST = {
    "pacing": change_deal(deal_type="guaranteed", units=1_000_000),
    "entries of a list": change_package(domain_list_targetings=[ListTarget(id=1, is_excluded=True)]),
}
"""What a change needs, before the page is opened."""
AGREED_ALL_THE_SAME = ("name of the package", "entries of a list", "name of the seat")


def test_each_field_for_buyers_has_a_change() -> None:
    """A new one that the page has is held against the mark, too."""
    for entity, tried in ((fields.DEALS, DEAL_FIELDS), (fields.SUPPLY, PACKAGE_FIELDS)):
        public = {*fields.writable(entity)} - fields.internal_names(entity, "buyer") - {"name"}
        assert tried.keys() == public


@pytest.mark.parametrize("name", CHANGES)
def test_nobody_answers_what_they_did_not_see(buyer: Buyer, manager: Clients, name: str) -> None:
    """After any change of what the page says, an answer to the page of before is refused with what changed,
    and nothing is stored; the page as it is now takes the answer."""
    FIRST.get(name, lambda house: None)(manager)
    form = buyer.form()
    CHANGES[name](manager)
    before, now = texts(form), texts(buyer.form())
    changed = {
        title: (before.get(title, "–"), now[title]) for title in now if now[title] != before.get(title)
    }
    assert changed
    for do, typed in (("accept", {}), ("decline", {"word": "No"}), ("propose", {"price": "1.25"})):
        page = buyer.answer(do, form, **typed)
        assert (page.status_code, "The offer has changed since you saw it" in page.text) == (422, True)
        for title, (old, new) in changed.items():
            assert f"<b>{escape(title)}</b>: {escape(old)} → {escape(new)}" in page.text
    assert not negotiation(manager).rounds
    assert buyer.answer("accept").status_code == 303
    assert negotiation(manager).is_agreed


def texts(form: Mapping[str, str]) -> dict[str, str]:
    """What the page of a form says, by title: of several packages together."""
    titles: dict[str, list[str]] = {}
    for title, text in json.loads(form["terms"]):
        titles.setdefault(title, []).append(text)
    return {title: "; ".join(several) for title, several in titles.items()}


def test_an_acceptance_lapses(manager: Clients) -> None:
    """What was accepted is agreed until a term, or whether the deal runs, is changed. Another name, or other
    entries of a list, are no other terms."""
    for name, change in CHANGES.items():
        FIRST.get(name, lambda house: None)(manager)
        now = negotiation(manager)
        deal, answer = manager.deals.get(DemandDeal, DEAL), Round("buyer", "accepts", OfferTerms(), "Bea")
        manager.negotiations.add(deal, now.terms, answer, now.mark)
        assert negotiation(manager).is_agreed
        change(manager)
        assert negotiation(manager).is_agreed == (name in AGREED_ALL_THE_SAME), name


def test_what_lapsed_is_named(buyer: Buyer, manager: Clients) -> None:
    """To both sides, and the house is asked; a deal that was paused asks nobody."""
    buyer.answer("accept")
    manager.deals.change(DemandDeal, DEAL, {"viewability_goal": Decimal(70), "buyer_note": "By Friday"})
    assert "You accepted 3.00 USD CPM" in buyer.page()
    assert "Changed since: Note to the buyer, Viewability goal." in buyer.page()
    assert negotiation(manager).waits_for_house
    buyer.answer("accept")
    assert negotiation(manager).is_agreed
    manager.deals.change(DemandDeal, DEAL, {"is_active": False})
    assert "Changed since: Status." in buyer.page()
    assert not negotiation(manager).waits_for_house


def test_the_house_accepts_what_the_buyer_saw(buyer: Buyer, manager: Clients) -> None:
    """A proposal that is taken over after another term was changed is not agreed."""
    buyer.answer("propose", price="2.10")
    manager.deals.change(DemandDeal, DEAL, {"price": Decimal("2.10"), "viewability_goal": Decimal(70)})
    now, deal = negotiation(manager), manager.deals.get(DemandDeal, DEAL)
    assert now.last is not None
    answer = Round("house", "accepts", now.terms.with_changes_of(now.last.terms), "manager")
    manager.negotiations.add(deal, now.terms, answer, now.mark)
    assert not negotiation(manager).is_agreed
    manager.deals.change(DemandDeal, DEAL, {"viewability_goal": None})
    assert negotiation(manager).is_agreed


@pytest.mark.parametrize(
    "terms", ["", "nonsense", "[" * 100_000, '[["Price"]]', '{"Price": 1}', "<b>", "\ud800"]
)
def test_whatever_is_sent_back_as_terms_is_answered(buyer: Buyer, manager: Clients, terms: str) -> None:
    """They only say what has changed: the mark decides, and nothing of them is HTML."""
    form = buyer.form() | {"terms": terms.encode("utf-8", "surrogatepass").decode("utf-8", "replace")}
    assert buyer.answer("accept", form | {"mark": "0" * 16}).status_code == 422
    hostile = json.dumps([["<img src=x>", "<img src=x>"]])
    assert "<img" not in buyer.answer("accept", form | {"mark": "0" * 16, "terms": hostile}).text
    assert buyer.answer("accept", form).status_code == 303


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
    assert "maxlength" not in page.text, "a browser would cut what is pasted, without a word"


@pytest.mark.parametrize(
    ("do", "fields"), [("accept", {}), ("decline", {"word": "No"}), ("propose", {"price": "2.10"})]
)
def test_an_answer_that_is_sent_twice_is_one(
    buyer: Buyer, manager: Clients, do: str, fields: dict[str, str]
) -> None:
    """A double click, or a form that is sent again, is no second round; another answer to it is refused."""
    reply(manager, "proposes", price=Decimal("2.60"))
    form = buyer.form()
    for _ in range(3):
        assert buyer.answer(do, form, **fields).status_code == 303
    assert [round_.act[:6] for round_ in negotiation(manager).rounds] == ["propos", f"{do}s"[:6]]
    other = buyer.answer("propose", form, price="1.11")
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
    form = buyer.form()
    manager.deals.change(DemandDeal, DEAL, {"currency": "GBP"})
    assert "The offer has changed since you saw it" in buyer.answer("accept", form).text
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


def test_a_slip_of_the_buyer_is_asked_by_what_the_page_shows(buyer: Buyer, manager: Clients) -> None:
    """A price of a tenth of the offer is sent once its box is ticked; the question has the offer and what was
    typed, and another slip is asked anew."""
    asked = buyer.answer("propose", price="0.175")
    assert asked.status_code == 422
    [sentence] = re.findall(r"<b>Please check</b>: ([^<]*)", asked.text)
    assert unescape(sentence) == "A price of 0.175, 17.14 times below the offer (3.00)."
    assert negotiation(manager).last is None
    [mark] = re.findall(r'name="confirmed" value="(\w+)"', asked.text)
    assert buyer.answer("propose", price="0.0175", confirmed=mark).status_code == 422
    assert buyer.answer("propose", price="0.175", confirmed=mark).status_code == 303
    last = negotiation(manager).last
    assert last is not None
    assert last.terms.price == Decimal("0.175")
