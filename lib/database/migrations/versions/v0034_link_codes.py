"""Share links that are limited to one address, their codes and visits."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """Add the column, and make the tables."""
    op.add_column("share_links", sa.Column("recipient", sa.String(254)))
    op.create_table(
        "link_codes",
        sa.Column("link_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("made", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("link_id", name="pk_link_codes"),
    )
    op.create_table(
        "link_visits",
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("link_id", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key_hash", name="pk_link_visits"),
    )
