"""The deal, and its seat, that a waiting mail is about."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    """Mails of before are about none: they go out as they are."""
    for name in ("deal", "seat"):
        op.add_column("mail_messages", sa.Column(name, sa.BigInteger))
