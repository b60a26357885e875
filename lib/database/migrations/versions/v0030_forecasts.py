"""The ledger of forecasts; what came of proposals' ranges moves there."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
INSTANT = sa.DateTime(timezone=True)
DAYS = ("first_day", "last_day", "data_day", "day")
FIGURES = ("estimate", "low", "high", "raw_low", "raw_high")


def upgrade() -> None:
    """Make the table, and move the approved proposals with a range there."""
    forecasts = op.create_table(
        "forecasts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("service", sa.String(500), nullable=False),
        sa.Column("reporting", sa.String(500), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        *(sa.Column(name, sa.String(200), nullable=False) for name in ("project", "slicer", "field")),
        *(sa.Column(name, sa.String(10), nullable=False) for name in DAYS),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        *(sa.Column(name, sa.Float(53), nullable=False) for name in FIGURES),
        sa.Column("scale", sa.Float(53)),
        sa.Column("by", sa.String(64), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("entity", sa.String(20)),
        sa.Column("entity_id", sa.BigInteger()),
        sa.Column("actual", sa.Float(53)),
        sa.Column("scored_at", INSTANT),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_forecasts"),
        sqlite_autoincrement=True,
    )
    names = ["service", "reporting", "by", "digest", "day"]
    op.create_index("ix_forecasts_service_reporting_by_digest_day", "forecasts", names, unique=True)
    op.create_index("ix_forecasts_reporting_scored_at", "forecasts", ["reporting", "scored_at"])
    op.create_index("ix_forecasts_entity_entity_id", "forecasts", ["entity", "entity_id"])
    if rows := [_row(proposal) for proposal in _proposals()]:
        op.bulk_insert(forecasts, rows)
    with op.batch_alter_table("proposals", table_kwargs={"sqlite_autoincrement": True}) as proposals:
        proposals.drop_column("actual")


def _proposals() -> list[Any]:
    names = sa.text(
        "select id, service, expected, by, at, actual from proposals where state = 'approved' "
        "and not is_edited and expected is not null order by id"
    ).columns(at=INSTANT)
    return list(op.get_bind().execute(names))


def _row(proposal: Any) -> dict[str, Any]:
    """The row of a proposal; ranges were compared with the embedded reporting service, or the only one."""
    expected = json.loads(proposal.expected)
    low, high = float(expected["low"]), float(expected["high"])
    at = proposal.at.replace(tzinfo=UTC) if proposal.at.tzinfo is None else proposal.at.astimezone(UTC)
    texts = {name: expected[name] for name in ("project", "slicer", "field", "first_day", "last_day")}
    return texts | {
        "service": proposal.service, "reporting": "", "kind": "proposal", "data_day": "",
        "day": at.date().isoformat(), "subject": json.dumps({"filters": expected.get("filters") or []}),
        "digest": hashlib.sha256(f"proposal {proposal.id}".encode()).hexdigest(),
        "estimate": (low * high) ** 0.5 if low > 0 else (low + high) / 2,
        "low": low, "high": high, "raw_low": low, "raw_high": high, "scale": None, "by": proposal.by,
        "at": at, "entity": "proposals", "entity_id": proposal.id,
        "actual": None if proposal.actual is None else float(json.loads(proposal.actual)),
        "scored_at": None if proposal.actual is None else datetime.now(UTC), "problem": "",
    }  # fmt: skip
