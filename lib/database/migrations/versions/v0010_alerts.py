"""Alerts on figures of saved views, and the messages about them that wait to be sent."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "alerts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("view_id", KEY, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("field", sa.String(500), nullable=False),
        sa.Column("figure", sa.Text(), nullable=False),
        sa.Column("rule", sa.String(20), nullable=False),
        sa.Column("bound", sa.Double()),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("since", INSTANT),
        *(sa.Column(name, sa.Double()) for name in ("value", "low", "high")),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("checked", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
        sa.UniqueConstraint("view_id", "owner", name="uq_alerts_view_id_owner"),
        sa.ForeignKeyConstraint(
            ["view_id"], ["saved_views.id"], name="fk_alerts_view_id_saved_views", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_alerts_owner", "alerts", ["owner"])
    op.create_table(
        "alert_messages",
        sa.Column("id", KEY, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_messages"),
        sqlite_autoincrement=True,
    )
