"""Supply files: ads.txt, app-ads.txt, sellers.json, and the developers of apps."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "supply_files",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("domain", sa.String(253), nullable=False),
        sa.Column("records", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("variables", "problems")),
        sa.Column("problem_count", sa.Integer, nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_supply_files"),
        sa.UniqueConstraint("kind", "domain", name="uq_supply_files_kind_domain"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "supply_accounts",
        sa.Column("file_id", KEY, nullable=False),
        sa.Column("system", sa.String(253), nullable=False),
        sa.Column("account", sa.String(200), nullable=False),
        sa.Column("relation", sa.String(20), nullable=False),
        sa.Column("domain", sa.String(253), nullable=False),
        _of_file("supply_accounts"),
    )
    op.create_index("ix_supply_accounts_file_id", "supply_accounts", ["file_id"])
    op.create_index("ix_supply_accounts_system_account", "supply_accounts", ["system", "account"])
    op.create_table(
        "supply_apps",
        sa.Column("app", sa.String(200), nullable=False),
        sa.Column("file_id", KEY, nullable=False),
        sa.Column("domain", sa.String(253), nullable=False),
        sa.PrimaryKeyConstraint("app", name="pk_supply_apps"),
        _of_file("supply_apps"),
    )
    op.create_index("ix_supply_apps_file_id", "supply_apps", ["file_id"])


def _of_file(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_file_id_supply_files"
    return sa.ForeignKeyConstraint(["file_id"], ["supply_files.id"], name=name, ondelete="CASCADE")
