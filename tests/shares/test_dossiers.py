"""Share links to a deal: what its buyer sees and enters, and that nothing of another deal comes along."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pytest
from conftest import COUNTRIES, LAST_DAY
from dealing import DEFINITION, SOLD, clients, deal_link, sold_rows
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as some
from needs import draws
from serving import serving
from sqlalchemy import event, update
from standin.book import SETTINGS, Book
from standin.deals import deals
from standin.state import TOKEN, State
from starlette.responses import PlainTextResponse

from lib.database import engine, migrate
from lib.deals.buyer_counts import MOST_DAYS, BuyerCounts, DayCounts
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.figures import numbers
from lib.people import DealsGrant, Grant
from lib.serving import connect
from lib.serving.connect import Clients, Installation
from lib.serving.front.shared_route import LARGEST_FORM, PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
from lib.slicers.definition import KeyFieldDefinition
from lib.views.tables import share_links
from lib.wire.errors import BadRequest, StoreUnwritable
from lib.wire.policy import SecurityHeaders
from lib.wire.text import write_day
from lib.wire.transport import InProcess

DEAL, OTHER = 2, 1
TITLES = "day,bid_requests,bids,wins,spend"
COUNTS = DayCounts(1_000, 100, 10, Decimal("1.5"))


@pytest.fixture
def settings(own_deals_home: Path) -> Settings:
    """The settings of a desk with deals."""
    return Settings(home=own_deals_home, demo=True)


@pytest.fixture
def installation(settings: Settings) -> Installation:
    """That desk; its manager may make share links."""
    house = connect.installation(settings)
    house.access.change("manager", "test", shares=True)
    return house


@pytest.fixture
def manager(installation: Installation, settings: Settings) -> Clients:
    """The clients of the manager."""
    return clients(settings)


@pytest.fixture
def desk(installation: Installation, settings: Settings) -> Iterator[httpx.Client]:
    """A client of the route."""
    yield client(settings)


def client(settings: Settings, **limits: int) -> httpx.Client:
    """A client of the route over these settings."""
    pages = LinkPages(settings)
    route = SharedRoute(
        PlainTextResponse("The desk"), pages, **{"a_minute": 10**4, "forms_a_minute": 10**4, **limits}
    )
    return httpx.Client(transport=InProcess(SecurityHeaders(route)), base_url="http://desk", timeout=60)


def make_link(manager: Clients, deal: int) -> str:
    """The address of a new link to a deal."""
    return PREFIX + deal_link(manager, deal)


@pytest.fixture
def link(manager: Clients) -> str:
    """The address of a link to the deal of Beta Media in Morning News."""
    return make_link(manager, DEAL)


def stored(manager: Clients, deal: int = DEAL) -> dict[date, DayCounts]:
    """What is stored of a deal."""
    return dict(manager.buyer_counts.of(manager.deals.get(DemandDeal, deal)).days)


def lines(*rows: str) -> dict[str, str]:
    """The fields of a form with this CSV."""
    return {"do": "csv", "text": "\n".join([TITLES, *rows])}


def day(back: int = 0) -> date:
    """A day, so many before the last one of the report."""
    return LAST_DAY - timedelta(days=back)


def test_the_page_has_the_deals_terms_and_funnel(desk: httpx.Client, link: str) -> None:
    """Seat, price, days and targeting in words, and the sums of this deal's rows alone."""
    page = desk.get(link)
    rows = sold_rows().to_pandas().query(f"deal == '{DEAL}'")
    assert page.status_code == 200
    for text in ("Offer 2", "Beta Media", "3.00 USD CPM, floor price", "United States", "not smartphone"):
        assert text in page.text, text
    for sum_ in (f"{rows['bids'].sum():,.0f}", f"{rows['imps'].sum():,.0f}", f"{rows['spend'].sum():,.2f}"):
        assert f"<span>{sum_}</span>" in page.text
    assert "Our side has impressions in place of wins." in page.text


def test_a_deal_of_a_remote_service(own_deals_home: Path, installation: Installation) -> None:
    """Its terms are the service's, its funnel the report's; what the buyer counts is kept beside them. At
    another service the link opens nothing."""
    book = Book()
    number = book.add(71, "4.10")
    with serving(deals(State({}, deals=book))) as address:
        remote = Settings(
            home=own_deals_home, demo=True, curate_url=address, deals_token=TOKEN,
            deals_mapping_confirmed=True, seats=[{"id": 71, "name": "Alder Trading", "dsp_id": 8}],
            **SETTINGS,
        )  # fmt: skip
        manager = clients(remote)
        link, theirs = make_link(manager, number), client(remote)
        page = theirs.get(link)
        assert page.status_code == 200
        for text in (f"Offer {number}", "Alder Trading", "4.10 EUR CPM"):
            assert text in page.text, text
        sent = theirs.post(link, data=lines(f"{LAST_DAY},1000,100,10,1.5"))
        assert sent.status_code == 303
        assert stored(manager, number) == {LAST_DAY: COUNTS}
    assert client(Settings(home=own_deals_home, demo=True)).get(link).status_code == 404


def test_the_funnel_of_a_deal_that_moved_is_that_of_its_seat(
    installation: Installation, desk: httpx.Client, manager: Clients
) -> None:
    """What the seat before bid and paid is not on the new buyer's page, where the report has seats."""
    rows = sold_rows()
    first_days = np.arange(len(rows)) < len(rows) // 2
    seats = pa.array(np.where(first_days, "2", "3"))
    fields = (*DEFINITION.key_fields, KeyFieldDefinition(name="buyer", description="Buyer"))
    definition = DEFINITION.model_copy(update={"key_fields": fields, "roles": {"seat": "buyer"}})
    with installation.warehouse.writer("demo", SOLD, definition, {"country": COUNTRIES}, "replace") as writer:
        writer.write(rows.append_column("buyer", seats).select(definition.schema().names))
        writer.commit("a test", "sold by seat")
    manager.deals.change(DemandDeal, DEAL, {"seat": Seat(id=3)})
    page = desk.get(make_link(manager, DEAL)).text
    frame = rows.to_pandas()
    for seat, is_shown in (("2", False), ("3", True)):
        sums = frame[(frame["deal"] == str(DEAL)) & (first_days == (seat == "2"))][["bids", "imps"]].sum()
        for sum_ in sums:
            assert (f"<span>{sum_:,.0f}</span>" in page) == is_shown, (seat, sum_)


def test_nothing_of_others_is_on_it(desk: httpx.Client, manager: Clients) -> None:
    """No other seat, deal, price or deal id; no fee, contact, owner or list's name; nothing of health."""
    api = manager.deals
    secrets = {"agency_curation_fee": Decimal("17.77"), "agency_curation_fee_type": 1}
    api.change(DemandDeal, 4, {**secrets, "contact_email": "inner@house.example"})
    manager.package_notes.keep(2, "Olga Owner", "an internal note", manager.package_notes.get(2))
    page = desk.get(make_link(manager, 4)).text
    others = [deal for deal in api.everything(DemandDeal) if deal.id != 4]
    hidden = [other_deal.deal_id for other_deal in others] + [
        "Beta Media",
        "Gamma Trading",
        "Morning News",
        "3.25",
    ]
    hidden += ["17.77", "inner@house.example", "Olga", "internal note", "News sites", "Health", "Max Manager"]
    assert "Evening Sports" in page
    assert "1 domain" in page
    assert not [text for text in hidden if str(text) in page]


def test_its_form_goes_to_its_own_address_alone(desk: httpx.Client, link: str) -> None:
    """The policy allows the form and nothing else more than on other shared pages; no cookie is set."""
    headers = desk.get(link).headers
    assert "form-action 'self'" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "set-cookie" not in headers


def test_counts_are_entered_as_csv(
    desk: httpx.Client, installation: Installation, manager: Clients, link: str
) -> None:
    """Pasted or as a file, with when and through which link; the answer leads back to the page."""
    pasted = desk.post(link, data=lines(f"{day()},1000,100,10,1.5", f"{day(1)},2000,,20,"))
    assert (pasted.status_code, pasted.headers["location"]) == (303, link.removeprefix(PREFIX))
    file = f"\ufeffDay;Bids;Spend\n{day(2)};7;0.25\n".encode()
    assert desk.post(link, data={"do": "csv", "text": ""}, files={"file": ("x.csv", file)}).status_code == 303
    entered = manager.buyer_counts.of(manager.deals.get(DemandDeal, DEAL))
    assert entered.days == {
        day(): COUNTS,
        day(1): DayCounts(2_000, None, 20, None),
        day(2): DayCounts(None, 7, None, Decimal("0.25")),
    }
    assert f"{PREFIX}{entered.link}." in link[: len(PREFIX) + 20]
    assert entered.at is not None
    assert datetime.now(UTC) - entered.at < timedelta(minutes=1)
    _, log = installation.access.audit.entries(events=("counts entered",))
    assert next((entry.who, entry.detail) for entry in log) == (
        f"share link {entered.link}",
        "deal 2, 1 days",
    )


def test_what_is_wrong_is_said_by_line_and_nothing_is_lost(
    desk: httpx.Client, manager: Clients, link: str
) -> None:
    """One wrong line keeps all from being stored; the text is still there, and each fault has its line."""
    late = day(-5)
    form = lines(
        f"{day()},1,1,1,1", "04/11/2026,1,1,1,1", f"{day()},1,1,1,1", f"{late},1,1,1,1", f"{day(1)},1.5,x,1,1"
    )
    answer = desk.post(link, data={**form, "text": form["text"] + "\n<b>"})
    assert answer.status_code == 422
    assert "<b>Line 7</b>: 1 cells, but 5 titles." in answer.text
    answer = desk.post(link, data=form)
    for text in (
        "<b>Line 3</b>: Day: It could be two days: write 2026-04-11 or 2026-11-04.",
        f"<b>Line 4</b>: {day()} is there twice.",
        f"<b>Line 5</b>: {late} has not come yet.",
        "<b>Line 6</b>: Bid requests: A whole number.",
        "04/11/2026,1,1,1,1",
    ):
        assert text in answer.text, text
    assert stored(manager) == {}


def test_days_are_typed_replaced_and_removed(desk: httpx.Client, manager: Clients, link: str) -> None:
    """Rows of fields replace their days; empty ones are removed, and all of them at once."""
    desk.post(link, data=lines(f"{day()},1,1,1,1", f"{day(1)},2,2,2,2"))
    fields = {f"bids.{day()}": "9", f"spend.{day()}": "0.125", f"bids.{day(1)}": "", f"wins.{day(2)}": "4"}
    assert desk.post(link, data={"do": "rows", **fields}).status_code == 303
    assert stored(manager) == {
        day(): DayCounts(None, 9, None, Decimal("0.125")), day(2): DayCounts(None, None, 4, None)
    }  # fmt: skip
    wrong = desk.post(link, data={"do": "rows", f"bids.{day()}": "nine"})
    assert wrong.status_code == 422
    assert 'value="nine"' in wrong.text
    assert desk.post(link, data={"do": "remove"}).status_code == 303
    assert stored(manager) == {}


def test_both_sides_are_lined_up(desk: httpx.Client, manager: Clients, link: str) -> None:
    """The page says the step, and the day from which the buyer counts a third less than the rows."""
    rows = sold_rows().to_pandas().query(f"deal == '{DEAL}'")
    sums = rows.groupby(rows["time"].dt.date)[["bids", "imps", "spend"]].sum()
    left = {at: 0.66 if at > day(12) else 1.0 for at in sums.index}
    csv = [
        f"{at},,{of['bids'] * left[at]:.0f},{of['imps'] * left[at]:.0f},{of['spend']:.2f}"
        for at, of in sums.iterrows()
    ]
    assert desk.post(link, data=lines(*csv)).status_code == 303
    page, since = desk.get(link).text, day(11)
    assert f"From {since.day} {since:%b %Y} on, you count 34 % fewer bids than we received." in page
    assert '<p class="lead">Wins follow.</p>' in page
    assert f"{len(sums)} common days" in page
    assert f"<span>{sums['bids'].sum():,.0f}</span>" in page


def test_each_deal_has_its_own_counts(desk: httpx.Client, manager: Clients, link: str) -> None:
    """What one buyer enters is on no other's page; a deal of another seat begins without any."""
    other = make_link(manager, OTHER)
    desk.post(link, data=lines(f"{day()},918273,1,1,1"))
    assert "918,273" in desk.get(link).text
    assert "918,273" not in desk.get(other).text
    desk.post(other, data={"do": "remove"})
    assert len(stored(manager)) == 1
    manager.deals.change(DemandDeal, DEAL, {"seat": Seat(id=3)})
    assert "918,273" not in desk.get(link).text


def test_a_new_deal_has_no_weeks_of_zeros(desk: httpx.Client, manager: Clients) -> None:
    """A deal that the report has nothing of yet says so, with neither a chart nor a table of zeros; once the
    buyer entered counts, its days begin with the first of them."""
    new = DemandDeal(name="New", price=Decimal(2), seat=Seat(id=1), supply_deals=(SupplyPackage(id=1),))
    link = make_link(manager, manager.deals.create(DemandDeal, new).id or 0)
    page = desk.get(link).text
    assert "has nothing of this deal yet" in page
    assert "Of the step before" not in page
    assert write_day(day(62)) not in page
    desk.post(link, data=lines(f"{day(2)},100,50,20,1"))
    page = desk.get(link).text
    assert "has nothing of this deal yet" not in page
    assert f"{numbers.days(day(2), day())}, days in" in page


LOSSES = ("seat", "deals", "grant", "permission", "person", "deal", "ended", "revoked", "setting", "service")


@pytest.mark.parametrize("loss", LOSSES)
def test_what_closes_a_link(
    desk: httpx.Client, installation: Installation, manager: Clients, settings: Settings, link: str, loss: str
) -> None:
    """What its owner may not see, an end, a setting: the page of a link that never was, and no form."""
    access, number = installation.access, int(link.removeprefix(PREFIX).partition(".")[0])
    changes = {
        "seat": lambda: access.change("manager", "test", deals=DealsGrant("write", frozenset({1, 3}))),
        "deals": lambda: access.change("manager", "test", deals=DealsGrant("none")),
        "grant": lambda: access.change("manager", "test", grants=[Grant("demo", "delivery")]),
        "permission": lambda: access.change("manager", "test", shares=False),
        "person": lambda: access.remove("manager", "test"),
        "deal": lambda: manager.deals.remove(DemandDeal, DEAL),
        "ended": lambda: _change(installation, expires=datetime.now(UTC)),
        "revoked": lambda: manager.view_store.share_links.revoke(number),
        "service": lambda: _change(installation, deals_service="https://other.example"),
        "setting": lambda: None,
    }
    assert desk.get(link).status_code == 200
    changes[loss]()
    if loss == "setting":
        desk = client(settings.model_copy(update={"share_links": False}))
    unknown = desk.get(f"{PREFIX}999999.{'a' * 32}")
    answers = [desk.get(link), desk.post(link, data=lines(f"{day()},1,1,1,1"))]
    assert [(answer.status_code, answer.text) for answer in answers] == [(404, unknown.text)] * 2
    assert answers[0].headers.items() == unknown.headers.items()


def _change(installation: Installation, **values: object) -> None:
    with installation.access.store.engine.begin() as connection:
        connection.execute(update(share_links).values(**values))


def test_a_disk_that_is_full(desk: httpx.Client, installation: Installation, link: str) -> None:
    """The page opens as before, and counts are refused with the sentence why; nothing is stored."""
    engine = installation.access.store.engine
    engine.dispose()
    event.listen(engine, "checkout", lambda driver, *_: driver.execute("PRAGMA query_only=ON"))
    assert desk.get(link).status_code == 200
    refused = desk.post(link, data=lines(f"{day()},1,1,1,1"))
    assert (refused.status_code, StoreUnwritable.REASON.split(";")[0] in unescape(refused.text)) == (
        507,
        True,
    )


def test_a_link_to_a_question_takes_no_form(desk: httpx.Client, manager: Clients) -> None:
    """Only pages of deals have one."""
    key = manager.view_store.share_links.make("demo", SOLD, "Question", {})[1]
    assert desk.post(PREFIX + key, data=lines()).status_code == 405


def test_forms_have_limits(
    settings: Settings, installation: Installation, desk: httpx.Client, link: str
) -> None:
    """A form that is too large, or broken, and too many of them a minute are refused; pages still open."""
    assert desk.post(link, data={"text": "x" * LARGEST_FORM}).status_code == 413
    kind = {"content-type": "multipart/form-data; boundary=x"}
    assert desk.post(link, content=b"--y\r\nnonsense", headers=kind).status_code == 400
    slow = client(settings, forms_a_minute=2)
    codes = [slow.post(link, data=lines()).status_code for _ in range(3)]
    assert codes == [422, 422, 429]
    assert slow.get(link).status_code == 200


KINDS = (
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/csv",
    "application/json",
    "",
)
TEXTS = some.text(some.characters(exclude_categories=["Cs"]), max_size=40)


@limits(max_examples=draws(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=some.binary(max_size=300), kind=some.sampled_from(KINDS))
def test_whatever_is_sent_is_answered(
    desk: httpx.Client, manager: Clients, link: str, body: bytes, kind: str
) -> None:
    """Any bytes of any type are refused in words, and store nothing."""
    answer = desk.post(link, content=body, headers={"content-type": kind})
    assert answer.status_code in (400, 422)
    assert stored(manager) == {}


@limits(max_examples=draws(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    do=some.sampled_from(["csv", "rows", "else"]),
    text=TEXTS,
    names=some.lists(TEXTS, max_size=4),
    value=TEXTS,
)
def test_whatever_is_typed_is_answered(
    desk: httpx.Client, link: str, do: str, text: str, names: list[str], value: str
) -> None:
    """Any texts in the fields, whatever their names, are stored or refused in words, and shown as texts."""
    fields = {f"bids.{name}": value for name in [*names, str(day())]}
    answer = desk.post(link, data={"do": do, "text": f"Day,Bids\n{day()},{text}", **fields})
    assert answer.status_code in (303, 422)
    assert "<script>alert" not in answer.text


def test_counts_in_both_databases(database_url: str) -> None:
    """Days are replaced and removed one by one, by deal, seat and service; beyond 400 days none is stored."""
    opened = engine(database_url)
    migrate(opened)
    here, there = BuyerCounts(opened, ""), BuyerCounts(opened, "https://other.example")
    deal, other = DemandDeal(id=1, seat=Seat(id=7)), DemandDeal(id=1, seat=Seat(id=8))
    here.enter(deal, {day(): COUNTS, day(1): COUNTS}, 5)
    here.enter(deal, {day(): DayCounts(bids=10**14), day(1): DayCounts()}, 6)
    assert here.of(deal).days == {day(): DayCounts(bids=10**14)}
    assert here.of(deal).link == 6
    assert here.of(other).days == there.of(deal).days == {}
    with pytest.raises(BadRequest, match="400 days"):
        here.enter(deal, {day(place): COUNTS for place in range(1, MOST_DAYS + 1)}, 7)
    assert len(here.of(deal).days) == 1
    here.remove(deal)
    assert here.of(deal).at is None
