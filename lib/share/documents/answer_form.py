"""The buyer's answer on the page of a share link: what is offered, the rounds so far, and the form."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lib.deals.models import shorten
from lib.deals.negotiation import (
    LONGEST_WORD,
    Act,
    Negotiation,
    OfferTerms,
    Round,
    check_answer,
    check_name,
    check_word,
)
from lib.figures import amounts, numbers
from lib.figures.deals import field_text
from lib.figures.deals.field_text import Prices
from lib.figures.deals.negotiation_text import (
    LABELS,
    TERMS,
    act_text,
    read_price,
    read_units,
    sentence,
    terms_text,
)
from lib.serving.front.shared_route import Fields
from lib.share.snapshot import models as snapshots
from lib.wire.errors import BadRequest

ACT_OF: Mapping[str, Act] = {"accept": "accepts", "decline": "declines", "propose": "proposes"}
_TERMS = TypeAdapter(list[tuple[str, str]])


@dataclass(frozen=True)
class BuyerReply:
    """What a buyer sent: the answer, or what is wrong with it (where, and a sentence); the texts as typed.

    `mark` and `terms` are those that the form had: what it answers, and its words (JSON, as they came).
    With a `confirmation` the faults are questions, which a box of this value answers.
    """

    answer: Round | None
    mark: str
    terms: str
    texts: Mapping[str, str]
    faults: tuple[tuple[str, str], ...] = ()
    confirmation: str = ""

    def ask(self, negotiation: Negotiation, box: object) -> "BuyerReply":
        """The same, to be sent once more with a box where it is probably a slip that was not confirmed.

        What can't be stored anyway is left to the store.
        """
        if self.answer is None or self.answer.act != "proposes" or self.mark != negotiation.mark:
            return self
        try:
            check_answer(self.answer, negotiation)
        except BadRequest:
            return self
        warnings = negotiation.warnings(self.answer.terms, "buyer")
        questions = tuple(("Please check", warning.sentence) for warning in warnings if warning.asks)
        mark = sha256(repr(questions).encode()).hexdigest()[:16]
        if not questions or box == mark:
            return self
        return replace(self, answer=None, faults=questions, confirmation=mark)

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
        faults.append(("Your answer", "You typed other terms: propose them, or empty their fields."))
    answer = None if faults else Round("buyer", act, terms, who, word, link)
    mark, old_terms = str(fields.get("mark", "")), str(fields.get("terms", ""))
    return BuyerReply(answer, mark, old_terms, texts, tuple(faults))


def section(
    negotiation: Negotiation, money: Prices, is_guaranteed: bool, reply: BuyerReply | None = None
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
        rounds=[
            snapshots.Round(
                f"{answer.who if answer.side == 'buyer' else 'The seller'} {act_text(answer, money)}",
                "" if answer.at is None else numbers.moment(answer.at),
                answer.word,
            )
            for answer in negotiation.rounds
        ],
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
        confirmation="" if reply is None else reply.confirmation,
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
