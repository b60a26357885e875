"""The tokens through which deals were changed, and changes proposed and decided: none of before is known."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
NAME = sa.String(200)


def upgrade() -> None:
    """Add the columns."""
    for table, name in (("changes", "token"), ("proposals", "token"), ("proposals", "decided_token")):
        op.add_column(table, sa.Column(name, NAME))
