"""Negotiations in words: where one stands, what a round says, and terms as they are typed."""

from collections.abc import Mapping
from decimal import Decimal

from lib.deals.negotiation import Act, Negotiation, OfferTerms, Round
from lib.deals.values import AMOUNT, COUNT
from lib.figures import amounts
from lib.figures.deals import field_text
from lib.figures.deals.field_text import Prices, amount
from lib.figures.numbers import days

ACT_WORDS: Mapping[Act, str] = {
    "accepts": "accepted", "proposes": "proposed", "declines": "declined",
    "withdraws": "withdrew the proposal",
}  # fmt: skip
TERMS = ("price", "units", "first_day", "last_day")
LABELS = {"name": "Your name", "word": "Word to the seller", "price": "Price", "units": "Impressions"} | {
    "first_day": "First day", "last_day": "Last day",
}  # fmt: skip


def read_price(text: str, currency: str) -> Decimal | None:
    """A typed price. ValueError, with a sentence, also for one in another currency than the deal's."""
    price = amounts.read(text, AMOUNT)
    if (code := amounts.currency(text)) and currency and code != currency:
        raise ValueError(
            f"The price is in {currency}, and '{text.strip()}' in {code}: write it in {currency}."
        )
    return price


def read_units(text: str) -> int | None:
    """Typed impressions, with commas between thousands or without. ValueError, with a sentence."""
    units = amounts.read(text.replace(",", ""), COUNT)
    return None if units is None else int(units)


def sentence(negotiation: Negotiation, money: Prices, *, is_buyer: bool) -> str:
    """Where the negotiation stands, to the buyer or to the house; and what has changed since."""
    names = ", ".join(field_text.title(name) for name in negotiation.stale_terms)
    since = f" Changed since: {names}." if names else ""
    return f"{_standing(negotiation, money, is_buyer=is_buyer)}{since}"


def _standing(negotiation: Negotiation, money: Prices, *, is_buyer: bool) -> str:
    you, they = ("You", "the seller") if is_buyer else ("The buyer", "we")
    last = negotiation.last
    offer = terms_text(negotiation.offer, money)
    if last is None:
        return f"{'The seller offers' if is_buyer else 'Not answered yet:'} {offer}."
    act = act_text(last, money)
    if last.side == "buyer":
        if last.act == "accepts" and negotiation.changes:
            remark = (
                "the seller has not changed the deal to it yet" if is_buyer else "the deal has other terms"
            )
            return f"{you} {act}; {remark}."
        if last.act == "accepts":
            return f"{you} {act}."
        return f"{you} {act}; {they} {'has' if is_buyer else 'have'} not answered yet. The offer is {offer}."
    subject = "The seller" if is_buyer else "We"
    match last.act:
        case "accepts":
            return f"{subject} accepted the proposal: {terms_text(last.terms, money)}."
        case "proposes":
            return f"{subject} proposed {terms_text(last.terms, money)}."
        case _:
            return f"{subject} declined; the offer is {offer}."


def act_text(answer: Round, money: Prices) -> str:
    """`proposed 2.10 USD CPM`, after who did."""
    act = ACT_WORDS[answer.act]
    has_terms = answer.act in ("accepts", "proposes")
    return f"{act} {terms_text(answer.terms, money)}".rstrip() if has_terms else act


def terms_text(terms: OfferTerms, money: Prices) -> str:
    """`2.10 USD CPM, 1,000,000 impressions, 1 – 31 Dec 2026`, of what is set."""
    parts = []
    if terms.price is not None:
        parts.append(f"{amount(terms.price)} {money.of(terms.currency).terms}".rstrip())
    if terms.units is not None:
        parts.append(f"{terms.units:,} impressions")
    if terms.first_day is not None and terms.last_day is not None:
        parts.append(days(terms.first_day, terms.last_day))
    elif terms.first_day is not None:
        parts.append(f"from {days(terms.first_day, terms.first_day)}")
    elif terms.last_day is not None:
        parts.append(f"until {days(terms.last_day, terms.last_day)}")
    return ", ".join(parts)
