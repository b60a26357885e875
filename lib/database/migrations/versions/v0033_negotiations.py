"""What buyers answer about their deals, and what is answered back."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "negotiation_rounds",
        sa.Column("service", sa.String(500), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)
            for name in ("deal_id", "seat_id", "number")
        ),
        sa.Column("side", sa.String(10), nullable=False),
        sa.Column("act", sa.String(10), nullable=False),
        sa.Column("price", sa.BigInteger()),
        sa.Column("units", sa.BigInteger()),
        sa.Column("first_day", sa.Date()),
        sa.Column("last_day", sa.Date()),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("link_id", sa.BigInteger()),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("service", "deal_id", "seat_id", "number", name="pk_negotiation_rounds"),
    )
