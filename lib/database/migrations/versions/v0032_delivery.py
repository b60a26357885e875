"""What deals delivered in the last days, beside their health."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

FIGURES = ("impressions", "spend", "win_rate", "pacing")


def upgrade() -> None:
    """Add the columns; they are filled with the next health, which is computed again for all deals."""
    for days in (7, 30):
        for figure in FIGURES:
            op.add_column("deal_health", sa.Column(f"{figure}_{days}_days", sa.Float(53)))
