"""The tables of views, own metrics, share links, start pages, notes, leaderboards, alerts and mails.

`service` is the remote reporting service, of `deal_entries` the remote deals service, or empty.
"""

from typing import Any

import sqlalchemy as sa

from lib.database import Document, Instant, Key, keys, metadata, numbered_table, optional, required

SERVICE, USER, NAME = sa.String(500), sa.String(64), sa.String(100)
REPORT: dict[str, Any] = {"project": sa.String(200), "slicer": sa.String(200)}
SLICER: dict[str, Any] = {"service": SERVICE, **REPORT}
SHARED_COLUMNS: dict[str, Any] = {
    "owner": USER, "is_shared": sa.Boolean, "created": Instant, "changed": Instant
}  # fmt: skip


def _reference(column: str, table: str, *, nullable: bool) -> sa.Column[Any]:
    """A column with a row of another table, with which its own goes too."""
    return sa.Column(column, Key, sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=nullable)


def _start(name: str, column: str, table: str) -> sa.Table:
    """The table of who begins at which row of another table."""
    choice = _reference(column, table, nullable=False)
    return sa.Table(name, metadata, *keys(username=USER, service=SERVICE), choice, *required(at=Instant))


saved_views = numbered_table(
    "saved_views",
    *required(**SLICER, name=NAME, params=Document, **SHARED_COLUMNS),
    sa.Index(None, "service", "project", "slicer"),
)
boards = numbered_table(
    "boards",
    *required(service=SERVICE, name=NAME, cells=Document, params=Document, **SHARED_COLUMNS),
    sa.Index(None, "service"),
)
deal_entries = numbered_table(
    "deal_entries",
    *required(service=SERVICE, kind=sa.String(20), name=NAME, body=Document, **SHARED_COLUMNS),
    sa.Index(None, "service", "kind"),
)
own_metrics = numbered_table(
    "own_metrics",
    *required(**SLICER, name=NAME, formula=sa.Text, unit=sa.String(20), digits=sa.Integer, **SHARED_COLUMNS),
    sa.Index(None, "service", "project", "slicer"),
)
share_links = numbered_table(
    "share_links",
    *required(**SLICER, name=NAME, params=Document, origins=Document, secret_hash=sa.String(64)),
    *required(owner=USER, created=Instant, expires=Instant),
    *optional(opened=Instant, deal=sa.BigInteger, deals_service=sa.String(500), recipient=sa.String(254)),
    *optional(seat=sa.BigInteger, grants=Document),
    sa.Column("wrong_codes", sa.Integer, nullable=False, default=0, server_default="0"),
    sa.Index(None, "service", "owner"),
)
link_codes = numbered_table(
    "link_codes", _reference("link_id", "share_links", nullable=False),
    *required(code_hash=sa.String(64), made=Instant), sa.Index(None, "link_id"),
)  # fmt: skip
link_visits = sa.Table(
    "link_visits", metadata, *keys(key_hash=sa.String(64)), *required(link_id=sa.BigInteger, expires=Instant)
)
chosen_cards = sa.Table(
    "chosen_cards", metadata, *keys(username=USER, **SLICER), *required(cards=sa.Text, at=Instant)
)
mail_messages = numbered_table(
    "mail_messages",
    *required(owner=USER, recipient=sa.String(254), **REPORT),
    *required(body=sa.Text, created=Instant, attempts=sa.Integer, due=Instant),
    *optional(deal=sa.BigInteger, seat=sa.BigInteger),
)


start_views = _start("start_views", "view_id", "saved_views")
start_boards = _start("start_boards", "board_id", "boards")


notes = numbered_table(
    "notes", *required(**SLICER, day=sa.Date, text=sa.Text, owner=USER, created=Instant),
    _reference("view_id", "saved_views", nullable=True),
    sa.Index(None, "service", "project", "slicer", "day"), sa.Index(None, "view_id"),
)  # fmt: skip

alerts = numbered_table(
    "alerts", _reference("view_id", "saved_views", nullable=False),
    *required(owner=USER, created=Instant, field=sa.String(500), figure=Document, rule=sa.String(20)),
    *optional(bound=sa.Double), *required(state=sa.String(20)),
    *optional(since=Instant, value=sa.Double, low=sa.Double, high=sa.Double), *required(problem=sa.Text),
    *optional(checked=Instant, rows_key=sa.String(64)), sa.UniqueConstraint("view_id", "owner"),
    sa.Index(None, "owner"),
)  # fmt: skip
alert_messages = numbered_table(
    "alert_messages", _reference("alert_id", "alerts", nullable=False),
    *required(event=Document, attempts=sa.Integer, due=Instant), sa.Index(None, "alert_id"),
)  # fmt: skip


mail_subscriptions = numbered_table(
    "mail_subscriptions", *required(service=SERVICE), _reference("view_id", "saved_views", nullable=True),
    *required(owner=USER, created=Instant, recipient=sa.String(254), pace=sa.String(10), zone=sa.String(64)),
    *required(minute=sa.Integer, weekday=sa.Integer, only_new=sa.Boolean, with_snapshot=sa.Boolean),
    *required(due=Instant, mark=Document, failures=sa.Integer, problem=sa.Text), *optional(sent=Instant),
    _reference("board_id", "boards", nullable=True), *required(request=Document), sa.Index(None, "owner"),
    sa.Index(None, "view_id"), sa.Index(None, "board_id"),
)  # fmt: skip
