"""The seat and the rows that a share link was made for, wrong codes of it, and the terms that a buyer saw.

Links of before get the seat that the deal has, unless that has changed since, and their slicers whole: more
than their owners see they never show. Codes that wait are sent again.
"""

import json

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key, required

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    """Add the columns, and make the table of codes again, with a row for each that was sent."""
    op.add_column("share_links", sa.Column("seat", sa.BigInteger()))
    op.add_column("share_links", sa.Column("grants", sa.Text()))
    op.add_column("share_links", sa.Column("wrong_codes", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE share_links SET seat = (SELECT seat_id FROM demand_deals WHERE id = share_links.deal) "
        "WHERE deals_service = '' AND NOT EXISTS (SELECT 1 FROM changes WHERE entity = 'demand_deals' "
        "AND entity_id = share_links.deal AND at > share_links.created AND after LIKE '%\"seat\"%')"
    )
    names = ("id", "project", "slicer", "params", "grants")
    links = sa.table("share_links", *[sa.column(name, sa.Text()) for name in names])
    for link in op.get_bind().execute(sa.select(links)):
        slicers = [(link.project, link.slicer)]
        if (board := json.loads(link.params).get("board")) is not None:
            slicers = [(item["project"], item["slicer"]) for item in json.loads(board)["items"]]
        grants = [f"{project}/{slicer}" for project, slicer in dict.fromkeys(slicers) if slicer]
        op.execute(sa.update(links).where(links.c.id == link.id).values(grants=json.dumps(grants)))
    op.drop_table("link_codes")
    op.create_table(
        "link_codes",
        sa.Column("id", Key, primary_key=True),
        *required(link_id=Key, code_hash=sa.String(64), made=sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["link_id"], ["share_links.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_link_codes_link_id", "link_codes", ["link_id"])
    op.add_column("negotiation_rounds", sa.Column("details", sa.Text()))
