"""The health of deals: per report, and the versions and data that it was computed for."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Make them."""
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "health_reports",
        sa.Column("id", key, nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("slicer", sa.String(200), nullable=False),
        sa.Column("basis", sa.String(64), nullable=False),
        sa.Column("last_day", sa.String(10), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True)),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_health_reports"),
        sa.UniqueConstraint("project", "slicer", name="uq_health_reports_project_slicer"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "deal_health",
        sa.Column("report_id", key, nullable=False),
        sa.Column("deal_id", key, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("basis", sa.String(64), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True)),
        sa.Column("deal_version", sa.Integer(), nullable=False),
        sa.Column("packages_version", sa.Integer(), nullable=False),
        sa.Column("seat_version", sa.Integer(), nullable=False),
        sa.Column("dsp_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["report_id"], ["health_reports.id"], "fk_deal_health_report_id_health_reports",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["deal_id"], ["demand_deals.id"], "fk_deal_health_deal_id_demand_deals", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("report_id", "deal_id", name="pk_deal_health"),
    )  # fmt: skip
    op.create_index("ix_deal_health_deal_id", "deal_health", ["deal_id"])
    op.create_index("ix_deal_health_report_id_state", "deal_health", ["report_id", "state"])
