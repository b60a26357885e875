"""Deal dossiers: share links about one deal, and what its buyer counts by day."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Add the columns, and make the table."""
    op.add_column("share_links", sa.Column("deal", sa.BigInteger()))
    op.add_column("share_links", sa.Column("deals_service", sa.String(500)))
    op.create_table(
        "buyer_counts",
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("deal_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seat_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(sa.Column(name, sa.BigInteger()) for name in ("requests", "bids", "wins", "spend")),
        sa.Column("link_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("service", "deal_id", "seat_id", "day", name="pk_buyer_counts"),
    )
