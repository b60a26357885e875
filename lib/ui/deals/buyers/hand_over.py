"""What each buyer needs of a package's deals: a text, a CSV and a mail, each with one seat's deals alone.

Prices and names of one buyer are nobody else's business. The sheet of all seats is for the house.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st

from lib.deals import fields, moments
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.ui.deals import facts
from lib.ui.deals.facts import Prices, amount
from lib.ui.deals.list.deal_rows import ATTRIBUTES, DealRow, of_deal
from lib.ui.kit import components
from lib.ui.kit.markdown import plain
from lib.wire.text import csv_records

NO_DEAL_ID = "This service returns no deal ids, so the numbers are those of the deals in the service."
INTERNAL = "All seats (internal, not for buyers)"
SEAT = "seat-"
LONGEST_LINK = 2_000  # what mail programs on Windows are opened with is about that long
ATTACHMENT = "The deal ids and prices are in the attached file."


@dataclass(frozen=True)
class Buyer:
    """One seat with its deals of a package; `key` tells it from others of the same name.

    A deal without a known seat is a buyer of its own: nothing says that another deal is theirs too.
    """

    key: str
    deals: tuple[DealRow, ...]
    contacts: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """`Bluebird (Alder Bidder)`."""
        first = self.deals[0]
        return seat_words(first) if self.key.startswith(SEAT) else f"Unknown seat: {first.name}"


def buyers(deals: Iterable[DemandDeal]) -> list[Buyer]:
    """The deals by seat, seats by name."""
    groups: dict[str, list[DemandDeal]] = {}
    for deal in deals:
        seat = deal.seat.id if deal.seat else None
        groups.setdefault(f"deal-{deal.id}" if seat is None else f"{SEAT}{seat}", []).append(deal)
    buyers = [
        Buyer(
            key,
            tuple(buyer_row(deal) for deal in some),
            tuple(dict.fromkeys(deal.contact_email for deal in some if deal.contact_email)),
        )
        for key, some in groups.items()
    ]
    return sorted(buyers, key=lambda one: (one.label.casefold(), one.key))


def buyer_row(deal: DemandDeal) -> DealRow:
    """What a buyer is told of a deal; `more` are the fields for buyers that have no attribute."""
    deal_view = fields.redact(deal, "buyer")
    return replace(of_deal(deal_view, {}), more=_more(deal_view))


def _more(entity: PackageOrDeal) -> tuple[tuple[str, Any], ...]:
    """The values of the plain fields that have no place of their own in text, CSV and page."""
    names = (field.name for field in fields.of(entity.entity) if field.name not in ATTRIBUTES)
    return tuple((name, getattr(entity, name, None)) for name in names)


def draw(package: SupplyPackage, deals: Sequence[DemandDeal], money: Prices) -> None:
    """Draw the hand-over of the seat that is chosen, and the house's own sheet; once per screen."""
    buyer_of = {one.key: one for one in buyers(deals)}
    count = Counter(one.label for one in buyer_of.values())
    labels = {
        key: one.label if count[one.label] == 1 else f"{one.label} · {key}" for key, one in buyer_of.items()
    }
    selection = st.selectbox(
        "Buyer", list(buyer_of), key=f"hand_over_{package.id}", filter_mode="contains",
        format_func=lambda key: labels.get(key, key),
    )  # fmt: skip
    buyer = buyer_of.get(selection) or next(iter(buyer_of.values()))
    _draw_buyer(package, buyer, money)
    others = {contact for one in buyer_of.values() if one is not buyer for contact in one.contacts}
    if contacts := [one for one in buyer.contacts if one in others]:
        is_contact = "is a contact" if len(contacts) == 1 else "are contacts"
        st.caption(f":material/info: {plain(', '.join(contacts))} {is_contact} of other seats here, too.")
    everything = tuple(of_deal(deal, {}) for deal in deals)
    _download(INTERNAL, "all-seats-internal", partial(csv, package, everything, money), package)


def draw_deal(deal: DemandDeal, packages: Sequence[SupplyPackage], money: Prices) -> None:
    """Draw the hand-over of one deal to its buyer, for the package that is chosen if it has several."""
    package = packages[0]
    if len(packages) > 1:
        titles = {one.id or 0: one.name or f"Package {one.id}" for one in packages}
        selection = st.selectbox(
            "Package", list(titles), key=f"hand_over_of_{deal.id}", format_func=titles.__getitem__
        )
        package = next((one for one in packages if one.id == selection), package)
    _draw_buyer(package, buyers([deal])[0], money)


def _draw_buyer(package: SupplyPackage, buyer: Buyer, money: Prices) -> None:
    """Draw the text for a buyer with its copy button, the CSV, and the mail to its contacts."""
    components.copy_button(text(package, buyer.deals, money), "_buyer")
    if not any(one.deal_id for one in buyer.deals):
        st.caption(NO_DEAL_ID)
    with st.container(horizontal=True):
        _download("CSV for this buyer", buyer.key, partial(csv, package, buyer.deals, money), package)
        if buyer.contacts:
            link, is_whole = mail(package, buyer, money)
            to = plain(", ".join(buyer.contacts))
            st.link_button(f"Write to {to}", link, icon=":material/mail:", key="hand_over_mail")
    if buyer.contacts and not is_whole:
        st.caption(":material/attach_file: The deals don't fit into a mail link: attach the CSV.")


def text(package: SupplyPackage, deals: Sequence[DealRow], money: Prices) -> str:
    """The package, when it runs, and lines for each deal: seat, deal id and price, then its other terms."""
    lines = (line for one in deals for line in (_line(one, money), *_terms(one)))
    return "\n".join([*_head(package), *lines])


def csv(package: SupplyPackage, deals: Sequence[DealRow], money: Prices) -> bytes:
    """A row for each deal: times with their offset, nothing that a spreadsheet would run."""
    package = fields.redact(package, "buyer")
    start = package.start_date.isoformat(sep=" ") if package.start_date else ""
    titles = dict.fromkeys(title for one in deals for title in terms_of(one.more))
    # A column per currency, so that nobody adds up prices of several.
    prices = dict.fromkeys(money.of(currency).title for one in deals for currency, _ in one.prices)
    data = [
        {
            "Seat": "; ".join(one.seats),
            "DSP": "; ".join(one.dsps),
            "Deal id": deal_number(one),
            "Deal": one.name,
            **dict.fromkeys(prices or [money.title], ""),
            **{money.of(currency).title: amount(price).replace(",", "") for currency, price in one.prices},
            "Status": one.status,
            "Package": package.name or "",
            "Media type": package.media_type or "",
            "Start": start,
            "End": moments.end_text(package.end_date),
            **{f"Package: {title}": words for title, words in package_terms(package).items()},
            **{title: terms_of(one.more).get(title, "") for title in titles},
        }
        for one in deals
    ]
    return csv_records(data)


def mail(package: SupplyPackage, buyer: Buyer, money: Prices) -> tuple[str, bool]:
    """A link to a mail to the seat's contacts (RFC 6068), and whether all of its deals fit into it."""
    link = _mail(package, buyer, text(package, buyer.deals, money))
    if len(link) <= LONGEST_LINK:
        return link, True
    return _mail(package, buyer, "\n".join([*_head(package), ATTACHMENT])), False


def _mail(package: SupplyPackage, buyer: Buyer, body: str) -> str:
    head = {"subject": f"Deals of {_head(package)[0]}", "body": body.replace("\n", "\r\n")}
    to = ",".join(quote(one, safe="@") for one in buyer.contacts)
    return f"mailto:{to}?{urlencode(head, safe='', quote_via=quote)}"


def _download(label: str, suffix: str, data: Callable[[], bytes], package: SupplyPackage) -> None:
    is_internal = label == INTERNAL
    st.download_button(
        label, data, f"package-{package.id}-{suffix}.csv", "text/csv", icon=":material/download:",
        type="tertiary" if is_internal else "secondary", on_click="ignore",
        key="hand_over_internal" if is_internal else "hand_over_csv",
    )  # fmt: skip


def _head(package: SupplyPackage) -> list[str]:
    package = fields.redact(package, "buyer")
    name = package.name or f"Package {package.id}"
    terms = (f"{title}: {words}" for title, words in package_terms(package).items())
    return [f"{name} ({package.media_type or 'any media'})", facts.span(package), *terms, ""]


def _line(deal: DealRow, money: Prices) -> str:
    """`Bluebird (Alder Bidder): TR-7EN1-W6ZZ-2TY2, 2.50 USD CPM`."""
    prices = [f", {amount(price)} {money.of(currency).terms}".rstrip() for currency, price in deal.prices]
    return "".join([f"{seat_words(deal)}: {deal_number(deal)}", *prices])


def _terms(deal: DealRow) -> Iterator[str]:
    """`  Guaranteed impressions: 5,000,000`, for each term that is set."""
    return (f"  {title}: {words}" for title, words in terms_of(deal.more).items())


def terms_of(more: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """What is agreed beside price and fee, as far as it is set, by title."""
    return {fields.BY_NAME[name].title: facts.value(name, value) for name, value in more if value is not None}


def package_terms(package: SupplyPackage) -> dict[str, str]:
    """The further fields of a package that are for buyers, by title."""
    return terms_of(_more(fields.redact(package, "buyer")))


def seat_words(deal: DealRow) -> str:
    """`Bluebird (Alder Bidder)`."""
    dsp = f" ({deal.dsps[0]})" if deal.dsps else ""
    return f"{', '.join(deal.seats)}{dsp}"


def deal_number(deal: DealRow) -> str:
    """The deal id; where the service returns none, the number of the deal."""
    return deal.deal_id or str(deal.id)
