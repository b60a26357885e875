"""Boards of saved views, the boards that open after the sign-in, and mails of boards."""

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key, keys, required

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Make the tables, and add the column. SQLite makes its table again for its reference."""
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "boards",
        sa.Column("id", Key, primary_key=True),
        *required(service=sa.String(500), name=sa.String(100), cells=sa.Text(), params=sa.Text()),
        *required(owner=sa.String(64), is_shared=sa.Boolean(), created=instant, changed=instant),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_boards_service", "boards", ["service"])
    op.create_table(
        "start_boards",
        *keys(username=sa.String(64), service=sa.String(500)),
        *required(board_id=Key, at=instant),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], ondelete="CASCADE"),
    )
    with op.batch_alter_table("mail_subscriptions", table_kwargs={"sqlite_autoincrement": True}) as mails:
        mails.add_column(sa.Column("board_id", Key))
        mails.create_foreign_key(
            "fk_mail_subscriptions_board_id_boards", "boards", ["board_id"], ["id"], ondelete="CASCADE"
        )
        mails.create_index("ix_mail_subscriptions_board_id", ["board_id"])
