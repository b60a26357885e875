"""Actions on several deals, with what each row was before and after."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "bulk_actions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("title", sa.String(100), nullable=False),
        sa.Column("who", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("undone_by", sa.String(64)),
        sa.Column("undone_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_bulk_actions"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_bulk_actions_service_at", "bulk_actions", ["service", "at"])
    op.create_table(
        "bulk_action_rows",
        sa.Column("action_id", KEY, nullable=False),
        sa.Column("entity", sa.String(40), nullable=False),
        sa.Column("entity_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("is_undone", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("action_id", "entity", "entity_id", name="pk_bulk_action_rows"),
        sa.ForeignKeyConstraint(
            ["action_id"], ["bulk_actions.id"], name="fk_bulk_action_rows_action_id_bulk_actions",
            ondelete="CASCADE",
        ),
    )  # fmt: skip
