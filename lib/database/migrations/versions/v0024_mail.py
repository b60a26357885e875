"""Mail: subscriptions to saved views and alerts, and messages that wait for the mail server."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)
SUBSCRIPTION: dict[str, Any] = {
    "service": sa.String(500), "owner": sa.String(64), "created": INSTANT, "recipient": sa.String(254),
    "pace": sa.String(10), "zone": sa.String(64), "minute": sa.Integer(), "weekday": sa.Integer(),
    "only_new": sa.Boolean(), "with_snapshot": sa.Boolean(), "due": INSTANT, "mark": sa.Text(),
    "failures": sa.Integer(), "problem": sa.Text(),
}  # fmt: skip
MESSAGE: dict[str, Any] = {
    "owner": sa.String(64), "recipient": sa.String(254), "project": sa.String(200),
    "slicer": sa.String(200), "body": sa.Text(), "created": INSTANT, "attempts": sa.Integer(), "due": INSTANT,
}  # fmt: skip


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "mail_subscriptions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("view_id", KEY),
        *(sa.Column(name, kind, nullable=False) for name, kind in SUBSCRIPTION.items()),
        sa.Column("sent", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_mail_subscriptions"),
        sa.ForeignKeyConstraint(
            ["view_id"],
            ["saved_views.id"],
            name="fk_mail_subscriptions_view_id_saved_views",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_mail_subscriptions_owner", "mail_subscriptions", ["owner"])
    op.create_index("ix_mail_subscriptions_view_id", "mail_subscriptions", ["view_id"])
    op.create_table(
        "mail_messages",
        sa.Column("id", KEY, nullable=False),
        sa.Column("subscription_id", KEY),
        *(sa.Column(name, kind, nullable=False) for name, kind in MESSAGE.items()),
        sa.PrimaryKeyConstraint("id", name="pk_mail_messages"),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["mail_subscriptions.id"],
            name="fk_mail_messages_subscription_id_mail_subscriptions",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_mail_messages_subscription_id", "mail_messages", ["subscription_id"])
