"""A draft like a package that is there: each of its deals on its own terms."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone

from lib.deals.models import LONGEST_NAME, DemandDeal, SupplyPackage, shortened
from lib.ui.deals.draft import Draft, OwnTerms, Terms
from lib.ui.kit import amounts, times

COPY = " (copy)"


def copy_of(package: SupplyPackage, deals: Sequence[DemandDeal]) -> Draft:
    """The draft. What most deals share is the form's; the others keep what they have of their own."""
    start = package.start_date or datetime.now(UTC)
    offset = start.utcoffset() or timedelta(0)
    zone = timezone(offset)
    first = max(start, datetime.now(UTC)).astimezone(zone).replace(microsecond=0, second=0)
    bought = {deal.seat.id: deal for deal in deals if deal.seat is not None and deal.seat.id is not None}
    shared = _shared(bought.values())
    return Draft(
        name=f"{shortened(package.name or '', LONGEST_NAME - len(COPY))}{COPY}",
        media_type=package.media_type,
        start=times.typed(first.replace(tzinfo=None)),
        end=times.typed(package.end_date and package.end_date.astimezone(zone).replace(tzinfo=None)),
        offset=int(offset.total_seconds() // 60),
        is_active=bool(package.is_active),
        is_dynamic_bidding=bool(package.is_dynamic_bidding),
        is_true_price_opt_enable=bool(package.is_true_price_opt_enable),
        targeting=package,
        deals="new" if bought else "none",
        seats={seat: _terms(deal, shared) for seat, deal in bought.items()},
        fee_type=shared.fee_type,
        fee=shared.fee,
        contact_email=shared.contact_email,
    )


def note(deals: Sequence[DemandDeal]) -> str:
    """Parts of these deals that a copy lacks, in sentences; empty if none."""
    seats = Counter(deal.seat.id for deal in deals if deal.seat is not None and deal.seat.id is not None)
    sentences = []
    if several := [seat for seat, count in seats.items() if count > 1]:
        names = [
            next(d.seat.name or f"Seat {s}" for d in deals if d.seat and d.seat.id == s) for s in several
        ]
        sentences.append(
            f"Several deals are for the same seat ({', '.join(names)}): the copy has the last of each."
        )
    if odd := [deal.name or f"Deal {deal.id}" for deal in deals if "agency_curation_fee_type" in deal.unread]:
        sentences.append(f"A fee that Tranche can't read is not copied: {', '.join(odd)}.")
    if lost := [
        deal.name or f"Deal {deal.id}" for deal in deals if deal.seat is None or deal.seat.id is None
    ]:
        sentences.append(f"Without a known seat, and not copied: {', '.join(lost)}.")
    return " ".join(sentences)


def _shared(deals: Iterable[DemandDeal]) -> OwnTerms:
    """The terms that most of the active deals have: only active ones are created with a package."""
    counted = Counter(_own(deal) for deal in deals if deal.is_active is not False)
    return counted.most_common(1)[0][0] if counted else OwnTerms()


def _terms(deal: DemandDeal, shared: OwnTerms) -> Terms:
    own = _own(deal)
    return Terms(amounts.typed(deal.price), bool(deal.deal_sync), None if own == shared else own)


def _own(deal: DemandDeal) -> OwnTerms:
    return OwnTerms(
        is_active=deal.is_active is not False,
        fee_type=deal.agency_curation_fee_type,
        fee=amounts.typed(deal.agency_curation_fee),
        contact_email=deal.contact_email or "",
    )
