"""Renames of slicers that have begun."""

import sqlalchemy as sa
from alembic import op

from lib.database.columns import keys, required

revision = "0039"
down_revision = "0038"
NAME = sa.String(200)


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "slicer_renames",
        *keys(project=NAME, slicer=NAME),
        *required(to_project=NAME, to_slicer=NAME, who=sa.String(100)),
    )
