"""What was made for somebody, and what becomes of it when rights or terms change: a table, every cell tried.

A thing is made before the change and tried after it. To add one: write a function under `@thing`, which makes
it in a world and returns what tries it, and its row in the table. To add a change: write a function under
`@change`, and its column.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_string
from functools import cache
from html import unescape
from pathlib import Path

import httpx
import pandas as pd
import pytest
from conftest import COUNTRIES, LAST_DAY
from dealing import DEFINITION, SOLD, clients, deal_link, own_copy, sold_rows
from sqlalchemy import select
from starlette.responses import PlainTextResponse

from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.deals.negotiation import OfferTerms
from lib.people import DealsGrant, Grant, Person
from lib.serving import connect
from lib.serving.connect import Clients, Installation, dependents
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
from lib.views.board_copies import BoardCopy, BoardItem
from lib.views.tables import mail_messages
from lib.wire.filters import Filter
from lib.wire.transport import InProcess

TABLE = """
                            seat    term    deals   slicer  filter    filter  made    made    sharing person   name-  slicer   slicer   imported
                                    changed grant   grant   narrowed  lifted  admin   viewer  taken   removed  sake   renamed  removed  again
deal link                   closed  same    closed  closed  narrower  same    same    same    closed  closed   closed same     closed   closed
deal link, own address      closed  code    closed  closed  code      code    code    code    closed  closed   closed code     closed   closed
deal link, code             closed  same    closed  closed  same      same    same    same    closed  closed   closed same     closed   closed
deal link, visit            closed  same    closed  closed  narrower  same    same    same    closed  closed   closed same     closed   closed
deal link, new code         closed  same    closed  closed  same      same    same    same    closed  closed   closed same     closed   closed
accept                      closed  refused closed  closed  refused   stored  stored  stored  closed  closed   closed stored   closed   closed
decline                     closed  refused closed  closed  refused   stored  stored  stored  closed  closed   closed stored   closed   closed
propose                     closed  refused closed  closed  refused   stored  stored  stored  closed  closed   closed stored   closed   closed
acceptance                  lapsed  lapsed  same    same    same      same    same    same    same    same     same   same     same     same
counts                      closed  stored  closed  closed  stored    stored  stored  stored  closed  closed   closed stored   closed   closed
question link               same    same    same    closed  narrower  same    same    same    closed  closed   closed same     closed   closed
question link, own address  same    same    same    closed  narrower  same    same    same    closed  closed   closed same     closed   closed
board link                  same    same    same    closed  narrower  same    same    same    closed  closed   closed same     closed   closed
"""  # noqa: E501
"""`closed`: as if it never was; `same`: as before; `narrower`: of the rows that its owner sees now; `stored`,
`refused`: what was sent; `lapsed`: not agreed any more. Where the owner sees fewer rows, the page may write
a targeting by its codes: whoever read its names looks again."""

DEAL, SEAT, OTHER_SEAT, TERMS = 2, 2, 3, {"price_type": "fixed"}
PAIR, RENAMED = ("demo", SOLD), ("demo", "renamed")
WEEK = {"start": "-7d", "end": "yesterday", "field": "imps"}
FIRST, NARROW, EVERYTHING = ("US", "DE"), ("US",), tuple(COUNTRIES)
ROWS = sold_rows().to_pandas()


@dataclass
class World:
    """A desk with deals, whose manager sees the rows of two countries and may share."""

    settings: Settings
    deals: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.installation.access.change("manager", "test", shares=True, grants=grants(FIRST))
        pages = LinkPages(self.settings)
        self.route = SharedRoute(PlainTextResponse("The desk"), pages, 10**4, 10**4)

    @property
    def installation(self) -> Installation:
        return connect.installation(self.settings)

    @property
    def manager(self) -> Clients:
        """The clients of the manager, as long as there is one."""
        return clients(self.settings)

    @property
    def admin(self) -> Clients:
        """Those of an administrator, whom no change concerns."""
        return clients(self.settings, "admin")

    def browser(self) -> httpx.Client:
        """A browser without an account; it keeps cookies."""
        return httpx.Client(transport=InProcess(self.route), base_url="https://desk", timeout=60)

    def new_deal(self) -> int:
        """A deal of the seat, for one thing alone."""
        deal = DemandDeal(name="Deal", seat=Seat(id=SEAT), price=3, supply_deals=(SupplyPackage(id=1),))
        number = self.admin.deals.create(DemandDeal, deal).id or 0
        self.deals.append(number)
        return number

    def codes(self, recipient: str) -> list[str]:
        """The codes that were mailed to an address."""
        query = select(mail_messages.c.body).where(mail_messages.c.recipient == recipient)
        with self.installation.access.store.engine.connect() as connection:
            bodies = [*connection.scalars(query.order_by(mail_messages.c.id))]
        texts = [
            message_from_string(body).get_payload(0).get_payload(decode=True).decode() for body in bodies
        ]
        return [match[1] for text in texts if (match := re.search(r"Your code: ([0-9]{6})\b", text))]

    def enter(self, link: str, recipient: str) -> httpx.Client:
        """A browser in which the code of a link for this address was entered."""
        browser = self.browser()
        browser.post(link, data={"do": "send"})
        code = self.codes(recipient)[-1]
        assert browser.post(link, data={"do": "code", "code": code}).status_code == 303
        return browser


Try = Callable[[], str]
THINGS: dict[str, Callable[[World], Try]] = {}
CHANGES: dict[str, Callable[[World], object]] = {}


def thing(name: str) -> Callable[[Callable[[World], Try]], Callable[[World], Try]]:
    """Something that is made for somebody."""
    return lambda make: THINGS.setdefault(name, make)


def change(name: str) -> Callable[[Callable[[World], object]], Callable[[World], object]]:
    """Something that may change what it shows."""
    return lambda do: CHANGES.setdefault(name, do)


def grants(countries: tuple[str, ...]) -> list[Grant]:
    """The manager's: the project, and of the slicer these countries."""
    filters = (Filter(name="geo.country", value=countries, match="equals"),)
    return [Grant("demo"), Grant(*PAIR, () if countries == EVERYTHING else filters)]


def impressions(rows: pd.DataFrame, countries: tuple[str, ...]) -> str:
    """Those of rows in these countries, as pages write them."""
    tag = "b" if rows is WEEK_ROWS else "span"  # of the headline of a question, of the funnel of a deal
    return f"<{tag}>{rows[rows['geo.country'].isin(countries)]['imps'].sum():,.0f}</{tag}>"


def page_outcome(answer: httpx.Response, rows: pd.DataFrame) -> str:
    """What a page with the impressions of these rows shows; never more than it did."""
    if answer.status_code == 404 and "This link does not work" in answer.text:
        return "closed"
    if "This page needs a code" in answer.text:
        return "code"
    shown = [
        countries for countries in (FIRST, NARROW, EVERYTHING) if impressions(rows, countries) in answer.text
    ]
    return {(FIRST,): "same", (NARROW,): "narrower"}.get(tuple(shown), f"other figures: {answer.status_code}")


def opening(browser: httpx.Client, link: str, rows: pd.DataFrame) -> Try:
    """Opens the link once now, and again when it is tried."""
    assert page_outcome(browser.get(link), rows) in ("same", "code")
    return lambda: page_outcome(browser.get(link), rows)


DEAL_ROWS, WEEK_ROWS = (
    ROWS[ROWS["deal"] == str(DEAL)], ROWS[ROWS["time"].dt.date > LAST_DAY - timedelta(days=7)],
)  # fmt: skip


@thing("deal link")
def _deal_link(world: World) -> Try:
    return opening(world.browser(), PREFIX + deal_link(world.manager, DEAL), DEAL_ROWS)


@thing("deal link, own address")
def _deal_link_before_its_code(world: World) -> Try:
    link = PREFIX + deal_link(world.manager, DEAL, recipient="closed@buyer.example")
    return opening(world.browser(), link, DEAL_ROWS)


@thing("deal link, code")
def _code(world: World) -> Try:
    """A code that was mailed before, and is entered after."""
    link = PREFIX + deal_link(world.manager, world.new_deal(), recipient="code@buyer.example")
    browser = world.browser()
    assert "A code is on its way" in browser.post(link, data={"do": "send"}).text
    [code] = world.codes("code@buyer.example")

    def enter() -> str:
        answer = browser.post(link, data={"do": "code", "code": code})
        return {303: "same", 404: "closed"}.get(answer.status_code, answer.text)

    return enter


@thing("deal link, visit")
def _visit(world: World) -> Try:
    """A page for one address, open in the browser in which the code was entered."""
    link = PREFIX + deal_link(world.manager, DEAL, recipient="visit@buyer.example")
    return opening(world.enter(link, "visit@buyer.example"), link, DEAL_ROWS)


@thing("deal link, new code")
def _new_code(world: World) -> Try:
    """A code that is asked for after: no mail goes out for a link that is closed."""
    link = PREFIX + deal_link(world.manager, world.new_deal(), recipient="new@buyer.example")

    def send() -> str:
        answer = world.browser().post(link, data={"do": "send"})
        assert len(world.codes("new@buyer.example")) == ("A code is on its way" in answer.text)
        return {200: "same", 404: "closed"}.get(answer.status_code, answer.text)

    return send


def answering(world: World, do: str, **typed: str) -> Try:
    """Answers the page that was opened before."""
    number, browser = world.new_deal(), world.browser()
    link = PREFIX + deal_link(world.manager, number)
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', browser.get(link).text)
    form = {name: unescape(value) for name, value in hidden} | {"do": do, "name": "Bea", **typed}

    def answer() -> str:
        status = browser.post(link, data=form).status_code
        deal = world.admin.deals.get(DemandDeal, number)
        rounds = world.admin.negotiations.of(deal, OfferTerms()).rounds
        outcome = {303: "stored", 404: "closed", 422: "refused"}[status]
        assert (len(rounds), deal.buyer_status is not None) == (
            (1, True) if outcome == "stored" else (0, False)
        )
        return outcome

    return answer


@thing("accept")
def _accept(world: World) -> Try:
    return answering(world, "accept")


@thing("decline")
def _decline(world: World) -> Try:
    return answering(world, "decline", word="No")


@thing("propose")
def _propose(world: World) -> Try:
    return answering(world, "propose", price="1.25")


@thing("acceptance")
def _acceptance(world: World) -> Try:
    """An acceptance that was stored before: it is about what was shown, and stays with its seat."""
    number = world.new_deal()
    link, browser = PREFIX + deal_link(world.manager, number), world.browser()
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', browser.get(link).text)
    form = {name: unescape(value) for name, value in hidden} | {"do": "accept", "name": "Bea"}
    assert browser.post(link, data=form).status_code == 303

    def look() -> str:
        house = world.admin
        deal = house.deals.get(DemandDeal, number)
        packages = [house.deals.get("supply_deals", package.id) for package in deal.supply_deals]
        terms = OfferTerms.of(deal, packages, house.usual_terms)
        return "same" if house.negotiations.of(deal, terms).is_agreed else "lapsed"

    assert look() == "same"
    return look


@thing("counts")
def _counts(world: World) -> Try:
    """The form for the buyer's own counts."""
    number, browser = world.new_deal(), world.browser()
    link = PREFIX + deal_link(world.manager, number)
    browser.get(link)

    def send() -> str:
        answer = browser.post(link, data={"do": "csv", "text": f"day,bids\n{LAST_DAY},1"})
        deal = world.admin.deals.get(DemandDeal, number)
        outcome = {303: "stored", 404: "closed"}[answer.status_code]
        assert len(world.admin.buyer_counts.of(deal).days) == (outcome == "stored")
        return outcome

    return send


@thing("question link")
def _question_link(world: World) -> Try:
    link = PREFIX + world.manager.view_store.share_links.make(*PAIR, "Week", WEEK)[1]
    return opening(world.browser(), link, WEEK_ROWS)


@thing("question link, own address")
def _question_link_for_one_address(world: World) -> Try:
    links, reader = world.manager.view_store.share_links, "question@buyer.example"
    link = PREFIX + links.make(*PAIR, "Week", WEEK, recipient=reader)[1]
    return opening(world.enter(link, reader), link, WEEK_ROWS)


@thing("board link")
def _board_link(world: World) -> Try:
    item = BoardItem("headline", 4, project=PAIR[0], slicer=PAIR[1], name="Week", params=WEEK)
    params = BoardCopy([item], {}).to_params()
    link = PREFIX + world.manager.view_store.share_links.make("", "", "Board", params)[1]
    return opening(world.browser(), link, WEEK_ROWS)


def change_manager(**fields: object) -> Callable[[World], object]:
    """Changes rights of whoever made the things."""
    return lambda world: world.installation.access.change("manager", "test", **fields)  # type: ignore[arg-type]


def change_deals(**fields: object) -> Callable[[World], object]:
    """Changes the deals that the things are about."""

    def do(world: World) -> None:
        for number in (DEAL, *world.deals):
            world.admin.deals.change(DemandDeal, number, fields)

    return do


change("seat")(change_deals(seat={"id": OTHER_SEAT}))
change("term changed")(change_deals(**TERMS))
change("deals grant")(change_manager(deals=DealsGrant("write", frozenset({1, OTHER_SEAT}))))
change("slicer grant")(change_manager(grants=[Grant("demo", "delivery")]))
change("filter narrowed")(change_manager(grants=grants(NARROW)))
change("filter lifted")(change_manager(grants=grants(EVERYTHING)))
change("made admin")(change_manager(role="admin"))
change("made viewer")(change_manager(role="viewer", deals=DealsGrant("read")))
change("sharing taken")(change_manager(shares=False))


@change("person removed")
def _remove_person(world: World) -> None:
    world.installation.access.remove("manager", "test")


@change("namesake")
def _replace_person(world: World) -> None:
    _remove_person(world)
    namesake = Person(
        "manager", "Mo", None, "manager", tuple(grants(EVERYTHING)), deals=DealsGrant("write"), shares=True
    )
    world.installation.access.add(namesake, "password1", "test")


@change("slicer renamed")
def _rename_slicer(world: World) -> None:
    dependents.rename(world.installation.warehouse, world.installation.access, PAIR, RENAMED, "test", ())


@change("slicer removed")
def _remove_slicer(world: World) -> None:
    dependents.remove(world.installation.warehouse, world.installation.access, PAIR, "test")


@change("imported again")
def _import_again(world: World) -> None:
    """Under its name, and granted as it was before."""
    _remove_slicer(world)
    with world.installation.warehouse.writer(*PAIR, DEFINITION, {"country": COUNTRIES}) as writer:
        writer.write(sold_rows())
        writer.commit("made for the tests", "sold again")
    change_manager(grants=grants(FIRST))(world)


def cells() -> Iterator[tuple[str, str, str]]:
    """Thing, change and outcome of each cell. The columns are named by their first two lines."""
    first, second, *rows = TABLE.strip("\n").splitlines()
    starts = [match.start() for match in re.finditer(r"\S+", first)]
    ends = [*starts[1:], None]
    for row in rows:
        for start, end in zip(starts, ends, strict=True):
            names = [line[start:end].strip() for line in (first, second)]
            name = " ".join(filter(None, names)).replace("name- sake", "namesake")
            yield row[: starts[0]].strip(), name, row[start:end].strip()


Worlds = Callable[[str], Mapping[str, Try]]


@pytest.fixture(scope="module")
def worlds(untouched_deals_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    """All things, made in a world of its own for each change before it: what tries them."""

    @cache
    def changed(change: str) -> Mapping[str, Try]:
        home = own_copy(untouched_deals_home, tmp_path_factory.mktemp("rights") / "home")
        mail = {"smtp_host": "127.0.0.1", "smtp_port": 9, "smtp_security": "none"}
        world = World(Settings(home=home, demo=True, mail_from="desk@house.example", **mail))
        tries = {name: make(world) for name, make in THINGS.items()}
        CHANGES[change](world)
        return tries

    return changed


def test_every_cell_has_an_outcome() -> None:
    """Each thing is tried after each change."""
    assert {(thing, name) for thing, name, _ in cells()} == {
        (thing, name) for thing in THINGS for name in CHANGES
    }
    assert all(outcome for *_, outcome in cells())


@pytest.mark.parametrize(
    ("name", "change", "outcome"), sorted(cells(), key=lambda cell: [*CHANGES].index(cell[1]))
)
def test_what_becomes_of_it(worlds: Worlds, name: str, change: str, outcome: str) -> None:
    """A thing that was made before a change does after it what the table says."""
    assert worlds(change)[name]() == outcome
