"""What DSPs were told of deals, and what they said."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0013"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "synced_deals",
        sa.Column("deal_id", sa.String(40), nullable=False),
        sa.Column("seat_id", KEY, nullable=False),
        sa.Column("demand_deal_id", KEY, nullable=False),
        sa.Column("buyer_seat", sa.String(200), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True)),
        sa.Column("fetched_by", sa.String(64)),
        sa.Column("status", sa.Integer()),
        sa.Column("status_at", sa.DateTime(timezone=True)),
        sa.Column("status_by", sa.String(64)),
        sa.PrimaryKeyConstraint("deal_id", "seat_id", name="pk_synced_deals"),
    )
