"""What the buyers of a package get: each the deals of their own seat, as text, as CSV and as a mail."""

import datetime as dt
import io
from decimal import Decimal
from email.utils import getaddresses
from urllib.parse import parse_qs, unquote, urlsplit

import pandas as pd
from dealing import START, Visit, clean
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, DomainList, Dsp, Seat, SupplyPackage
from lib.figures.deals.field_text import Prices
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.deal_rows import DealRow
from lib.ui.deals.drawer import clone
from lib.ui.deals.new_package.review import CreatedPackage

PACKAGE = SupplyPackage(
    id=7, name="=Spring", media_type="video", start_date=START, end_date=START + dt.timedelta(days=30)
)
ROWS = (
    DealRow("demand_deals", 1, "Spring - Alpha", seats=("Alpha",), dsps=("Plain DSP",),
            prices=(("", Decimal("1250.5")),), deal_id="TR-1"),
    DealRow("demand_deals", 2, "Spring - Beta", seats=("@Beta",)),
)  # fmt: skip


def test_text() -> None:
    """The text says what it is and when it runs, then seat, deal id and price in a line each."""
    assert hand_over.HandOver(PACKAGE, Prices()).text(ROWS).splitlines() == [
        "=Spring (video)",
        "1 Jan 2026, 09:30 UTC+1 – until 31 Jan 2026, 09:30",
        "",
        "Alpha (Plain DSP): TR-1, 1,250.50 USD CPM",
        "@Beta: 2",
    ]


def test_csv() -> None:
    """The file has a row per deal, prices as plain numbers, and no text that a spreadsheet would run."""
    frame = pd.read_csv(
        io.BytesIO(hand_over.HandOver(PACKAGE, Prices()).csv(ROWS)), dtype=str, keep_default_na=False
    )
    assert frame["Deal id"].tolist() == ["TR-1", "2"]
    assert frame["Price, USD CPM"].tolist() == ["1250.50", ""]
    assert frame["Seat"].tolist() == ["Alpha", "'@Beta"]
    assert set(frame["Package"]) == {"'=Spring"}
    assert frame["End"].tolist() == ["2026-01-31 09:30:00+01:00"] * 2


def sold(number: int, seat: int | None, name: str, price: str, contact: str = "") -> DemandDeal:
    """A deal of a seat; seats of one name differ in their ids."""
    return DemandDeal(
        id=number, name=f"Spring - {name} {number}", deal_id=f"TR-{number}XQ", price=Decimal(price),
        seat=None if seat is None else Seat(id=seat, name=name, dsp=Dsp(id=1, name="Plain DSP")),
        contact_email=contact or None,
    )  # fmt: skip


DEALS = (
    sold(11, 1, "Alpha", "1250.5", "ada@alpha.example"),
    sold(12, 2, "Beta", "3.11", "ben+deals@beta.example"),
    sold(13, 3, "Beta", "4.22"),
    sold(14, 2, "Beta", "5.33", "ben+deals@beta.example"),
    sold(15, None, "Nobody", "6.44"),
    sold(16, None, "Nobody", "7.55"),
)


def outputs(buyer: hand_over.Buyer) -> list[str]:
    """Everything that one buyer gets, as they read it."""
    link = urlsplit(hand_over.HandOver(PACKAGE, Prices()).mail(buyer)[0])
    return [
        hand_over.HandOver(PACKAGE, Prices()).text(buyer.deals),
        hand_over.HandOver(PACKAGE, Prices()).csv(buyer.deals).decode(),
        unquote(link.path),
        *(value for values in parse_qs(link.query).values() for value in values),
    ]


def secrets(deal: DemandDeal) -> set[str]:
    """What tells another buyer of a deal: its id, name, price and contact."""
    own = {deal.deal_id or "", deal.name or "", f"{deal.price:,.2f}", f"{deal.price:.2f}"}
    return own | {deal.contact_email or ""} - {""}


def test_each_seat_gets_its_own_deals_alone() -> None:
    """No text, CSV or mail of one seat has the name, price, contact or id of another one's deal."""
    by_key = {recipient.key: recipient for recipient in hand_over.buyers(DEALS)}
    own = {"seat-1": {11}, "seat-2": {12, 14}, "seat-3": {13}, "deal-15": {15}, "deal-16": {16}}
    assert {key: {row.id for row in recipient.deals} for key, recipient in by_key.items()} == own
    for key, buyer in by_key.items():
        for output in outputs(buyer):
            for deal in DEALS:
                if deal.id not in own[key]:
                    assert not [secret for secret in secrets(deal) if secret in output], (key, output)
            others = {"Alpha", "Beta", "Nobody"} - {deal.seat.name for deal in DEALS if deal.seat
                      and deal.id in own[key]} - {"Nobody" if key.startswith("deal") else ""}  # fmt: skip
            assert not [name for name in others if name in output], (key, output)


def test_a_seat_gets_all_of_its_deals() -> None:
    """Two deals of one seat stand in one text; the seat of the same name has its own."""
    [beta] = [recipient for recipient in hand_over.buyers(DEALS) if recipient.key == "seat-2"]
    assert hand_over.HandOver(PACKAGE, Prices()).text(beta.deals).splitlines()[3:] == [
        "Beta (Plain DSP): TR-12XQ, 3.11 USD CPM",
        "Beta (Plain DSP): TR-14XQ, 5.33 USD CPM",
    ]


def test_mail() -> None:
    """The link is a mail to the seat's contact, whatever signs are in its parts (RFC 6068)."""
    package = PACKAGE.model_copy(update={"name": "50% off? a&b=c #1 ünï"})
    [beta] = [recipient for recipient in hand_over.buyers(DEALS) if recipient.key == "seat-2"]
    link, is_whole = hand_over.HandOver(package, Prices()).mail(beta)
    scheme, _, path, query, fragment = urlsplit(link)
    assert is_whole
    assert (scheme, fragment) == ("mailto", "")
    assert getaddresses([unquote(path)]) == [("", "ben+deals@beta.example")]
    assert "+" not in query, "a plus is a plus in a mail link, no space"
    fields = parse_qs(query, strict_parsing=True)
    assert fields["subject"] == ["Deals of 50% off? a&b=c #1 ünï (video)"]
    assert fields["body"] == [hand_over.HandOver(package, Prices()).text(beta.deals).replace("\n", "\r\n")]


def test_an_address_adds_no_field_to_the_mail() -> None:
    """A contact that a service returns with `?bcc=` in it stays an address, and adds nobody."""
    [buyer] = hand_over.buyers([sold(1, 1, "Alpha", "1", "a@b.example?bcc=c@d.example&body=x")])
    link = urlsplit(hand_over.HandOver(PACKAGE, Prices()).mail(buyer)[0])
    assert set(parse_qs(link.query)) == {"subject", "body"}


def test_a_long_mail() -> None:
    """Deals that no mail program takes in a link are left to the file, whole lines and not a part."""
    many = [sold(number, 1, "Alpha", "2", "ada@alpha.example") for number in range(100, 200)]
    [buyer] = hand_over.buyers(many)
    link, is_whole = hand_over.HandOver(PACKAGE, Prices()).mail(buyer)
    assert not is_whole
    assert len(link) <= hand_over.LONGEST_LINK
    assert "TR-" not in link
    assert "attached" in link


def test_a_clone_has_no_contact_of_another_buyer() -> None:
    """A deal that is cloned for another seat does not take the first one's contact with it."""
    assert clone.like(DEALS[0], Seat(id=9, name="Delta"), Decimal(2)).contact_email is None


def buyer(desk: AppTest, number: int) -> AppTest:
    """The screen with this buyer chosen."""
    box = desk.selectbox(key="hand_over_1")
    return clean(box.select_index(number).run())


def test_on_the_success_page_and_in_the_drawer(visit: Visit, deals: Deals) -> None:
    """Both show the deals of one seat at a time; the sheet of all seats says that it is internal."""
    deals.change(DemandDeal, 2, {"contact_email": "b@beta.example"})
    ids = [deals.get(DemandDeal, number).deal_id or "" for number in (1, 2, 3)]
    desk = visit("deals", open="supply_deals-1")
    for number, own in enumerate(ids):
        [copied] = buyer(desk, number).code
        assert [deal_id for deal_id in ids if deal_id in copied.value] == [own]
        assert bool(desk.get("link_button")) is (number == 1)
    labels = {button.key: button.label for button in desk.get("download_button")}
    assert labels["hand_over_internal"] == "All seats (internal, not for buyers)"
    desk = visit("new_package")
    desk.session_state["np_created"] = CreatedPackage(deals.get(SupplyPackage, 1))
    desk = clean(desk.run())
    assert [deal_id for deal_id in ids if deal_id in desk.code[0].value] == ids[:1]


def test_the_targeting_is_in_words(visit: Visit, deals: Deals) -> None:
    """The buyer's text has the targeting as the share page has it: every value, and no name of a list."""
    news = next(entry_list for entry_list in deals.everything(DomainList) if entry_list.domains)
    deals.change(
        SupplyPackage, 1,
        {
            "geo_targetings": [
                {"type": "country", "value": code, "is_excluded": code == "DE"}
                for code in ("US", "CA", "FR", "IT", "DE")
            ],
            "domain_list_targetings": [{"id": news.id, "is_excluded": False}],
        },
    )  # fmt: skip
    [copied] = visit("deals", open="supply_deals-1").code
    [line] = [line for line in copied.value.splitlines() if line.startswith("Targeting: ")]
    assert line.startswith("Targeting: United States, CA, France, IT · ")
    assert "not Germany" in line
    assert f"{len(news.domains)} domain" in line
    assert (news.name or "") not in copied.value
