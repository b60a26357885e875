"""Guaranteed and preferred deals whose price was none or a floor: it is fixed, and their histories say so.

With the later version and time their DSPs are sent them again.
"""

import json
import logging
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key

revision = "0044"
down_revision = "0043"
log = logging.getLogger(__name__)
INSTANT, WHO = sa.DateTime(timezone=True), "Tranche 0.1.0"


def upgrade() -> None:
    """Write the price type, with a line in the history of each deal."""
    deals = sa.table(
        "demand_deals", sa.column("id", Key), sa.column("name"), sa.column("deal_type"),
        sa.column("price_type"), sa.column("version", sa.Integer), sa.column("updated_at", INSTANT),
    )  # fmt: skip
    changes = sa.table(
        "changes", sa.column("entity"), sa.column("entity_id", Key), sa.column("version", sa.Integer),
        sa.column("at", INSTANT), sa.column("who"), sa.column("action"), sa.column("before"),
        sa.column("after"),
    )  # fmt: skip
    is_wrong = deals.c.deal_type.in_(("guaranteed", "preferred")) & (
        deals.c.price_type.is_(None) | (deals.c.price_type == "floor")
    )
    connection, now = op.get_bind(), datetime.now(UTC)
    rows = connection.execute(sa.select(deals).where(is_wrong).order_by(deals.c.id)).all()
    if not rows:
        return
    values = {"price_type": "fixed", "version": deals.c.version + 1, "updated_at": now}
    connection.execute(sa.update(deals).where(is_wrong).values(values))
    lines = [
        {
            "entity": "demand_deals", "entity_id": row.id, "version": row.version + 1, "at": now, "who": WHO,
            "action": "changed", "before": json.dumps({"price_type": row.price_type}),
            "after": json.dumps({"price_type": "fixed"}),
        }
        for row in rows
    ]  # fmt: skip
    connection.execute(sa.insert(changes), lines)
    names = ", ".join(f"{row.id} '{row.name}'" for row in rows)
    log.warning("The price of these guaranteed and preferred deals is fixed now: %s", names)
