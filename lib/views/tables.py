"""The tables of views, own metrics, share links, start pages, notes, leaderboards, alerts and mails.

`service` is the remote reporting service, of `deal_entries` the remote deals service, or empty.
"""

from typing import Any

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

from lib.database import Document, Instant, Key, keys, metadata, numbered_table, optional, required

SERVICE, USER, NAME = String(500), String(64), String(100)
REPORT: dict[str, Any] = {"project": String(200), "slicer": String(200)}
SLICER: dict[str, Any] = {"service": SERVICE, **REPORT}
SHARED_COLUMNS: dict[str, Any] = {"owner": USER, "is_shared": Boolean, "created": Instant, "changed": Instant}


def _reference(column: str, table: str, *, nullable: bool) -> Column[Any]:
    """A column with a row of another table, with which its own goes too."""
    return Column(column, Key, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=nullable)


def _start(name: str, column: str, table: str) -> Table:
    """The table of who begins at which row of another table."""
    choice = _reference(column, table, nullable=False)
    return Table(name, metadata, *keys(username=USER, service=SERVICE), choice, *required(at=Instant))


saved_views = numbered_table(
    "saved_views",
    *required(**SLICER, name=NAME, params=Document, **SHARED_COLUMNS),
    Index(None, "service", "project", "slicer"),
)
boards = numbered_table(
    "boards",
    *required(service=SERVICE, name=NAME, cells=Document, params=Document, **SHARED_COLUMNS),
    Index(None, "service"),
)
deal_entries = numbered_table(
    "deal_entries",
    *required(service=SERVICE, kind=String(20), name=NAME, body=Document, **SHARED_COLUMNS),
    Index(None, "service", "kind"),
)
own_metrics = numbered_table(
    "own_metrics",
    *required(**SLICER, name=NAME, formula=Text, unit=String(20), digits=Integer, **SHARED_COLUMNS),
    Index(None, "service", "project", "slicer"),
)
share_links = numbered_table(
    "share_links",
    *required(**SLICER, name=NAME, params=Document, origins=Document, secret_hash=String(64)),
    *required(owner=USER, created=Instant, expires=Instant),
    *optional(opened=Instant, deal=BigInteger, deals_service=String(500), recipient=String(254)),
    *optional(seat=BigInteger, grants=Document),
    Column("wrong_codes", Integer, nullable=False, default=0, server_default="0"),
    Index(None, "service", "owner"),
)
link_codes = numbered_table(
    "link_codes",
    _reference("link_id", "share_links", nullable=False),
    *required(code_hash=String(64), made=Instant),
    Index(None, "link_id"),
)
link_visits = Table(
    "link_visits", metadata, *keys(key_hash=String(64)), *required(link_id=BigInteger, expires=Instant)
)
chosen_cards = Table(
    "chosen_cards", metadata, *keys(username=USER, **SLICER), *required(cards=Text, at=Instant)
)
mail_messages = numbered_table(
    "mail_messages",
    *required(owner=USER, recipient=String(254), **REPORT),
    *required(body=Text, created=Instant, attempts=Integer, due=Instant),
    *optional(deal=BigInteger, seat=BigInteger),
)


start_views = _start("start_views", "view_id", "saved_views")
start_boards = _start("start_boards", "board_id", "boards")


notes = numbered_table(
    "notes",
    *required(**SLICER, day=Date, text=Text, owner=USER, created=Instant),
    _reference("view_id", "saved_views", nullable=True),
    Index(None, "service", "project", "slicer", "day"),
    Index(None, "view_id"),
)

alerts = numbered_table(
    "alerts",
    _reference("view_id", "saved_views", nullable=False),
    *required(owner=USER, created=Instant, field=String(500), figure=Document, rule=String(20)),
    *optional(bound=Double),
    *required(state=String(20)),
    *optional(since=Instant, value=Double, low=Double, high=Double),
    *required(problem=Text),
    *optional(checked=Instant, rows_key=String(64)),
    UniqueConstraint("view_id", "owner"),
    Index(None, "owner"),
)
alert_messages = numbered_table(
    "alert_messages",
    _reference("alert_id", "alerts", nullable=False),
    *required(event=Document, attempts=Integer, due=Instant),
    Index(None, "alert_id"),
)


mail_subscriptions = numbered_table(
    "mail_subscriptions",
    *required(service=SERVICE),
    _reference("view_id", "saved_views", nullable=True),
    *required(owner=USER, created=Instant, recipient=String(254), pace=String(10), zone=String(64)),
    *required(minute=Integer, weekday=Integer, only_new=Boolean, with_snapshot=Boolean),
    *required(due=Instant, mark=Document, failures=Integer, problem=Text),
    *optional(sent=Instant),
    _reference("board_id", "boards", nullable=True),
    *required(request=Document),
    Index(None, "owner"),
    Index(None, "view_id"),
    Index(None, "board_id"),
)
