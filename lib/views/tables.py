"""The tables of views, own metrics, share links, start pages, notes, leaderboards, alerts and mails.

`service` is the remote reporting service, of `deal_entries` the remote deals service, or empty.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from lib.database import Document, Instant, Key, metadata

saved_views = Table(
    "saved_views",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("project", String(200), nullable=False),
    Column("slicer", String(200), nullable=False),
    Column("name", String(100), nullable=False),
    Column("params", Document, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("created", Instant, nullable=False),
    Column("changed", Instant, nullable=False),
    Index(None, "service", "project", "slicer"),
    sqlite_autoincrement=True,
)

deal_entries = Table(
    "deal_entries",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("name", String(100), nullable=False),
    Column("body", Document, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("created", Instant, nullable=False),
    Column("changed", Instant, nullable=False),
    Index(None, "service", "kind"),
    sqlite_autoincrement=True,
)

own_metrics = Table(
    "own_metrics",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("project", String(200), nullable=False),
    Column("slicer", String(200), nullable=False),
    Column("name", String(100), nullable=False),
    Column("formula", Text, nullable=False),
    Column("unit", String(20), nullable=False),
    Column("digits", Integer, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("created", Instant, nullable=False),
    Column("changed", Instant, nullable=False),
    Index(None, "service", "project", "slicer"),
    sqlite_autoincrement=True,
)

share_links = Table(
    "share_links",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("project", String(200), nullable=False),
    Column("slicer", String(200), nullable=False),
    Column("name", String(100), nullable=False),
    Column("params", Document, nullable=False),
    Column("origins", Document, nullable=False),
    Column("secret_hash", String(64), nullable=False),
    Column("owner", String(64), nullable=False),
    Column("created", Instant, nullable=False),
    Column("expires", Instant, nullable=False),
    Column("opened", Instant),
    Column("deal", BigInteger),
    Column("deals_service", String(500)),
    Index(None, "service", "owner"),
    sqlite_autoincrement=True,
)

start_views = Table(
    "start_views",
    metadata,
    Column("username", String(64), primary_key=True),
    Column("service", String(500), primary_key=True),
    Column("view_id", Key, ForeignKey("saved_views.id", ondelete="CASCADE"), nullable=False),
    Column("at", Instant, nullable=False),
)

chosen_cards = Table(
    "chosen_cards",
    metadata,
    Column("username", String(64), primary_key=True),
    Column("service", String(500), primary_key=True),
    Column("project", String(200), primary_key=True),
    Column("slicer", String(200), primary_key=True),
    Column("cards", Text, nullable=False),
    Column("at", Instant, nullable=False),
)

notes = Table(
    "notes",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("project", String(200), nullable=False),
    Column("slicer", String(200), nullable=False),
    Column("day", Date, nullable=False),
    Column("text", Text, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("created", Instant, nullable=False),
    Column("view_id", Key, ForeignKey("saved_views.id", ondelete="CASCADE")),
    Index(None, "service", "project", "slicer", "day"),
    Index(None, "view_id"),
    sqlite_autoincrement=True,
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", Key, primary_key=True),
    Column("view_id", Key, ForeignKey("saved_views.id", ondelete="CASCADE"), nullable=False),
    Column("owner", String(64), nullable=False),
    Column("created", Instant, nullable=False),
    Column("field", String(500), nullable=False),
    Column("figure", Document, nullable=False),
    Column("rule", String(20), nullable=False),
    Column("bound", Double),
    Column("state", String(20), nullable=False),
    Column("since", Instant),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    Column("problem", Text, nullable=False),
    Column("checked", Instant),
    UniqueConstraint("view_id", "owner"),
    Index(None, "owner"),
    sqlite_autoincrement=True,
)

alert_messages = Table(
    "alert_messages",
    metadata,
    Column("id", Key, primary_key=True),
    Column("body", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", Instant, nullable=False),
    sqlite_autoincrement=True,
)

mail_subscriptions = Table(
    "mail_subscriptions",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("view_id", Key, ForeignKey("saved_views.id", ondelete="CASCADE")),
    Column("owner", String(64), nullable=False),
    Column("created", Instant, nullable=False),
    Column("recipient", String(254), nullable=False),
    Column("pace", String(10), nullable=False),
    Column("zone", String(64), nullable=False),
    Column("minute", Integer, nullable=False),
    Column("weekday", Integer, nullable=False),
    Column("only_new", Boolean, nullable=False),
    Column("with_snapshot", Boolean, nullable=False),
    Column("due", Instant, nullable=False),
    Column("mark", Document, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("problem", Text, nullable=False),
    Column("sent", Instant),
    Index(None, "owner"),
    Index(None, "view_id"),
    sqlite_autoincrement=True,
)

mail_messages = Table(
    "mail_messages",
    metadata,
    Column("id", Key, primary_key=True),
    Column("subscription_id", Key, ForeignKey("mail_subscriptions.id", ondelete="CASCADE")),
    Column("owner", String(64), nullable=False),
    Column("recipient", String(254), nullable=False),
    Column("project", String(200), nullable=False),
    Column("slicer", String(200), nullable=False),
    Column("body", Text, nullable=False),
    Column("created", Instant, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", Instant, nullable=False),
    Index(None, "subscription_id"),
    sqlite_autoincrement=True,
)
