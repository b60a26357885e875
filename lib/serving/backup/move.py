"""Moving an installation's state from its file of SQLite to a database of PostgreSQL, whole or not at all."""

from sqlalchemy import Connection, func, insert, inspect, make_url, select, text

from lib import database
from lib.serving.backup.postgres import VERSIONS, revision_of, sequence_of, tables_of, transaction
from lib.serving.backup.restore import no_desk
from lib.settings import Settings
from lib.wire.errors import BadRequest, Misconfigured

ROWS_AT_ONCE = 1000
NUMBERS = text("select name, seq from sqlite_sequence")


def move(settings: Settings, url: str) -> dict[str, int]:
    """Copy every row of the settings' database, which must be of this version, into an empty one at `url`.

    Returns how many rows each table has.

    All of it in one transaction, during which nobody else writes to the file; numbers go on where they were.
    BadRequest while a desk runs, or for databases of other kinds; Misconfigured where the new database is not
    empty; StoreUnavailable where it fails. Nothing was changed then. The file is left as it is.
    """
    if make_url(settings.database_url).get_backend_name() != "sqlite":
        raise BadRequest("database_url names PostgreSQL already: there is nothing to move")
    if not url.startswith("postgresql"):
        raise BadRequest(
            "The new database must be PostgreSQL, like postgresql+psycopg://tranche@host/tranche"
        )
    with no_desk(settings.home), transaction(url) as target:
        file = database.engine(settings.database_url)
        try:
            with database.writing(file).begin() as source:
                return _copy_rows(source, target)
        finally:
            file.dispose()


def _copy_rows(source: Connection, target: Connection) -> dict[str, int]:
    revision = revision_of(source)
    if revision is None:
        raise Misconfigured("database_url: that file has no tables of Tranche")
    tables = database.metadata.sorted_tables
    if {table.name for table in tables} != tables_of(revision).keys():
        raise Misconfigured("The tables of this version are not those of its migrations")
    if inspect(target).has_table(VERSIONS):  # whose tables they are can't be known
        raise Misconfigured("The new database has tables of Tranche already: name an empty one")
    database.upgrade(target, revision)
    numbers = {row.name: row.seq for row in source.execute(NUMBERS)}
    counts = {}
    for table in tables:
        mapping_result = source.execution_options(yield_per=ROWS_AT_ONCE).execute(select(table)).mappings()
        total = 0
        for rows in mapping_result.partitions():
            target.execute(insert(table), [dict(row) for row in rows])
            total += len(rows)
        new: int = target.execute(select(func.count()).select_from(table)).scalar_one()
        if new != total:
            raise Misconfigured(f"Of the table {table.name} {new} of {total} rows arrived; nothing was moved")
        counts[table.name] = new
        # Numbers go on after the last that was given: deleted ones are not given again.
        if sequence := sequence_of(target, table.name):
            newest = target.execute(select(func.max(table.c.id))).scalar_one()
            if last := max(numbers.get(table.name) or 0, newest or 0):
                target.execute(text("select setval(:name, :last)"), {"name": sequence, "last": last})
    return counts
