"""The tables of the deals API; the columns of plain fields come from fields.py.

Every entity counts its own changes (`version`). A deal id is written down for good when it is given, so
that none is given twice. What others depend on can't be deleted: the database itself refuses it. A search
looks in `folded`: SQLite folds no case beyond ASCII. Of packages it looks in `targets` too, the values of
their targeting (listing.py). The health of deals is computed elsewhere, and only kept (healths.py).
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    case,
    false,
    literal,
)

from lib.database import Amount, Document, Instant, Key, keys, metadata, numbered_table, optional, required
from lib.deals import fields
from lib.deals.delivery import FIGURES
from lib.deals.models import FIXED_PRICE_TYPES

KEEP, FOLLOW = "RESTRICT", "CASCADE"
SHORT = String(20)  # of a kind with few values, and of others that are none of these
SQL: dict[fields.FieldKind, Any] = {
    fields.SHORT_TEXT: String(200),
    fields.EMAIL: String(254),
    fields.SWITCH: Boolean,
    fields.OPEN_SWITCH: Boolean,
    fields.AMOUNT: Amount,
    fields.COUNT: Amount,
    fields.PERCENTAGE: Amount,
    fields.PRIORITY: Amount,
    fields.FEE_TYPE: Integer,
    fields.MOMENT: Instant,
    fields.END: Instant,
}
deal_ids = Table("deal_ids", metadata, *keys(deal_id=String(40)), *required(given=Instant))
_SUPPLY = ("supply_package_id", "supply_packages")
_OF_PACKAGE = ("package_id", "packages", FOLLOW)
changes = numbered_table(
    "changes", *required(entity=String(20), entity_id=Key, version=Integer, at=Instant, who=String(64)),
    *required(action=String(10)), *optional(before=Document, after=Document, token=String(200)),
    Index(None, "entity", "entity_id", "id"),
)  # fmt: skip
LONGEST_REASON, LONGEST_PROBLEM = 500, 200
synced_deals = Table(
    "synced_deals", metadata, *keys(deal_id=String(40), seat_id=Key),
    *required(demand_deal_id=Key, buyer_seat=String(200), document=Document),
    *optional(fetched_at=Instant, fetched_by=String(64), status=Integer, status_at=Instant),
    *optional(status_by=String(64), status_reason=String(LONGEST_REASON), asked_at=Instant),
    Column("is_archived", Boolean, nullable=False, default=False, server_default=false()),
    *optional(changed_from=Instant, sent_at=Instant, due=Instant),
    Column("attempts", Integer, nullable=False, default=0, server_default="0"),
    *optional(problem=String(LONGEST_PROBLEM)),
)  # fmt: skip
idempotency_keys = Table(
    "idempotency_keys", metadata, *keys(owner=String(64), key=String(255)),
    *required(entity=String(20), body=Document, answer=Document, etag=String(60)),
    Column("at", Instant, nullable=False, index=True),
)  # fmt: skip
health_reports = numbered_table(
    "health_reports",
    *required(project=String(200), slicer=String(200), basis=String(64), last_day=String(10)),
    *optional(checked_at=Instant), *required(problem=Text), UniqueConstraint("project", "slicer"),
)  # fmt: skip


def _entity(name: str, *parts: Any) -> Table:
    """A table of entities: id, name, `parts`, and the columns of all entities."""
    return numbered_table(
        name, *required(name=String(500), folded=Text), *parts,
        *required(version=Integer, created_at=Instant, updated_at=Instant),
    )  # fmt: skip


def _plain(entity: str) -> Iterator[Column[Any]]:
    """The columns of an entity's plain fields; a time has a second one, its offset in minutes."""
    for field in fields.of(entity):
        if not field.is_writable or field.name == "name":
            continue
        is_needed = field.default is not None and field.kind is not fields.AMOUNT
        yield Column(field.name, SQL.get(field.kind, SHORT), nullable=not is_needed)
        if field.kind in fields.MOMENTS:
            yield Column(f"{field.name}_offset", Integer, nullable=not is_needed)


def _maker() -> tuple[Column[Any], ...]:
    """The columns for its creator, and the token if that is limited to some seats."""
    return Column("made_by", String(64), index=True), Column("made_with", Integer)


def _to(table: str, ondelete: str) -> ForeignKey:
    return ForeignKey(f"{table}.id", ondelete=ondelete)


def _link(name: str, left_side: tuple[str, str, str], right_side: tuple[str, str, str], *parts: Any) -> Table:
    """A table of links; each side is (column, table, what happens to the link when that side is deleted)."""
    return Table(
        name, metadata, Column(left_side[0], Key, _to(*left_side[1:]), primary_key=True),
        Column(right_side[0], Key, _to(*right_side[1:]), primary_key=True), *parts,
        Index(None, right_side[0], left_side[0]),
    )  # fmt: skip


dsps = _entity("dsps", *required(supports_deal_sync=Boolean), UniqueConstraint("name"))
seats = _entity(
    "seats", *optional(external_id=String(200)), Column("dsp_id", Key, _to("dsps", KEEP), nullable=False),
    UniqueConstraint("dsp_id", "name"), UniqueConstraint("dsp_id", "external_id"),
)  # fmt: skip
domain_lists = _entity("domain_lists", *required(domains=Document), UniqueConstraint("name"))
app_lists = _entity("app_lists", *required(apps=Document), UniqueConstraint("name"))
supply_packages = _entity(
    "supply_packages", *_plain(fields.SUPPLY),
    *required(browser_targetings=Document, device_targetings=Document, geo_targetings=Document),
    *required(operating_system_targetings=Document, size_targetings=Document), *_maker(),
    Column("targets", Text, nullable=False, server_default=""),
    CheckConstraint("end_date > start_date", name="dates"), Index(None, "start_date"),
)  # fmt: skip
packages = _entity("packages", *_maker())
demand_deals = _entity(
    "demand_deals",
    Column("deal_id", String(40), ForeignKey("deal_ids.deal_id"), nullable=False, unique=True),
    Column("seat_id", Key, _to("seats", KEEP), nullable=False, index=True),
    Column("package_id", Key, _to("packages", KEEP), index=True), *_plain(fields.DEALS),
)  # fmt: skip
PRICE_TYPE: ColumnElement[str] = case(
    (demand_deals.c.deal_type.in_(FIXED_PRICE_TYPES), literal("fixed", SHORT)),
    else_=demand_deals.c.price_type,
)
"""A deal's price type as it is read; the column has what somebody set (`price_type_of` in models.py)."""
DEAL_COLUMNS: tuple[ColumnElement[Any], ...] = tuple(
    PRICE_TYPE.label(column.name) if column.name == "price_type" else column for column in demand_deals.c
)
supply_package_deals = _link(
    "supply_package_deals", (*_SUPPLY, KEEP), ("demand_deal_id", "demand_deals", FOLLOW)
)
supply_domain_lists, supply_app_lists = (
    _link(f"supply_{lists}", (*_SUPPLY, FOLLOW), ("list_id", lists, KEEP), *required(is_excluded=Boolean))
    for lists in ("domain_lists", "app_lists")
)
package_seats = _link("package_seats", _OF_PACKAGE, ("seat_id", "seats", KEEP), *required(value=Boolean))
package_supply_packages = _link("package_supply_packages", _OF_PACKAGE, (*_SUPPLY, KEEP))


deal_health = Table(
    "deal_health", metadata, Column("report_id", Key, _to("health_reports", FOLLOW), primary_key=True),
    Column("deal_id", Key, _to("demand_deals", FOLLOW), primary_key=True),
    *required(state=String(20), facts=Document, computed_at=Instant, basis=String(64)),
    *optional(until=Instant, **dict.fromkeys(FIGURES, Float(53))),
    *required(deal_version=Integer, packages_version=Integer, seat_version=Integer, dsp_version=Integer),
    Index(None, "deal_id"), Index(None, "report_id", "state"),
)  # fmt: skip
