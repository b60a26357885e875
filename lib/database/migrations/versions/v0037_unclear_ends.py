"""Changes of packages and deals that were begun, and ends that somebody is asked about.

A date without a time means through that day since; before, it was stored as the first moment of that day.
Which of the ends at midnight were typed as a date nobody can tell, so those that are still to come are asked
about once.
"""

from datetime import UTC, datetime, time, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    """Make the tables, and note the ends at midnight in their own zone."""
    op.create_table(
        "change_drafts",
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("entity", sa.String(40), nullable=False),
        sa.Column("entity_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("username", "service", "entity", "entity_id", name="pk_change_drafts"),
    )
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    unclear_ends = op.create_table(
        "unclear_ends",
        sa.Column("package_id", key, nullable=False),
        sa.Column("end_date", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.String(10)),
        sa.Column("who", sa.String(64)),
        sa.Column("at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("package_id", name="pk_unclear_ends"),
        sa.ForeignKeyConstraint(
            ["package_id"], ["supply_packages.id"], ondelete="CASCADE",
            name="fk_unclear_ends_package_id_supply_packages",
        ),
    )  # fmt: skip
    packages = sa.table(
        "supply_packages",
        sa.column("id", key),
        sa.column("end_date", sa.DateTime(timezone=True)),
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
