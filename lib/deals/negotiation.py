"""What a deal's buyer answers through a share link, and what the house answers back, round after round.

A round changes nothing: whoever may change the deal takes it over, with the questions that any change asks.
The buyer's state is one of deal sync (Deal Sync API 1.0, BuyerStatus), so that a DSP and a person answer in
one place: the later of the two counts (store/status.py).

A deal is one seat's: what the buyer of another seat answered before stays with that seat. An answer is about
all that its side was shown, and lapses when any of it changes: a term, the seat, or whether the deal runs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import BigInteger, Connection, Date, Row, String, Table, Text, insert, select

from lib.database import Amount, DatabaseScope, Document, Instant, keys, metadata, optional, required
from lib.deals import fields as deal_fields
from lib.deals import moments
from lib.deals.comparisons import Case, Reader
from lib.deals.models import BUYER_STATUS, TARGETING_ELEMENTS, DemandDeal, SupplyPackage
from lib.deals.values import AMOUNT, COUNT
from lib.deals.warnings import DealWarning, judge
from lib.wire import text
from lib.wire.errors import BadRequest, Conflict

Side = Literal["buyer", "house"]
Act = Literal["accepts", "proposes", "declines", "withdraws"]
MOST_ROUNDS, LONGEST_NAME, LONGEST_WORD = 50, 64, 500
DETAILS = "details"
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
as they are to answer. A withdrawal leaves that of the round before."""

negotiation_rounds = Table(
    "negotiation_rounds", metadata,
    *keys(service=String(500), deal_id=BigInteger, seat_id=BigInteger, number=BigInteger),
    *required(side=String(10), act=String(10)),
    *optional(price=Amount, currency=String(20), units=BigInteger, first_day=Date, last_day=Date),
    *required(word=Text, who=Text), *optional(link_id=BigInteger), *required(at=Instant),
    *optional(details=Document),
)  # fmt: skip
_COLUMNS = negotiation_rounds.c


AS_OFFERED = ("pending", "active")
"""The states of a deal in which it runs, or will: that it begins to changes nothing that was agreed."""


@dataclass(frozen=True)
class OfferTerms:
    """What is negotiated: the price, guaranteed impressions, and the first and last day on which it runs.

    The price is in `currency`, which nobody proposes: it is the deal's when the terms were offered. Nobody
    proposes `details` either, which are all other terms that the buyer is shown, the seat, and whether the
    deal runs, is paused or complete, by the field. None: not set, or not proposed.
    """

    price: Decimal | None = None
    units: int | None = None
    first_day: date | None = None
    last_day: date | None = None
    currency: str | None = None
    details: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls, deal: DemandDeal, packages: Sequence[SupplyPackage], usual: Mapping[str, str]
    ) -> "OfferTerms":
        """The terms of a deal with these packages as they are. Its days are those of its package, if it has
        one alone; `usual` are the terms of a deal that has none of its own, by the field."""
        first = last = None
        if len(packages) == 1:
            start, end = packages[0].start_date, packages[0].end_date
            first, last = start and start.date(), end and (moments.last_day(end) or end.date())
        names = _buyer_terms(deal_fields.DEALS) - {"price", "units", "currency"}
        values = {name: getattr(deal, name) for name in sorted(names)}
        details = {name: usual.get(name) if value is None else value for name, value in values.items()} | {
            "seat": seat_number(deal),
            "status": AS_OFFERED[-1] if deal.status in AS_OFFERED else deal.status,
            "supply_deals": [_package_terms(package, len(packages) > 1) for package in packages],
        }
        currency = deal.currency or usual.get("currency") or None
        return cls(
            deal.price, None if deal.units is None else int(deal.units), first, last, currency, details
        )

    def differences(self, other: "OfferTerms") -> dict[str, Any]:
        """The terms of `other` that differ from these, by name, but for the details; a term that it leaves
        open does not."""
        values = {field.name: getattr(other, field.name) for field in fields(other) if field.name != DETAILS}
        return {name: value for name, value in values.items() if value not in (None, getattr(self, name))}

    def with_changes_of(self, other: "OfferTerms") -> "OfferTerms":
        """These terms with what `other` has."""
        return replace(self, **self.differences(other), details=other.details or self.details)


@dataclass(frozen=True)
class Round:
    """One answer. `terms` are those accepted or proposed, `link` the number of the buyer's share link.

    The house withdraws what it proposed last, as long as the buyer has not answered it.
    """

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
    """The rounds about a deal whose terms are `terms` now. `is_repeat`: the last was sent once more.

    `page` are the terms by title as the page has them on which it is answered, empty on the desk.
    """

    terms: OfferTerms
    rounds: tuple[Round, ...] = ()
    page: Sequence[tuple[str, str]] = ()
    is_repeat: bool = False

    def warnings(self, terms: OfferTerms, reader: Reader) -> list[DealWarning]:
        """What of a proposal is probably a slip, for the side that makes it: a buyer's beside the offer, the
        house's beside the deal, since what it proposed last may be the slip that it corrects.
        """
        before = _offer_values(self.offer if reader == "buyer" else self.terms)
        after = _offer_values(terms)
        return judge(Case("offer", before | after, frozenset(after), datetime.now(UTC), before), reader)

    @property
    def last(self) -> Round | None:
        """The round that counts: proposals of the house that were withdrawn, and the withdrawal, do not."""
        standing: list[Round] = []
        for answer in self.rounds:
            if answer.act == "withdraws":
                while standing and (standing[-1].side, standing[-1].act) == ("house", "proposes"):
                    standing.pop()
            else:
                standing.append(answer)
        return standing[-1] if standing else None

    @property
    def is_open_proposal(self) -> bool:
        """Whether the house proposed last, and may withdraw or correct that: the buyer has not answered."""
        return self.last is not None and (self.last.side, self.last.act) == ("house", "proposes")

    @property
    def offer(self) -> OfferTerms:
        """What the buyer is asked to answer: the terms as they are, with what the house proposed last if the
        buyer has not answered it with a proposal of their own."""
        if self.last is not None and self.is_open_proposal:
            return self.terms.with_changes_of(self.last.terms)
        return self.terms

    @property
    def is_agreed(self) -> bool:
        """Whether both sides have the terms as they are now, and nothing that the buyer saw has changed."""
        last = self.last
        return last is not None and last.act == "accepts" and not (self.changes or self.stale_terms)

    @property
    def status(self) -> int:
        """The number of the buyer's status: what was accepted is approved as long as the deal has it."""
        last = self.last
        if last is None or (last.act == "accepts" and not self.is_agreed):
            return PENDING
        return STATUS[last.side, last.act]

    @property
    def stale_terms(self) -> tuple[str, ...]:
        """The fields, beside those to take over, that have changed since the last answer was about them."""
        terms = OfferTerms() if self.last is None else self.last.terms
        if terms.details is None:
            return ()
        details = self.terms.details or {}
        names = [name for name, value in details.items() if value != terms.details.get(name)]
        if self.last is not None and self.last.act == "accepts":  # of a proposal, what is open stays as it is
            names += [name for name in terms.differences(self.terms) if getattr(terms, name) is None]
        return tuple(names)

    @property
    def changes(self) -> dict[str, Any]:
        """The terms that change if the last answer is taken over; none after a refusal."""
        last = self.last
        return {} if last is None or last.act == "declines" else self.terms.differences(last.terms)

    @property
    def waits_for_house(self) -> bool:
        """Whether the buyer answered last, and the house has something to do about it.

        There is nothing to do about an acceptance that lapsed because the deal was paused, or is complete.
        """
        last = self.last
        if last is None or last.side != "buyer" or self.is_agreed:
            return False
        return last.act != "accepts" or bool(self.changes) or self.stale_terms != ("status",)

    @property
    def mark(self) -> str:
        """Names this state, so that nobody answers another one than they see."""
        return sha256(repr((len(self.rounds), self.offer, *self.page)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Negotiations(DatabaseScope):
    """The negotiations about deals of the deals service at `service` (empty: the embedded one).

    It knows no deals: ask only for those that the person, or the owner of the link, may see.
    """

    service: str

    def of(self, deal: DemandDeal, terms: OfferTerms) -> Negotiation:
        """The negotiation with the deal's seat, given its terms as they are."""
        return self.read(lambda connection: self._of(connection, deal, terms))

    def add(
        self,
        deal: DemandDeal,
        terms: OfferTerms,
        answer: Round,
        mark: str,
        page: Sequence[tuple[str, str]] = (),
    ) -> Negotiation:
        """Store the answer as the next round; once, if it is sent again.

        A price that it proposes is in the currency of the offer, and what a buyer accepts is the offer.
        Conflict where the negotiation is not at `mark` any more; BadRequest for an answer that can't be: no
        name, a proposal that changes nothing, a refusal without a word, days in the wrong order, beyond 50
        rounds.
        """
        now = datetime.now(UTC).replace(microsecond=0)  # as the times of deal sync, with which it is compared
        with self.write() as connection:
            before = replace(self._of(connection, deal, terms), page=page)
            if before.mark != mark:
                *earlier, last = before.rounds or (None,)
                then = Negotiation(terms, tuple(filter(None, earlier)), page)
                if last is not None and then.mark == mark:
                    # Perhaps the same answer again, by a double click or a page that is reloaded.
                    whole = _with_terms(answer, then.offer)
                    if last == replace(whole, number=last.number, at=last.at):
                        return replace(before, is_repeat=True)
                raise Conflict("The offer has changed since you saw it, or was answered: look at it again")
            check_answer(answer, before)
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
        """The latest round of each deal and seat that has any, a withdrawal too."""
        query = select(negotiation_rounds).where(_COLUMNS.service == self.service).order_by(_COLUMNS.number)
        return {(row.deal_id, row.seat_id): _round(row) for row in self.rows(query)}

    def _of(self, connection: Connection, deal: DemandDeal, terms: OfferTerms) -> Negotiation:
        rounds = rounds_of(connection, self.service, [deal.id or 0])
        return Negotiation(terms, rounds.get((deal.id or 0, seat_number(deal)), ()))


def rounds_of(
    connection: Connection, service: str, deals: Collection[int]
) -> dict[tuple[int, int], tuple[Round, ...]]:
    """The rounds about these deals, by deal and seat."""
    query = select(negotiation_rounds).where(_COLUMNS.service == service, _COLUMNS.deal_id.in_(deals))
    rounds: dict[tuple[int, int], tuple[Round, ...]] = {}
    for row in connection.execute(query.order_by(_COLUMNS.number)):
        key = row.deal_id, row.seat_id
        rounds[key] = (*rounds.get(key, ()), _round(row))
    return rounds


def _offer_values(terms: OfferTerms) -> dict[str, Any]:
    """What rules compare of an offer; its days as a start and an end."""
    start = terms.first_day and datetime.combine(terms.first_day, time(), UTC)
    end = terms.last_day and datetime.combine(terms.last_day + timedelta(days=1), time(), UTC)
    values = {"price": terms.price, "units": terms.units, "start_date": start, "end_date": end}
    return {name: value for name, value in values.items() if value is not None}


def seat_number(deal: DemandDeal) -> int:
    """The seat that answers about a deal; 0 where it is not known."""
    return (deal.seat and deal.seat.id) or 0


def _buyer_terms(entity: str) -> set[str]:
    """The fields that a buyer is shown and somebody sets; a name is none of the terms."""
    internal = deal_fields.internal_names(entity, "buyer")
    return {name for name in deal_fields.writable(entity) if name not in internal and name != "name"}


def _package_terms(package: SupplyPackage, has_days: bool) -> dict[str, Any]:
    """What a buyer is shown of a package; its days too, unless they are negotiated. Targeting may have many
    elements, so what is stored is a digest: names of lists are not shown, and their order means nothing."""
    names = sorted(_buyer_terms(deal_fields.SUPPLY) - (set() if has_days else {"start_date", "end_date"}))
    values = package.model_dump(mode="json", include={*names, *TARGETING_ELEMENTS})
    targeting = [
        sorted(
            str({key: value for key, value in element.items() if key != "name"}) for element in values[name]
        )
        for name in TARGETING_ELEMENTS
    ]
    digest = sha256(repr(targeting).encode()).hexdigest()[:16]
    return {"id": package.id, **{name: values[name] for name in names}, "targeting": digest}


def check_name(name: str) -> str:
    """The name of who answers, in one line. BadRequest for one that is empty, long or unreadable."""
    return text.readable_line(name, "Your name", LONGEST_NAME)


def check_word(word: str, *, is_required: bool = False) -> str:
    """The word with an answer, in one line; empty where there is none. BadRequest as for a name."""
    return text.readable_line(word, "Your word", LONGEST_WORD) if is_required or word.strip() else ""


def _with_terms(answer: Round, offer: OfferTerms) -> Round:
    """The answer to this offer with all that it is about; the details of an acceptance by the house are those
    that the buyer answered."""
    if (answer.side, answer.act) == ("buyer", "accepts"):
        return replace(answer, terms=offer)
    terms = answer.terms
    if answer.act == "proposes" and terms.price is not None:
        terms = replace(terms, currency=offer.currency)
    if answer.side == "buyer":
        terms = replace(terms, details=offer.details)
    return replace(answer, terms=terms)


def check_answer(answer: Round, before: Negotiation) -> None:
    """BadRequest for an answer that can't be stored."""
    terms = answer.terms
    check_word(answer.word, is_required=answer.act == "declines")
    if answer.act == "withdraws":
        if not before.is_open_proposal:
            raise BadRequest("There is no proposal of ours that waits for the buyer")
        return
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
    terms = OfferTerms(row.price, row.units, row.first_day, row.last_day, row.currency, row.details)
    return Round(row.side, row.act, terms, row.who, row.word, row.link_id, row.number, row.at)
