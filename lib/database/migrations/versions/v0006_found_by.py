"""What lists are searched by: the values of targeting and contacts; links are indexed in both directions."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from lib.wire import exact

revision = "0006"
down_revision = "0005"

VALUES = ("browser", "device", "operating_system")
ARRAYS = tuple(f"{kind}_targetings" for kind in (*VALUES, "geo", "size"))
SUPPLY = sa.table("supply_packages", *map(sa.column, ("id", "targets", "media_type", *ARRAYS)))
DEALS = sa.table("demand_deals", *map(sa.column, ("id", "folded", "contact_email")))
LINKS = {
    "supply_package_deals": ("demand_deal_id", "supply_package_id"),
    "supply_domain_lists": ("list_id", "supply_package_id"),
    "supply_app_lists": ("list_id", "supply_package_id"),
    "package_seats": ("seat_id", "package_id"),
    "package_supply_packages": ("supply_package_id", "package_id"),
}


def upgrade() -> None:
    """Add the column and fill what rows are found by; links are read from their indexes alone."""
    op.add_column("supply_packages", sa.Column("targets", sa.Text(), nullable=False, server_default=""))
    connection = op.get_bind()
    packages = connection.execute(sa.select(SUPPLY)).mappings().all()
    _fill(connection, SUPPLY, "targets", [{"of": row["id"], "text": _targets(row)} for row in packages])
    contacts = connection.execute(sa.select(DEALS).where(DEALS.c.contact_email.is_not(None))).mappings().all()
    _fill(connection, DEALS, "folded", [{"of": row["id"], "text": _with_contact(row)} for row in contacts])
    for table, (other, owner) in LINKS.items():
        op.drop_index(f"ix_{table}_{other}", table)
        op.create_index(f"ix_{table}_{other}_{owner}", table, [other, owner])


def _fill(connection: sa.Connection, table: Any, column: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        statement = sa.update(table).where(table.c.id == sa.bindparam("of"))
        connection.execute(statement.values({column: sa.bindparam("text")}), rows)


def _targets(row: Any) -> str:
    return "".join(f"\n{kind}:{value}\n" for kind, value in _pairs(row)).casefold()


def _pairs(row: Any) -> Iterator[tuple[str, str]]:
    arrays = {name: exact.loads(row[name].encode()) for name in ARRAYS}
    for place in arrays["geo_targetings"]:
        yield place["type"], place["value"]
    for kind in VALUES:
        for one in arrays[f"{kind}_targetings"]:
            yield kind, one["value"]
    for size in arrays["size_targetings"]:
        yield "size", f"{size['width']}x{size['height']}"
    yield "media_type", row["media_type"]


def _with_contact(row: Any) -> str:
    return f"{row['folded']}\n{row['contact_email'].casefold()}"
