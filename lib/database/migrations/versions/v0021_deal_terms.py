"""Terms of demand deals beside the price: deal type, guarantee, budget, caps, segments, a note."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
NUMBERS, WORDS, TEXTS = (
    ("units", "budget", "frequency_cap", "viewability_goal"),
    ("deal_type", "pacing"),
    ("audience_segments", "buyer_note"),
)


def upgrade() -> None:
    """Add the columns."""
    for names, kind in ((NUMBERS, sa.BigInteger()), (WORDS, sa.String(20)), (TEXTS, sa.String(200))):
        for name in names:
            op.add_column("demand_deals", sa.Column(name, kind))
