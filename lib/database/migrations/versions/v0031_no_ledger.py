"""The ledger of forecasts goes, and in proposals the range before it was scaled by what the ledger taught."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Drop the table; expected ranges stay as they were shown."""
    op.drop_table("forecasts")
    connection = op.get_bind()
    proposals = connection.execute(sa.text("select id, expected from proposals where expected is not null"))
    change = sa.text("update proposals set expected = :expected where id = :id")
    for proposal in proposals.all():
        expected = json.loads(proposal.expected)
        if expected.pop("unscaled", None) is not None:
            connection.execute(change, {"id": proposal.id, "expected": json.dumps(expected)})
