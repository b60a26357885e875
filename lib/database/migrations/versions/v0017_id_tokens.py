"""ID tokens of a company sign-in that have begun a session."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0014"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "id_tokens",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("ends", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_id_tokens"),
    )
    op.create_index("ix_id_tokens_ends", "id_tokens", ["ends"])
