"""Proposals: changes of deals that somebody else approves."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "proposals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("entity", sa.String(20), nullable=False),
        sa.Column("entity_id", sa.BigInteger()),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "fields", "before", "reason")),
        *(sa.Column(name, sa.Text()) for name in ("question", "expected")),
        sa.Column("by", sa.String(64), nullable=False),
        sa.Column("made_with", sa.Integer()),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("decided_by", sa.String(64)),
        sa.Column("decided_at", INSTANT),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("applied_id", sa.BigInteger()),
        sa.Column("is_edited", sa.Boolean(), nullable=False),
        sa.Column("actual", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_proposals_service_state", "proposals", ["service", "state"])
