"""Migrates the database to the schema of this version."""

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from lib.database.engine import writing
from lib.wire.errors import Misconfigured

SCRIPTS = Path(__file__).parent / "migrations"
POSTGRES_LOCK = 7_226_243  # of an advisory lock: any number that no other program takes in this database
_one_at_a_time = threading.RLock()


def migrate(engine: Engine) -> None:
    """Run the migrations that are missing, all or none; processes that start together wait for one another.

    Misconfigured if the database can't be reached, or belongs to a later version of the program.
    """
    try:
        with _one_at_a_time, writing(engine).begin() as connection:
            upgrade(connection)
    except DBAPIError as error:
        raise Misconfigured(f"database_url: the database can't be used: {error.orig}") from error


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that are missing up to a revision, in the transaction of this connection.

    Misconfigured for a revision, here or in the database, that this version of the program does not know.
    """
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    try:
        with _one_at_a_time:
            if connection.dialect.name == "postgresql":
                connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": POSTGRES_LOCK})
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
    except CommandError as error:
        raise Misconfigured(f"The database is of another version of Tranche: {error}") from error
