"""Who may do what with deals: of a token, and who made a package."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ENTITIES = {"supply_packages": "supply_deals", "packages": "packages"}
BACKFILL = """
update {table} set made_by = (
    select who from changes
    where changes.entity = '{entity}' and changes.entity_id = {table}.id and changes.action = 'created'
)
"""


def upgrade() -> None:
    """Add the columns. Tokens of before open all that their owners may; packages know their makers."""
    op.add_column("tokens", sa.Column("deals", sa.Text()))
    for table, entity in ENTITIES.items():
        op.add_column(table, sa.Column("made_by", sa.String(64)))
        op.add_column(table, sa.Column("made_with", sa.Integer()))
        op.execute(BACKFILL.format(table=table, entity=entity))
        op.create_index(f"ix_{table}_made_by", table, ["made_by"])
