"""What buyers count of their deals by day, as they entered it through share links: kept for every service.

A deal is one seat's: what the buyer of another seat entered before stays with that seat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from statistics import median
from typing import Any

from sqlalchemy import BigInteger, Date, String, Table, Update, delete, insert, select, update

from lib.database import Amount, DatabaseScope, Instant, keys, metadata, optional, required
from lib.deals.models import DemandDeal
from lib.deals.negotiation import seat_number
from lib.deals.store.tables import deal_health
from lib.wire.errors import BadRequest

MOST_DAYS = 400
LARGEST_COUNT = 10**15
LARGEST_SPEND = Decimal(10**12)
NOUNS = {"requests": "bid requests", "bids": "bids", "wins": "wins", "spend": "spend"}

buyer_counts = Table(
    "buyer_counts", metadata, *keys(service=String(500), deal_id=BigInteger, seat_id=BigInteger, day=Date),
    *optional(requests=BigInteger, bids=BigInteger, wins=BigInteger, spend=Amount),
    *required(link_id=BigInteger, at=Instant),
)  # fmt: skip


@dataclass(frozen=True)
class DayCounts:
    """A buyer's counts of one day, None where there is none; `spend` is in the report's currency."""

    requests: int | None = None
    bids: int | None = None
    wins: int | None = None
    spend: Decimal | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted at all."""
        return (self.requests, self.bids, self.wins, self.spend) == (None, None, None, None)


@dataclass(frozen=True)
class EnteredCounts:
    """All counts of a deal's buyer by day; when the last were entered and through which share link (its
    number), None without any; `late` is after how many days a day is usually entered."""

    days: Mapping[date, DayCounts]
    at: datetime | None = None
    link: int | None = None
    late: int | None = None


@dataclass(frozen=True)
class BuyerCounts(DatabaseScope):
    """The counts about deals of the deals service at `service` (empty: the embedded one).

    It knows no deals: ask only for those that the person, or the owner of the link, may see.
    """

    service: str

    def of(self, deal: DemandDeal) -> EnteredCounts:
        """The counts of the deal's buyer."""
        return self.of_deals([deal]).get(deal.id or 0, EnteredCounts({}))

    def of_deals(self, deals: Sequence[DemandDeal]) -> dict[int, EnteredCounts]:
        """The counts of these deals' buyers by the deal's id, of those that entered any."""
        table, seats = buyer_counts.c, {deal.id or 0: seat_number(deal) for deal in deals}
        query = select(buyer_counts).where(table.service == self.service, table.deal_id.in_(seats))
        rows_of_deal: dict[int, list[Any]] = {}
        for row in self.rows(query.order_by(table.day)):
            if row.seat_id == seats[row.deal_id]:
                rows_of_deal.setdefault(row.deal_id, []).append(row)
        counts = {}
        for deal, rows in rows_of_deal.items():
            latest = max(rows, key=lambda row: row.at)
            days = {row.day: DayCounts(row.requests, row.bids, row.wins, row.spend) for row in rows}
            late = round(median((row.at.date() - row.day).days for row in rows))
            counts[deal] = EnteredCounts(days, latest.at, latest.link_id, late)
        return counts

    def enter(self, deal: DemandDeal, days: Mapping[date, DayCounts], link: int) -> None:
        """Store these days in place of what was entered for them; empty ones are removed.

        BadRequest beyond 400 days of a deal.
        """
        now = datetime.now(UTC)
        key = {"service": self.service, "deal_id": deal.id, "seat_id": seat_number(deal), "link_id": link}
        rows = [
            {**key, "at": now, "day": day, **asdict(counts)}
            for day, counts in days.items()
            if not counts.is_empty
        ]

        with self.write() as connection:
            connection.execute(delete(buyer_counts).where(*self._of(deal), buyer_counts.c.day.in_([*days])))
            if rows:
                connection.execute(insert(buyer_counts), rows)
            if len(connection.execute(select(buyer_counts.c.day).where(*self._of(deal))).all()) > MOST_DAYS:
                raise BadRequest(f"Counts of {MOST_DAYS} days can be stored: remove some first")
            connection.execute(self._judge_again(deal, now))

    def remove(self, deal: DemandDeal) -> None:
        """Remove all counts of the deal's buyer."""
        removal = delete(buyer_counts).where(*self._of(deal))
        self.execute(removal, self._judge_again(deal, datetime.now(UTC)))

    def _judge_again(self, deal: DemandDeal, now: datetime) -> Update:
        """Let the stored health of the deal, which depends on these counts, be computed again."""
        mine = deal_health.c.deal_id == (0 if self.service else deal.id)
        return update(deal_health).where(mine).values(until=now)

    def _of(self, deal: DemandDeal) -> tuple[Any, ...]:
        table = buyer_counts.c
        return table.service == self.service, table.deal_id == deal.id, table.seat_id == seat_number(deal)
