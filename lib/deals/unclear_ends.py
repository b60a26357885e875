"""Ends that may mean through their day, as dates were stored before, or its first moment: asked about once.

The migration that brought the rule has noted them: ends at midnight, still to come. An answer is kept with
who gave it, and nobody is asked again.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Column, ForeignKey, String, Table, select, update

from lib.database import DatabaseScope, Instant, Key, metadata, optional, required
from lib.deals.store.tables import supply_packages
from lib.people import Person

EndAnswer = Literal["day", "moment"]
BATCH_SIZE = 500
unclear_ends = Table(
    "unclear_ends",
    metadata,
    Column("package_id", Key, ForeignKey("supply_packages.id", ondelete="CASCADE"), primary_key=True),
    *required(end_date=Instant),
    *optional(answer=String(10), who=String(64), at=Instant),
)


@dataclass(frozen=True)
class UnclearEnds(DatabaseScope):
    """The ends of the embedded service's packages that this person may be asked about.

    It does not know which packages somebody may see: read them by a client.
    """

    person: Person

    def packages(self) -> list[int]:
        """The ids of packages whose end is to come, as it was noted, and not answered for."""
        if not self.person.deals.writes:
            return []
        end = unclear_ends.c
        query = (
            select(end.package_id)
            .join(supply_packages, supply_packages.c.id == end.package_id)
            .where(end.answer.is_(None), end.end_date == supply_packages.c.end_date)
            .where(end.end_date > datetime.now(UTC))
            .order_by(end.end_date, end.package_id)
        )
        return [row.package_id for row in self.rows(query)]

    def answer(self, packages: Collection[int], answer: EndAnswer) -> None:
        """Keep what the ends of these packages mean. Forbidden for who may not change deals."""
        self.person.check_writes_deals()
        values = {"answer": answer, "who": self.person.username, "at": datetime.now(UTC)}
        ids, end = sorted(packages), unclear_ends.c
        self.execute(
            *(
                update(unclear_ends)
                .where(end.package_id.in_(ids[first : first + BATCH_SIZE]), end.answer.is_(None))
                .values(values)
                for first in range(0, len(ids), BATCH_SIZE)
            )
        )
