"""The tables of views, own metrics, share links, start pages, notes, leaderboards, alerts and mails.

`service` is the remote reporting service, of `deal_entries` the remote deals service, or empty.
"""

from typing import Any

from sqlalchemy import (
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

SERVICE, USER, NAME = String(500), String(64), String(100)
REPORT: dict[str, Any] = {"project": String(200), "slicer": String(200)}
SLICER: dict[str, Any] = {"service": SERVICE, **REPORT}
SHARED: dict[str, Any] = {"owner": USER, "is_shared": Boolean, "created": Instant, "changed": Instant}


def _numbered(name: str, *parts: Any) -> Table:
    """A table whose rows have an id."""
    return Table(name, metadata, Column("id", Key, primary_key=True), *parts, sqlite_autoincrement=True)


def _columns(**kinds: Any) -> list[Column[Any]]:
    """Columns that can't be NULL, by their types."""
    return [Column(name, kind, nullable=False) for name, kind in kinds.items()]


def _keys(**kinds: Any) -> list[Column[Any]]:
    """The columns of a primary key, by their types."""
    return [Column(name, kind, primary_key=True) for name, kind in kinds.items()]


def _view_id(nullable: bool) -> Column[Any]:
    return Column("view_id", Key, ForeignKey("saved_views.id", ondelete="CASCADE"), nullable=nullable)


saved_views = _numbered(
    "saved_views",
    *_columns(**SLICER, name=NAME, params=Document, **SHARED),
    Index(None, "service", "project", "slicer"),
)

deal_entries = _numbered(
    "deal_entries",
    *_columns(service=SERVICE, kind=String(20), name=NAME, body=Document, **SHARED),
    Index(None, "service", "kind"),
)

own_metrics = _numbered(
    "own_metrics",
    *_columns(**SLICER, name=NAME, formula=Text, unit=String(20), digits=Integer, **SHARED),
    Index(None, "service", "project", "slicer"),
)

share_links = _numbered(
    "share_links",
    *_columns(**SLICER, name=NAME, params=Document, origins=Document, secret_hash=String(64)),
    *_columns(owner=USER, created=Instant, expires=Instant),
    Column("opened", Instant),
    Index(None, "service", "owner"),
)

start_views = Table(
    "start_views",
    metadata,
    *_keys(username=USER, service=SERVICE),
    _view_id(nullable=False),
    *_columns(at=Instant),
)

chosen_cards = Table(
    "chosen_cards", metadata, *_keys(username=USER, **SLICER), *_columns(cards=Text, at=Instant)
)

notes = _numbered(
    "notes",
    *_columns(**SLICER, day=Date, text=Text, owner=USER, created=Instant),
    _view_id(nullable=True),
    Index(None, "service", "project", "slicer", "day"),
    Index(None, "view_id"),
)

alerts = _numbered(
    "alerts",
    _view_id(nullable=False),
    *_columns(owner=USER, created=Instant, field=String(500), figure=Document, rule=String(20)),
    Column("bound", Double),
    *_columns(state=String(20)),
    Column("since", Instant),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    *_columns(problem=Text),
    Column("checked", Instant),
    UniqueConstraint("view_id", "owner"),
    Index(None, "owner"),
)

alert_messages = _numbered("alert_messages", *_columns(body=Text, attempts=Integer, due=Instant))

mail_subscriptions = _numbered(
    "mail_subscriptions",
    *_columns(service=SERVICE),
    _view_id(nullable=True),
    *_columns(owner=USER, created=Instant, recipient=String(254), pace=String(10), zone=String(64)),
    *_columns(minute=Integer, weekday=Integer, only_new=Boolean, with_snapshot=Boolean),
    *_columns(due=Instant, mark=Document, failures=Integer, problem=Text),
    Column("sent", Instant),
    Index(None, "owner"),
    Index(None, "view_id"),
)

mail_messages = _numbered(
    "mail_messages",
    Column("subscription_id", Key, ForeignKey("mail_subscriptions.id", ondelete="CASCADE")),
    *_columns(owner=USER, recipient=String(254), **REPORT),
    *_columns(body=Text, created=Instant, attempts=Integer, due=Instant),
    Index(None, "subscription_id"),
)
