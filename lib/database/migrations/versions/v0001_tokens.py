"""The table of tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the table, with an index for each way in which tokens are looked for."""
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("prefix", sa.String(40), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("service", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(9), nullable=False),
        sa.Column("grants", sa.JSON, nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("expires", INSTANT),
        sa.Column("last_used", INSTANT),
        sa.Column("revoked", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
        sa.CheckConstraint("kind in ('permanent', 'temporary')", name="ck_tokens_kind"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tokens_owner", "tokens", ["owner"])
    op.create_index("ix_tokens_kind_expires", "tokens", ["kind", "expires"])
