"""What the price of a deal is: a floor or fixed; null for the usual one."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add the column."""
    op.add_column("demand_deals", sa.Column("price_type", sa.String(20)))
