"""The slicers that there were when the warehouse was last looked at."""

import sqlalchemy as sa
from alembic import op

from lib.database.columns import keys

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    """Make the table."""
    op.create_table("known_slicers", *keys(project=sa.String(200), slicer=sa.String(200)))
