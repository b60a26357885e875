"""A deal's currency, null for the usual one, in its answers too; and whether it overrides blocks."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("demand_deals", sa.Column("currency", sa.String(20)))
    op.add_column("demand_deals", sa.Column("block_override", sa.Boolean()))
    op.add_column("negotiation_rounds", sa.Column("currency", sa.String(20)))
