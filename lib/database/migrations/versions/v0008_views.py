"""Saved views, start pages, and notes on dates."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "saved_views",
        sa.Column("id", KEY, nullable=False),
        *_of_a_slicer(),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.Column("changed", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_saved_views"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_saved_views_service_project_slicer", "saved_views", ["service", "project", "slicer"])
    _make_start_views()
    _make_notes()


def _make_start_views() -> None:
    op.create_table(
        "start_views",
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("view_id", KEY, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("username", "service", name="pk_start_views"),
        sa.ForeignKeyConstraint(
            ["view_id"], ["saved_views.id"], name="fk_start_views_view_id_saved_views", ondelete="CASCADE"
        ),
    )


def _make_notes() -> None:
    op.create_table(
        "notes",
        sa.Column("id", KEY, nullable=False),
        *_of_a_slicer(),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("created", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notes"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notes_service_project_slicer_day", "notes", ["service", "project", "slicer", "day"])


def _of_a_slicer() -> tuple[sa.Column[str], ...]:
    lengths = {"service": 500, "project": 200, "slicer": 200}
    return tuple(sa.Column(name, sa.String(length), nullable=False) for name, length in lengths.items())
