"""Changes of packages and deals that were begun, and ends that somebody is asked about.

A date without a time means through that day since; before, it was stored as the first moment of that day.
Which of the ends at midnight were typed as a date nobody can tell, so those that are still to come are asked
about once.
"""

from datetime import UTC, datetime, time, timedelta

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key, keys, optional, required

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    """Make the tables, and note the ends at midnight in their own zone."""
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "change_drafts",
        *keys(
            username=sa.String(64), service=sa.String(500), entity=sa.String(40), entity_id=sa.BigInteger()
        ),
        *required(at=instant, body=sa.Text()),
    )
    unclear_ends = op.create_table(
        "unclear_ends",
        sa.Column("package_id", Key, primary_key=True),
        *required(end_date=instant),
        *optional(answer=sa.String(10), who=sa.String(64), at=instant),
        sa.ForeignKeyConstraint(["package_id"], ["supply_packages.id"], ondelete="CASCADE"),
    )
    packages = sa.table(
        "supply_packages",
        sa.column("id", Key),
        sa.column("end_date", instant),
        sa.column("end_date_offset", sa.Integer()),
    )
    ends = [
        {"package_id": row.id, "end_date": end}
        for row in op.get_bind().execute(sa.select(packages).where(packages.c.end_date.is_not(None)))
        for end in [row.end_date.replace(tzinfo=row.end_date.tzinfo or UTC)]
        if end > datetime.now(UTC)
        and (end.astimezone(UTC) + timedelta(minutes=row.end_date_offset or 0)).time() == time()
    ]
    if ends and unclear_ends is not None:
        op.bulk_insert(unclear_ends, ends)
