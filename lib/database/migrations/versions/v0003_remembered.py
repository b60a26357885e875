"""What was made or seen here through a deals service that keeps no lists."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the journal."""
    op.create_table(
        "remembered",
        sa.Column("id", KEY, nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("entity", sa.String(20), nullable=False),
        sa.Column("entity_id", KEY, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.String(64), nullable=False),
        sa.Column("action", sa.String(10), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_remembered"),
        sqlite_autoincrement=True,
    )
    columns = ["service", "entity", "entity_id", "id"]
    op.create_index("ix_remembered_service_entity_entity_id_id", "remembered", columns)
