"""Share links: questions that people without an account may open, by a secret whose hash is stored."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)
LENGTHS = {"service": 500, "project": 200, "slicer": 200, "name": 100}


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "share_links",
        sa.Column("id", KEY, nullable=False),
        *(sa.Column(name, sa.String(length), nullable=False) for name, length in LENGTHS.items()),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("origins", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("expires", INSTANT, nullable=False),
        sa.Column("opened", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_share_links"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_share_links_service_owner", "share_links", ["service", "owner"])
