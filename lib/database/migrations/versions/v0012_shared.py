"""What several desks share: people, sign-ins, failed attempts, secrets, and how often callers came."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "people",
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("username", name="pk_people"),
    )
    op.create_table(
        "sign_ins",
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("ends", sa.Double(), nullable=False),
        sa.Column("proof", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("username", "ends", name="pk_sign_ins"),
    )
    op.create_index("ix_sign_ins_ends", "sign_ins", ["ends"])
    op.create_table(
        "attempts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(7), nullable=False),
        *(sa.Column(name, sa.String(64), nullable=False) for name in ("name", "origin")),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_attempts_kind_name_origin", "attempts", ["kind", "name", "origin"])
    op.create_index("ix_attempts_at", "attempts", ["at"])
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("value", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_secrets"),
    )
    op.create_table(
        "admissions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("caller", sa.String(100), nullable=False),
        sa.Column("process", sa.String(32), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_admissions"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_admissions_caller", "admissions", ["caller"])
    op.create_index("ix_admissions_at", "admissions", ["at"])
