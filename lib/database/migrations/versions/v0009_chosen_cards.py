"""The leaderboards that a person chose for a slicer."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the table."""
    lengths = {"username": 64, "service": 500, "project": 200, "slicer": 200}
    op.create_table(
        "chosen_cards",
        *(sa.Column(name, sa.String(length), nullable=False) for name, length in lengths.items()),
        sa.Column("cards", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint(*lengths, name="pk_chosen_cards"),
    )
