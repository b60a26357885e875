"""Writes the sample of a connected slicer into a table of ours, and what is known of it into sample.json."""

import logging
import re
import secrets
import tempfile
from pathlib import Path

from lib import private
from lib.reporting.engines.connected import day_sizes, samples
from lib.reporting.engines.connected.columns import Columns, source_of
from lib.reporting.engines.connected.connections import Connections
from lib.reporting.engines.connected.drawing import DRAWN, Drawing
from lib.reporting.engines.connected.samples import HOUR, StoredSample, stored_sample
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, TrancheError

log = logging.getLogger(__name__)
BATCH_ROWS, FEWEST_ROWS, LOCK = 50_000, 10_000, "sample.lock"


def write_sample(connections: Connections, stored: StoredSlicer, into: str, most: int) -> StoredSample:
    """Draw at most `most` records and write them into the schema (or folder) `into` at the source.

    The table of the sample before stays until the next one: questions may still read it. BadRequest where
    nothing can be written there, or while another process writes one; then the slicer is as it was.
    """
    source = source_of(stored.definition)
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", into) or into == source.table.partition(".")[0]:
        raise BadRequest(
            "--sample-into names a schema, or a folder beside the tables, of its own: small letters, digits "
            f"and _, not '{into}'"
        )
    if most < FEWEST_ROWS:
        raise BadRequest(f"A sample has at least {FEWEST_ROWS:,} records")
    columns = Columns(connections.table(source.connection, source.table), stored.definition)
    columns.check()
    with private.alone(stored.folder / LOCK) as other:
        if other:
            raise BadRequest(f"Another sample of {stored.name} is being written; wait until it is done")
        return _write(connections, stored, columns, into, most)


def _write(
    connections: Connections, stored: StoredSlicer, columns: Columns, into: str, most: int
) -> StoredSample:
    connection, before = source_of(stored.definition).connection, stored_sample(stored.folder)
    place = (into, f"sample_{secrets.token_hex(8)}")
    with tempfile.TemporaryDirectory(prefix="sample-", dir=stored.folder) as folder:
        drawn = _drawing(connections, columns, connection, Path(folder), most)
        found = drawn.finish(place, None if before is None else before.place)
        schema = samples.schema(stored.definition)
        connections.write_own(connection, place, schema, Path(folder) / DRAWN)
    found.save(stored.folder)
    if before is not None and before.replaced is not None:
        _drop(connections, connection, before.replaced)
    return found


def _drawing(connections: Connections, columns: Columns, connection: str, folder: Path, most: int) -> Drawing:
    sums = connections.rows(connection, day_sizes.statement(columns), Deadline())
    drawn = Drawing(columns.definition, day_sizes.Scale(columns.definition, sums), folder, most)
    table = columns.table.select(**samples.semantic(columns))
    for batch in connections.batches(connection, table.filter(table[HOUR].notnull()), BATCH_ROWS):
        drawn.add(batch)
    return drawn


def _drop(connections: Connections, connection: str, place: tuple[str, str]) -> None:
    try:
        connections.drop_own(connection, place)
    except TrancheError as error:
        log.warning("The table %s of an earlier sample could not be removed: %s", ".".join(place), error)
