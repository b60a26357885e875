"""Own metrics: formulas over the data fields of a slicer, of a person or shared."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)
LENGTHS = {"service": 500, "project": 200, "slicer": 200, "name": 100}


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "own_metrics",
        sa.Column("id", KEY, nullable=False),
        *(sa.Column(name, sa.String(length), nullable=False) for name, length in LENGTHS.items()),
        sa.Column("formula", sa.Text(), nullable=False),
        sa.Column("unit", sa.String(20), nullable=False),
        sa.Column("digits", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("changed", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_own_metrics"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_own_metrics_service_project_slicer", "own_metrics", ["service", "project", "slicer"])
