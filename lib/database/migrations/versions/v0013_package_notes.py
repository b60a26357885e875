"""Owner and note of packages."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "package_notes",
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("package_id", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("who", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("service", "package_id", name="pk_package_notes"),
    )
