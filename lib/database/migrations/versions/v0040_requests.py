"""Mails and messages of alerts are written when they are sent: what waits is asked for, not stored.

Of figures that were stored nobody noted under which rights: alerts are checked again, mails of views, boards
and alerts that wait are made again, and messages that wait are dropped.
"""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key, required

revision = "0040"
down_revision = "0039"
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the columns, and make both tables of messages again; mails from one person to another stay."""
    op.add_column("alerts", sa.Column("rows_key", sa.String(64)))
    op.add_column("mail_subscriptions", sa.Column("request", sa.Text(), nullable=False, server_default="{}"))
    op.drop_table("alert_messages")
    op.create_table(
        "alert_messages",
        sa.Column("id", Key, primary_key=True),
        *required(alert_id=Key, event=sa.Text(), attempts=sa.Integer(), due=INSTANT),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_alert_messages_alert_id", "alert_messages", ["alert_id"])
    columns: dict[str, Any] = {
        "owner": sa.String(64), "recipient": sa.String(254), "project": sa.String(200),
        "slicer": sa.String(200), "body": sa.Text(), "created": INSTANT, "attempts": sa.Integer(),
        "due": INSTANT,
    }  # fmt: skip
    own = [sa.column(name, kind) for name, kind in columns.items()]
    waiting = sa.table("mail_messages", sa.column("id"), sa.column("subscription_id"), *own)
    rows = op.get_bind().execute(sa.select(waiting).order_by(waiting.c.id)).mappings().all()
    subscriptions = sa.table("mail_subscriptions", *map(sa.column, ("id", "due", "mark")))
    again = {row["subscription_id"] for row in rows} - {None}
    change = sa.update(subscriptions).where(subscriptions.c.id.in_(again))
    op.execute(change.values(due=sa.bindparam(None, datetime.now(UTC), INSTANT), mark='{"data": ""}'))
    op.drop_table("mail_messages")
    table = op.create_table(
        "mail_messages",
        sa.Column("id", Key, primary_key=True),
        *required(**columns),
        sqlite_autoincrement=True,
    )
    stay = [{name: row[name] for name in columns} for row in rows if row["subscription_id"] is None]
    if stay:
        op.bulk_insert(table, stay)
