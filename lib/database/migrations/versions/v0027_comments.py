"""Comments: notes on a saved view, beside notes on a day."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the column. SQLite makes the table again for its reference."""
    with op.batch_alter_table("notes", table_kwargs={"sqlite_autoincrement": True}) as notes:
        notes.add_column(sa.Column("view_id", KEY))
        notes.create_foreign_key(
            "fk_notes_view_id_saved_views", "saved_views", ["view_id"], ["id"], ondelete="CASCADE"
        )
        notes.create_index("ix_notes_view_id", ["view_id"])
