"""What each buyer needs of a package's deals: a text, a CSV and a mail, each with one seat's deals alone.

Prices and names of one buyer are nobody else's business. The sheet of all seats is for the house.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

import streamlit as st

from lib.deals import fields, moments
from lib.deals.models import DemandDeal, SupplyPackage
from lib.figures.deals import field_text
from lib.figures.deals.buyer_terms import describe_targeting, package_terms, plain_values, terms_of
from lib.figures.deals.deal_names import deal_number, seat_label
from lib.figures.deals.field_text import Prices, amount
from lib.ui.deals import catalog
from lib.ui.deals.deal_rows import DealRow, of_deal
from lib.ui.kit import downloads, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.text import csv_records

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
        return (
            seat_label(first.seats, first.dsps)
            if self.key.startswith(SEAT)
            else f"Unknown seat: {first.name}"
        )


def buyers(deals: Iterable[DemandDeal]) -> list[Buyer]:
    """The deals by seat, seats by name."""
    groups: dict[str, list[DemandDeal]] = {}
    for deal in deals:
        seat = deal.seat.id if deal.seat else None
        groups.setdefault(f"deal-{deal.id}" if seat is None else f"{SEAT}{seat}", []).append(deal)
    buyers = [
        Buyer(
            key,
            tuple(buyer_row(deal) for deal in own_deals),
            tuple(dict.fromkeys(deal.contact_email for deal in own_deals if deal.contact_email)),
        )
        for key, own_deals in groups.items()
    ]
    return sorted(buyers, key=lambda buyer: (buyer.label.casefold(), buyer.key))


def buyer_row(deal: DemandDeal) -> DealRow:
    """What a buyer is told of a deal; `more` are the fields for buyers that have no attribute."""
    deal_view = fields.redact(deal, "buyer")
    return replace(of_deal(deal_view, {}), more=plain_values(deal_view))


@dataclass(frozen=True)
class HandOver:
    """A package as buyers get it, with its targeting in words (buyer_terms.py)."""

    package: SupplyPackage
    prices: Prices
    targeting: str = ""

    def text(self, deals: Sequence[DealRow]) -> str:
        """The package, when it runs, and lines for each deal: `Bluebird (Alder Bidder): TR-7EN1-W6ZZ-2TY2,
        2.50 USD CPM`, then each other term that is set."""
        lines = self._head()
        for deal in deals:
            prices = [
                f", {amount(price)} {self.prices.of(currency).terms}".rstrip()
                for currency, price in deal.prices
            ]
            seat = f"{seat_label(deal.seats, deal.dsps)}: {deal_number(deal.deal_id, deal.id)}"
            lines.append("".join([seat, *prices]))
            lines += [f"  {title}: {text}" for title, text in self._terms(deal).items()]
        return "\n".join(lines)

    def csv(self, deals: Sequence[DealRow]) -> bytes:
        """A row for each deal: times with their offset, nothing that a spreadsheet would run."""
        package = fields.redact(self.package, "buyer")
        start = package.start_date.isoformat(sep=" ") if package.start_date else ""
        titles = dict.fromkeys(title for deal in deals for title in self._terms(deal))
        # A column per currency, so that nobody adds up prices of several.
        currencies = dict.fromkeys(currency for deal in deals for currency, _ in deal.prices)
        prices = [self.prices.of(currency).title for currency in currencies]
        of_package = package_terms(package, self.targeting).items()
        data = [
            {
                "Seat": "; ".join(deal.seats),
                "DSP": "; ".join(deal.dsps),
                "Deal id": deal_number(deal.deal_id, deal.id),
                "Deal": deal.name,
                **dict.fromkeys(prices or [self.prices.title], ""),
                **{
                    self.prices.of(currency).title: amount(price).replace(",", "")
                    for currency, price in deal.prices
                },
                "Status": deal.status,
                "Package": package.name or "",
                "Media type": package.media_type or "",
                "Start": start,
                "End": moments.end_text(package.end_date),
                **{f"Package: {title}": text for title, text in of_package},
                **{title: self._terms(deal).get(title, "") for title in titles},
            }
            for deal in deals
        ]
        return csv_records(data)

    def mail(self, buyer: Buyer) -> tuple[str, bool]:
        """A link to a mail to the seat's contacts (RFC 6068), and whether all of its deals fit into it."""
        link = self._mail(buyer, self.text(buyer.deals))
        if len(link) <= LONGEST_LINK:
            return link, True
        return self._mail(buyer, "\n".join([*self._head(), ATTACHMENT])), False

    def _mail(self, buyer: Buyer, body: str) -> str:
        head = {"subject": f"Deals of {self._head()[0]}", "body": body.replace("\n", "\r\n")}
        to = ",".join(quote(contact, safe="@") for contact in buyer.contacts)
        return f"mailto:{to}?{urlencode(head, safe='', quote_via=quote)}"

    def _head(self) -> list[str]:
        package = fields.redact(self.package, "buyer")
        name = package.name or f"Package {package.id}"
        terms = (f"{title}: {text}" for title, text in package_terms(package, self.targeting).items())
        return [f"{name} ({package.media_type or 'any media'})", field_text.span(package), *terms, ""]

    def _terms(self, deal: DealRow) -> dict[str, str]:
        currency = next((self.prices.of(currency).currency for currency, _ in deal.prices), "")
        return terms_of(deal.more, currency)


def draw(context: PageContext, package: SupplyPackage, deals: Sequence[DemandDeal]) -> None:
    """Draw the hand-over of the seat that is chosen, and the house's own sheet; once per screen."""
    buyer_of = {buyer.key: buyer for buyer in buyers(deals)}
    count = Counter(buyer.label for buyer in buyer_of.values())
    labels = {
        key: buyer.label if count[buyer.label] == 1 else f"{buyer.label} · {key}"
        for key, buyer in buyer_of.items()
    }
    selection = st.selectbox(
        "Buyer", list(buyer_of), key=f"hand_over_{package.id}", filter_mode="contains",
        format_func=lambda key: labels.get(key, key),
    )  # fmt: skip
    buyer, hand_over = buyer_of.get(selection) or next(iter(buyer_of.values())), _hand_over(context, package)
    _draw_buyer(context, hand_over, buyer)
    others = {contact for other in buyer_of.values() if other is not buyer for contact in other.contacts}
    if contacts := [contact for contact in buyer.contacts if contact in others]:
        is_contact = "is a contact" if len(contacts) == 1 else "are contacts"
        st.caption(f":material/info: {plain(', '.join(contacts))} {is_contact} of other seats here, too.")
    rows = tuple(of_deal(deal, {}) for deal in deals)
    _download(context, hand_over, INTERNAL, "all-seats-internal", rows)


def draw_deal(context: PageContext, deal: DemandDeal, packages: Sequence[SupplyPackage]) -> None:
    """Draw the hand-over of one deal to its buyer, for the package that is chosen if it has several."""
    package = packages[0]
    if len(packages) > 1:
        titles = {package.id or 0: package.name or f"Package {package.id}" for package in packages}
        selection = st.selectbox(
            "Package", list(titles), key=f"hand_over_of_{deal.id}", format_func=titles.__getitem__
        )
        package = next((package for package in packages if package.id == selection), package)
    _draw_buyer(context, _hand_over(context, package), buyers([deal])[0])


def _hand_over(context: PageContext, package: SupplyPackage) -> HandOver:
    targeting = describe_targeting(context, package, catalog.lists(context))
    return HandOver(package, field_text.prices_of(context), targeting)


def _draw_buyer(context: PageContext, hand_over: HandOver, buyer: Buyer) -> None:
    """Draw the text for a buyer with its copy button, the CSV, and the mail to its contacts."""
    widgets.text_to_copy(hand_over.text(buyer.deals), "_buyer")
    if not any(deal.deal_id for deal in buyer.deals):
        st.caption("This service returns no deal ids, so the numbers are those of the deals in the service.")
    with st.container(horizontal=True):
        _download(context, hand_over, "CSV for this buyer", buyer.key, buyer.deals)
        if buyer.contacts:
            link, is_whole = hand_over.mail(buyer)
            to = plain(", ".join(buyer.contacts))
            st.link_button(f"Write to {to}", link, icon=":material/mail:", key="hand_over_mail")
    if buyer.contacts and not is_whole:
        st.caption(":material/attach_file: The deals don't fit into a mail link: attach the CSV.")


def _download(
    context: PageContext, hand_over: HandOver, label: str, suffix: str, deals: Sequence[DealRow]
) -> None:
    is_internal = label == INTERNAL
    downloads.offer(
        context, label, lambda _: hand_over.csv(deals), f"package-{hand_over.package.id}-{suffix}.csv",
        "text/csv", "hand_over_internal" if is_internal else "hand_over_csv",
        kind="tertiary" if is_internal else "secondary",
    )  # fmt: skip
