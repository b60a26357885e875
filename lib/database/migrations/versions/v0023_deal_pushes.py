"""What was sent to DSPs by ourselves, what of it waits, and why a status was reported."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Add the columns."""
    moment = sa.DateTime(timezone=True)
    for column in (
        sa.Column("is_archived", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("changed_from", moment),
        sa.Column("sent_at", moment),
        sa.Column("due", moment),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("problem", sa.String(200)),
        sa.Column("asked_at", moment),
        sa.Column("status_reason", sa.String(500)),
    ):
        op.add_column("synced_deals", column)
