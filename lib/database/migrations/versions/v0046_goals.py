"""What guaranteed deals delivered of their goals: computed again with their health."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    """Add the columns."""
    for name in ("units_to_date", "units_expected", "units_projected"):
        op.add_column("deal_health", sa.Column(name, sa.Float(53)))
