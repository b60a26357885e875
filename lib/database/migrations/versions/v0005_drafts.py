"""Packages that were begun and not created yet."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "drafts",
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("username", "service", name="pk_drafts"),
    )
