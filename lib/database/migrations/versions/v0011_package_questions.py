"""The questions that packages came from."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "package_questions",
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("package_id", sa.BigInteger(), nullable=False),
        sa.Column("reporting", sa.String(500), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("slicer", sa.String(200), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("service", "package_id", name="pk_package_questions"),
    )
