"""Boards of saved views, the boards that open after the sign-in, and mails of boards."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables, and add the column. SQLite makes its table again for its reference."""
    op.create_table(
        "boards",
        sa.Column("id", KEY, nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("cells", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("changed", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_boards"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_boards_service", "boards", ["service"])
    op.create_table(
        "start_boards",
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("username", "service", name="pk_start_boards"),
        sa.ForeignKeyConstraint(
            ["board_id"], ["boards.id"], name="fk_start_boards_board_id_boards", ondelete="CASCADE"
        ),
    )
    with op.batch_alter_table("mail_subscriptions", table_kwargs={"sqlite_autoincrement": True}) as mails:
        mails.add_column(sa.Column("board_id", KEY))
        mails.create_foreign_key(
            "fk_mail_subscriptions_board_id_boards", "boards", ["board_id"], ["id"], ondelete="CASCADE"
        )
        mails.create_index("ix_mail_subscriptions_board_id", ["board_id"])
