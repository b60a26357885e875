"""The buyer's answer on the page of a share link: what is offered, the rounds so far, and the form.

Everything that it shows is the one deal's. What was typed stays where it can't be stored.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from lib.deals.fields import DEALS
from lib.deals.models import DemandDeal, SupplyPackage, shorten
from lib.deals.negotiation import (
    LONGEST_WORD,
    Act,
    Negotiation,
    OfferTerms,
    Round,
    check_name,
    check_word,
    seat_number,
)
from lib.deals.values import AMOUNT, COUNT
from lib.people import Person
from lib.serving import connect
from lib.serving.front.shared_route import Fields
from lib.settings import Settings
from lib.share import snapshots
from lib.ui.charts.numbers import days
from lib.ui.deals import field_text
from lib.ui.deals.field_text import Prices, amount
from lib.ui.deals.list.list_state import Filters
from lib.ui.kit import amounts
from lib.wire.errors import BadRequest, TrancheError

ACT_OF: Mapping[str, Act] = {"accept": "accepts", "decline": "declines", "propose": "proposes"}
TERMS = ("price", "units", "first_day", "last_day")
ACT_WORDS: Mapping[Act, str] = {
    "accepts": "accepted", "proposes": "proposed", "declines": "declined",
    "withdraws": "withdrew the proposal",
}  # fmt: skip
OTHER_TERMS = "You typed other terms: propose them, or empty their fields."
LABELS = {"name": "Your name", "word": "Word to the seller", "price": "Price", "units": "Impressions"} | {
    "first_day": "First day", "last_day": "Last day",
}  # fmt: skip
_TERMS = TypeAdapter(list[tuple[str, str]])
ONLY, IDS, AT, SECONDS = "answered", "answered_ids", "answered_at", 30.0


@dataclass(frozen=True)
class BuyerReply:
    """What a buyer sent: the answer, or what is wrong with it (where, and a sentence); the texts as typed.

    `mark` and `terms` are those that the form had: what it answers, and its words (JSON, as they came).
    """

    answer: Round | None
    mark: str
    terms: str
    texts: Mapping[str, str]
    faults: tuple[tuple[str, str], ...] = ()

    def refuse(self, sentence: str) -> "BuyerReply":
        """The same, refused by the store."""
        return replace(self, answer=None, faults=(("Your answer", f"{sentence.rstrip('.')}."),))


def read(fields: Fields, link: int, today: date, currency: str) -> BuyerReply:
    """The answer of a form; a proposal has what was typed of the terms, a price in the deal's currency."""
    texts = {name: text for name in LABELS if isinstance(text := fields.get(name, ""), str)}
    act = ACT_OF[str(fields["do"])]
    faults: list[tuple[str, str]] = []

    def value(name: str, parse: Callable[[str], Any]) -> Any:
        try:
            return parse(texts.get(name, ""))
        except (ValueError, BadRequest) as error:
            sentence = error.reason if isinstance(error, BadRequest) else str(error)
            faults.append((LABELS[name], f"{sentence.rstrip('.')}."))
            return None

    who = value("name", check_name)
    word = value("word", lambda text: check_word(text, is_required=act == "declines"))
    terms = OfferTerms()
    if act == "proposes":
        terms = OfferTerms(
            value("price", lambda text: read_price(text, currency)),
            value("units", read_units),
            value("first_day", lambda text: _day(text, today)),
            value("last_day", lambda text: _day(text, today)),
        )
    elif any(texts.get(name, "").strip() for name in TERMS):
        faults.append(("Your answer", OTHER_TERMS))
    answer = None if faults else Round("buyer", act, terms, who, word, link)
    mark, old_terms = str(fields.get("mark", "")), str(fields.get("terms", ""))
    return BuyerReply(answer, mark, old_terms, texts, tuple(faults))


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


def section(
    negotiation: Negotiation,
    money: Prices,
    is_guaranteed: bool,
    reply: BuyerReply | None = None,
) -> snapshots.Answer:
    """The section of the page; after a refusal with what was typed, and what is wrong with it or differs from
    the page that was answered."""
    offer, texts = negotiation.offer, {} if reply is None else reply.texts
    days_names = [] if offer.first_day is None else ["first_day", "last_day"]
    names = ["price", *(["units"] if is_guaranteed else []), *days_names]
    terms = [*negotiation.page, ("Offer", terms_text(offer, money))]
    units = {"price": money.of(offer.currency).terms}
    return snapshots.Answer(
        sentence=sentence(negotiation, money, is_buyer=True),
        rounds=[_round(answer, money) for answer in negotiation.rounds],
        mark=negotiation.mark,
        terms=json.dumps(terms),
        name=texts.get("name")
        or next((answer.who for answer in reversed(negotiation.rounds) if answer.side == "buyer"), ""),
        word=texts.get("word", ""),
        fields=[
            snapshots.Field(
                name,
                f"{LABELS[name]}{f', {units[name]}' if units.get(name) else ''}",
                texts.get(name, ""),
                _text(getattr(offer, name)),
                "date" if name.endswith("day") else "text",
            )
            for name in names
        ],
        faults=() if reply is None else (*reply.faults, *_differences(reply, terms)),
        is_open=not negotiation.is_agreed or reply is not None,
        proposes=bool(reply and any(texts.get(name) for name in names)),
    )


def _differences(reply: BuyerReply, terms: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What has changed since the page was opened that the buyer answered; nothing if that can't be read."""
    try:
        before, now = _by_title(_TERMS.validate_json(reply.terms)), _by_title(terms)
    except ValidationError:
        return
    for title in {**now, **before}:
        old, new = (rows.get(title, field_text.NOTHING) for rows in (before, now))
        if old != new:
            yield shorten(title, LONGEST_WORD), f"{shorten(old, LONGEST_WORD)} → {shorten(new, LONGEST_WORD)}"


def _by_title(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The texts by title: those of several packages together."""
    texts: dict[str, str] = {}
    for title, text in rows:
        texts[title] = f"{texts[title]}; {text}" if title in texts else text
    return texts


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


def _round(answer: Round, money: Prices) -> snapshots.Round:
    """A line of the list of rounds, as both sides read it."""
    who = answer.who if answer.side == "buyer" else "The seller"
    return snapshots.Round(
        f"{who} {act_text(answer, money)}", f"{answer.at:%-d %b %Y, %H:%M} UTC", answer.word
    )


def _day(text: str, today: date) -> date | None:
    """A day that has not passed; None for an empty text."""
    if not text.strip():
        return None
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"'{text[:30]}' is not a day: write it like {today.isoformat()}") from None
    if day < today:
        raise ValueError(f"{day.isoformat()} has passed")
    return day


def _text(value: Decimal | int | date | None) -> str:
    """What stands in an empty field: the offer's value."""
    match value:
        case None:
            return ""
        case date():
            return value.isoformat()
        case int():
            return f"{value:,}"
        case _:
            return amounts.money_to_text(value)


def ids(person: Person) -> tuple[int, ...]:
    """The ids of the deals that this person may see and whose buyers wait for an answer.

    They are read every half minute; there are none where they can't be read.
    """
    state, now = st.session_state, datetime.now(UTC).timestamp()
    if not person.deals.reads:
        return ()
    if now - state.get(AT, 0.0) > SECONDS:
        try:
            state[IDS] = _read(person)
        except TrancheError:
            state[IDS] = ()
        state[AT] = now
    return tuple(state.get(IDS, ()))


def forget() -> None:
    """Read them again: somebody has answered here."""
    st.session_state.pop(AT, None)


def draw_switch(person: Person, entity: str, start_over: Callable[[], None]) -> bool:
    """Draw the switch of the list of deals; whether it is on. Nothing while no buyer waits."""
    count = len(ids(person))
    if entity != DEALS or not (count or st.session_state.get(ONLY)):
        return False
    return st.toggle(
        f"Answered ({count})", key=ONLY, bind="query-params", on_change=start_over,
        help="The buyer accepted, declined or proposed terms through a share link, and waits for us",
    )  # fmt: skip


def filters(person: Person, is_on: bool) -> Filters:
    """The part of the list's filters that leaves these deals."""
    return (("id", tuple(map(str, ids(person))) or ("0",)),) if is_on else ()


def _read(person: Person) -> tuple[int, ...]:
    clients = connect.connect(person, Settings.current())
    latest = clients.negotiations.latest().items()
    rounds = {pair: last for pair, last in latest if last.side == "buyer" or last.act == "withdraws"}
    if not rounds:
        return ()
    deals = clients.open_deals()
    deal_of = deals.get_many(DemandDeal, sorted({deal for deal, _ in rounds}))
    packages = deals.get_many(
        SupplyPackage,
        sorted({package.id for deal in deal_of.values() for package in deal.supply_deals if package.id}),
    )
    return tuple(
        number
        for number, deal in deal_of.items()
        if (number, seat_number(deal)) in rounds
        and clients.negotiations.of(
            deal,
            OfferTerms.of(
                deal,
                [packages[package.id] for package in deal.supply_deals if package.id in packages],
                clients.usual_terms,
            ),
        ).waits_for_house
    )
