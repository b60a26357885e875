"""The tables of the deals half: entities, their links, history, and what a repeated request is known by."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

INSTANT, TEXT = sa.DateTime(timezone=True), sa.Text()
KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
KEEP, FOLLOW = "RESTRICT", "CASCADE"
LINKS = {
    "supply_package_deals": (
        ("supply_package_id", "supply_packages", KEEP),
        ("demand_deal_id", "demand_deals", FOLLOW),
    ),
    "supply_domain_lists": (
        ("supply_package_id", "supply_packages", FOLLOW),
        ("list_id", "domain_lists", KEEP),
    ),
    "supply_app_lists": (("supply_package_id", "supply_packages", FOLLOW), ("list_id", "app_lists", KEEP)),
    "package_seats": (("package_id", "packages", FOLLOW), ("seat_id", "seats", KEEP)),
    "package_supply_packages": (
        ("package_id", "packages", FOLLOW),
        ("supply_package_id", "supply_packages", KEEP),
    ),
}
FLAGS = {"supply_domain_lists": "is_excluded", "supply_app_lists": "is_excluded", "package_seats": "value"}


def upgrade() -> None:
    """Make the tables, each after those that it refers to."""
    _entity("dsps", _required_column("supports_deal_sync", sa.Boolean), _unique("dsps", "name"))
    _entity(
        "seats",
        sa.Column("external_id", sa.String(200)),
        _required_column("dsp_id", KEY),
        _refers("seats", "dsp_id", "dsps", KEEP),
        _unique("seats", "dsp_id", "name"),
        _unique("seats", "dsp_id", "external_id"),
    )
    _entity("domain_lists", _required_column("domains", TEXT), _unique("domain_lists", "name"))
    _entity("app_lists", _required_column("apps", TEXT), _unique("app_lists", "name"))
    _supply_packages()
    _entity("packages")
    _demand_deals()
    for name, (first, second) in LINKS.items():
        _link(name, first, second)
    _records()


def _supply_packages() -> None:
    flags = ("is_active", "is_dynamic_bidding", "is_true_price_opt_enable")
    kinds = ("browser", "device", "geo", "operating_system", "size")
    _entity(
        "supply_packages",
        *(_required_column(name, sa.Boolean) for name in flags),
        _required_column("media_type", sa.String(20)),
        _required_column("start_date", INSTANT),
        _required_column("start_date_offset", sa.Integer),
        sa.Column("end_date", INSTANT),
        sa.Column("end_date_offset", sa.Integer),
        *(_required_column(f"{kind}_targetings", TEXT) for kind in kinds),
        sa.CheckConstraint("end_date > start_date", name="ck_supply_packages_dates"),
    )
    op.create_index("ix_supply_packages_start_date", "supply_packages", ["start_date"])


def _demand_deals() -> None:
    op.create_table(
        "deal_ids",
        _required_column("deal_id", sa.String(40)),
        _required_column("given", INSTANT),
        sa.PrimaryKeyConstraint("deal_id", name="pk_deal_ids"),
    )
    _entity(
        "demand_deals",
        _required_column("deal_id", sa.String(40)),
        _required_column("seat_id", KEY),
        sa.Column("package_id", KEY),
        sa.Column("price", sa.BigInteger),
        _required_column("deal_sync", sa.Boolean),
        _required_column("is_active", sa.Boolean),
        sa.Column("agency_curation_fee", sa.BigInteger),
        sa.Column("agency_curation_fee_type", sa.Integer),
        sa.Column("contact_email", sa.String(254)),
        sa.ForeignKeyConstraint(["deal_id"], ["deal_ids.deal_id"], name="fk_demand_deals_deal_id_deal_ids"),
        _refers("demand_deals", "seat_id", "seats", KEEP),
        _refers("demand_deals", "package_id", "packages", KEEP),
        _unique("demand_deals", "deal_id"),
    )
    for column in ("seat_id", "package_id"):
        op.create_index(f"ix_demand_deals_{column}", "demand_deals", [column])


def _link(name: str, first: tuple[str, str, str], second: tuple[str, str, str]) -> None:
    flags = [_required_column(FLAGS[name], sa.Boolean)] if name in FLAGS else []
    op.create_table(
        name,
        _required_column(first[0], KEY),
        _required_column(second[0], KEY),
        *flags,
        _refers(name, *first),
        _refers(name, *second),
        sa.PrimaryKeyConstraint(first[0], second[0], name=f"pk_{name}"),
    )
    op.create_index(f"ix_{name}_{second[0]}", name, [second[0]])


def _records() -> None:
    op.create_table(
        "changes",
        _required_column("id", KEY),
        _required_column("entity", sa.String(20)),
        _required_column("entity_id", KEY),
        _required_column("version", sa.Integer),
        _required_column("at", INSTANT),
        _required_column("who", sa.String(64)),
        _required_column("action", sa.String(10)),
        sa.Column("before", TEXT),
        sa.Column("after", TEXT),
        sa.PrimaryKeyConstraint("id", name="pk_changes"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_changes_entity_entity_id_id", "changes", ["entity", "entity_id", "id"])
    op.create_table(
        "idempotency_keys",
        _required_column("owner", sa.String(64)),
        _required_column("key", sa.String(255)),
        _required_column("entity", sa.String(20)),
        _required_column("body", TEXT),
        _required_column("answer", TEXT),
        _required_column("etag", sa.String(60)),
        _required_column("at", INSTANT),
        sa.PrimaryKeyConstraint("owner", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_at", "idempotency_keys", ["at"])


def _entity(name: str, *parts: Any) -> None:
    op.create_table(
        name,
        _required_column("id", KEY),
        _required_column("name", sa.String(500)),
        _required_column("folded", TEXT),
        *(part for part in parts if isinstance(part, sa.Column)),
        _required_column("version", sa.Integer),
        _required_column("created_at", INSTANT),
        _required_column("updated_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
        *(part for part in parts if not isinstance(part, sa.Column)),
        sqlite_autoincrement=True,
    )


def _required_column(name: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def _refers(table: str, column: str, other: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{other}.id"], name=f"fk_{table}_{column}_{other}", ondelete=ondelete
    )
