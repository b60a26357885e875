"""What a deal's buyer answers through a share link, and what the house answers back, round after round.

A round changes nothing: whoever may change the deal takes it over, with the questions that any change asks.
The buyer's state is one of deal sync (Deal Sync API 1.0, BuyerStatus), so that a DSP and a person answer in
one place: the later of the two counts (store/status.py).

A deal is one seat's: what the buyer of another seat answered before stays with that seat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any, Literal, get_args

from sqlalchemy import BigInteger, Connection, Date, Row, String, Table, Text, insert, select

from lib.database import Amount, DatabaseScope, Instant, keys, metadata, optional, required
from lib.deals.models import BUYER_STATUS, DemandDeal
from lib.deals.values import AMOUNT, COUNT
from lib.wire import text
from lib.wire.errors import BadRequest, Conflict

Side = Literal["buyer", "house"]
Act = Literal["accepts", "proposes", "declines"]
ACTS: tuple[Act, ...] = get_args(Act)
MOST_ROUNDS, LONGEST_NAME, LONGEST_WORD = 50, 64, 500
PENDING, APPROVED, REJECTED = (
    BUYER_STATUS.index(status) for status in ("pending approval", "approved", "rejected")
)
STATUS: Mapping[tuple[Side, Act], int] = {
    ("buyer", "accepts"): APPROVED,
    ("buyer", "proposes"): PENDING,
    ("buyer", "declines"): REJECTED,
    ("house", "accepts"): APPROVED,
    ("house", "proposes"): PENDING,
    ("house", "declines"): PENDING,
}
"""The state that a round leaves the deal in at its buyer: one whose proposal is declined still has the terms
as they are to answer."""

negotiation_rounds = Table(
    "negotiation_rounds",
    metadata,
    *keys(service=String(500), deal_id=BigInteger, seat_id=BigInteger, number=BigInteger),
    *required(side=String(10), act=String(10)),
    *optional(price=Amount, currency=String(20), units=BigInteger, first_day=Date, last_day=Date),
    *required(word=Text, who=Text),
    *optional(link_id=BigInteger),
    *required(at=Instant),
)
_COLUMNS = negotiation_rounds.c


@dataclass(frozen=True)
class OfferTerms:
    """What is negotiated: the price, guaranteed impressions, and the first and last day on which it runs.

    The price is in `currency`, which nobody proposes: it is the deal's when the terms were offered. None: not
    set, or not proposed.
    """

    price: Decimal | None = None
    units: int | None = None
    first_day: date | None = None
    last_day: date | None = None
    currency: str | None = None

    def differences(self, other: "OfferTerms") -> dict[str, Any]:
        """The terms of `other` that differ from these, by name; a term that it leaves open does not."""
        values = {field.name: getattr(other, field.name) for field in fields(other)}
        return {name: value for name, value in values.items() if value not in (None, getattr(self, name))}

    def with_changes_of(self, other: "OfferTerms") -> "OfferTerms":
        """These terms with what `other` has."""
        return replace(self, **self.differences(other))


@dataclass(frozen=True)
class Round:
    """One answer. `terms` are those accepted or proposed, `link` the number of the buyer's share link."""

    side: Side
    act: Act
    terms: OfferTerms
    who: str
    word: str = ""
    link: int | None = None
    number: int = 0
    at: datetime | None = None


@dataclass(frozen=True)
class Negotiation:
    """The rounds about a deal whose terms are `terms` now. `is_repeat`: the last was sent once more."""

    terms: OfferTerms
    rounds: tuple[Round, ...] = ()
    is_repeat: bool = False

    @property
    def last(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def offer(self) -> OfferTerms:
        """What the buyer is asked to answer: the terms as they are, with what the house proposed last if the
        buyer has not answered it with a proposal of their own."""
        last = self.last
        if last is not None and (last.side, last.act) == ("house", "proposes"):
            return self.terms.with_changes_of(last.terms)
        return self.terms

    @property
    def is_agreed(self) -> bool:
        """Whether both sides have the terms as they are now."""
        last = self.last
        return last is not None and last.act == "accepts" and not self.terms.differences(last.terms)

    @property
    def changes(self) -> dict[str, Any]:
        """The terms that change if the last answer is taken over; none after a refusal."""
        last = self.last
        return {} if last is None or last.act == "declines" else self.terms.differences(last.terms)

    @property
    def waits_for_house(self) -> bool:
        """Whether the buyer answered last, and the house has something to do about it."""
        last = self.last
        return last is not None and last.side == "buyer" and not self.is_agreed

    @property
    def mark(self) -> str:
        """Names this state, so that nobody answers another one than they see."""
        return sha256(repr((len(self.rounds), self.offer)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Negotiations(DatabaseScope):
    """The negotiations about deals of the deals service at `service` (empty: the embedded one).

    It knows no deals: ask only for those that the person, or the owner of the link, may see.
    """

    service: str

    def of(self, deal: DemandDeal, terms: OfferTerms) -> Negotiation:
        """The negotiation with the deal's seat, given its terms as they are."""
        return self.read(lambda connection: self._of(connection, deal, terms))

    def add(self, deal: DemandDeal, terms: OfferTerms, answer: Round, mark: str) -> Negotiation:
        """Store the answer as the next round; once, if it is sent again.

        A price that it proposes is in the currency of the offer, and what a buyer accepts is the offer.
        Conflict where the negotiation is not at `mark` any more; BadRequest for an answer that can't be: no
        name, a proposal that changes nothing, a refusal without a word, days in the wrong order, beyond 50
        rounds.
        """
        now = datetime.now(UTC).replace(microsecond=0)  # as the times of deal sync, with which it is compared
        with self.write() as connection:
            before = self._of(connection, deal, terms)
            if before.mark != mark:
                if _is_repeat(answer, before, mark):
                    return replace(before, is_repeat=True)
                raise Conflict("The offer has changed since you saw it: look at it again")
            _check(answer, before)
            answer = _with_terms(answer, before.offer)
            number = len(before.rounds) + 1
            values = {
                "service": self.service, "deal_id": deal.id, "seat_id": seat_number(deal), "number": number,
                "side": answer.side, "act": answer.act, "who": answer.who, "word": answer.word,
                "link_id": answer.link, "at": now,
                **{field.name: getattr(answer.terms, field.name) for field in fields(OfferTerms)},
            }  # fmt: skip
            connection.execute(insert(negotiation_rounds).values(values))
            return replace(before, rounds=(*before.rounds, replace(answer, number=number, at=now)))

    def latest(self) -> dict[tuple[int, int], Round]:
        """The latest round of each deal and seat that has any."""
        query = select(negotiation_rounds).where(_COLUMNS.service == self.service).order_by(_COLUMNS.number)
        return {(row.deal_id, row.seat_id): _round(row) for row in self.rows(query)}

    def _of(self, connection: Connection, deal: DemandDeal, terms: OfferTerms) -> Negotiation:
        query = select(negotiation_rounds).where(
            _COLUMNS.service == self.service,
            _COLUMNS.deal_id == deal.id,
            _COLUMNS.seat_id == seat_number(deal),
        )
        return Negotiation(terms, tuple(map(_round, connection.execute(query.order_by(_COLUMNS.number)))))


def seat_number(deal: DemandDeal) -> int:
    """The seat that answers about a deal; 0 where it is not known."""
    return (deal.seat and deal.seat.id) or 0


def check_name(name: str) -> str:
    """The name of who answers, in one line. BadRequest for one that is empty, long or unreadable."""
    return text.readable_line(name, "Your name", LONGEST_NAME)


def check_word(word: str, *, is_required: bool = False) -> str:
    """The word with an answer, in one line; empty where there is none. BadRequest as for a name."""
    return text.readable_line(word, "Your word", LONGEST_WORD) if is_required or word.strip() else ""


def _with_terms(answer: Round, offer: OfferTerms) -> Round:
    """The answer to this offer with all that it is about."""
    if (answer.side, answer.act) == ("buyer", "accepts"):
        return replace(answer, terms=offer)
    if answer.act == "proposes" and answer.terms.price is not None:
        return replace(answer, terms=replace(answer.terms, currency=offer.currency))
    return answer


def _is_repeat(answer: Round, negotiation: Negotiation, mark: str) -> bool:
    """Whether the last round is this answer, sent again: by a double click, or a page that is reloaded."""
    *earlier, last = negotiation.rounds or (None,)
    before = Negotiation(negotiation.terms, tuple(filter(None, earlier)))
    if last is None or before.mark != mark:
        return False
    return last == replace(_with_terms(answer, before.offer), number=last.number, at=last.at)


def _check(answer: Round, before: Negotiation) -> None:
    terms = answer.terms
    check_word(answer.word, is_required=answer.act == "declines")
    if len(before.rounds) >= MOST_ROUNDS:
        raise BadRequest(f"There are {MOST_ROUNDS} rounds already: talk to each other")
    try:
        if terms.price is not None:
            AMOUNT.read(terms.price)
        if terms.units is not None:
            COUNT.read(terms.units)
    except ValueError as error:
        raise BadRequest(f"The {'price' if 'price' in str(error) else 'terms'} {error}") from error
    if answer.act == "proposes":
        whole = before.offer.with_changes_of(terms)
        if whole == before.offer:
            raise BadRequest("A proposal changes at least one of price, impressions and days")
        if whole.first_day and whole.last_day and whole.last_day < whole.first_day:
            raise BadRequest(f"The last day, {whole.last_day}, is before the first, {whole.first_day}")


def _round(row: Row[Any]) -> Round:
    terms = OfferTerms(row.price, row.units, row.first_day, row.last_day, row.currency)
    return Round(row.side, row.act, terms, row.who, row.word, row.link_id, row.number, row.at)
