"""A deal's priority, and the house's own code of it."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("demand_deals", sa.Column("priority", sa.BigInteger()))
    op.add_column("demand_deals", sa.Column("house_code", sa.String(200)))
