"""A slicer of nine rows, whose figures can be worked out by hand; also as a service of the specification."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
from conftest import LAST_DAY
from dealing import clients
from standin.known import CachedSlicer

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.models import Slicer
from lib.slicers.warehouse import Warehouse
from lib.wire.filters import Filter

PROJECT, NAME = "demo", "inventory"
ROWS = (
    ("US", "Chrome", ["300x250"], 50),
    ("US", "Chrome", ["300x250", "728x90"], 10),
    ("US", "Safari", ["300x250"], 38),
    ("DE", "Chrome", ["728x90"], 20),
    ("DE", "Firefox", ["300x250"], 4),
    ("FR", "Chrome", ["300x250"], 70),
    ("FR", "Safari", ["728x90"], 8),
)
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="hour"),
    key_fields=(
        KeyFieldDefinition(name="country", description="Country"),
        KeyFieldDefinition(name="region", description="Region"),
        KeyFieldDefinition(name="browser", description="Browser"),
        KeyFieldDefinition(name="requested_sizes", description="Sizes", segmented="|"),
        KeyFieldDefinition(name="media_type", description="Media type"),
    ),
    data_fields=(DataFieldDefinition(name="bids", description="Bids"),),
)


def table() -> pa.Table:
    """The rows, all of yesterday."""
    at = dt.datetime.combine(LAST_DAY, dt.time(9), dt.UTC)
    columns = {
        "time": [at] * len(ROWS),
        "country": [row[0] for row in ROWS],
        "region": ["Somewhere"] * len(ROWS),
        "browser": [row[1] for row in ROWS],
        "requested_sizes": [row[2] for row in ROWS],
        "media_type": ["banner"] * len(ROWS),
        "bids": [float(row[3]) for row in ROWS],
    }
    return pa.table(columns, schema=DEFINITION.schema())


def embedded(home: Path, rows: pa.Table | None = None) -> Clients:
    """The clients of a data directory to which the slicer was added."""
    with Warehouse(home / "warehouse").writer(PROJECT, NAME, DEFINITION, {}) as writer:
        writer.write(table() if rows is None else rows)
        writer.commit("made for the tests", NAME)
    return clients(Settings(home=home, demo=True))


def known(rows: pa.Table | None = None) -> CachedSlicer:
    """The same slicer for the stand-in, described in the specification's words alone."""
    fields = [{"name": f.name, "description": f.description} for f in DEFINITION.key_fields]
    fields[3]["is_segmented"] = 1
    return CachedSlicer(
        "",
        tuple(fields),
        ({"name": "bids", "description": "Bids"},),
        (),
        (table() if rows is None else rows).to_pandas(),
        {},
    )


def slicer(of: Clients) -> Slicer:
    """What its service says of it."""
    return of.reporting.info(InfoQuery(project_name=PROJECT, slicer_name=NAME))


def asked(of: Clients, filters: tuple[Filter, ...], **more: object) -> Audience:
    """The bids of yesterday with these filters."""
    days = {"start_date": LAST_DAY.isoformat(), "end_date": LAST_DAY.isoformat(), "precision": 1}
    query = AudienceQuery(
        project_name=PROJECT, slicer_name=NAME, filters=filters, data_fields=("bids",), **{**days, **more}
    )
    return of.reporting.audience(query, slicer(of))
