"""Saved lists of deals and templates of packages; after 0016, which came first."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0016"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "deal_entries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("changed", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deal_entries"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_deal_entries_service_kind", "deal_entries", ["service", "kind"])
