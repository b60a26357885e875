"""What is said when the database of a connected slicer answers, but not the question."""

import psycopg
import pytest

from lib.engines.connected import Connections
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured, SourceLocked

SECONDS = 2.0


@pytest.mark.parametrize(
    "change", [("tranche@", "stranger@"), ("/test_", "/no_test_")], ids=["user", "database"]
)
def test_a_refused_login_is_no_silence(rows_database: str, change: tuple[str, str]) -> None:
    """The database is there: the settings are wrong, and trying again in a minute would change nothing."""
    url = rows_database.replace(*change)
    with pytest.raises(Misconfigured, match=r"sales refused the login.*\[connections\.sales\]"):
        Connections({"sales": url}).reach("sales", Deadline(SECONDS))


def test_a_locked_table_is_named_as_the_cause(rows_database: str) -> None:
    """Fewer days would not help against another session's lock; what is said comes before the deadline."""
    connections = Connections({"sales": rows_database})
    with psycopg.connect(rows_database) as admin:
        admin.execute("CREATE TABLE locked_rows AS SELECT 1 AS bids")
        admin.commit()
        table = connections.table("sales", "locked_rows")
        admin.execute("LOCK TABLE locked_rows IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(SourceLocked, match="locked by another session"):
            connections.rows("sales", table, Deadline(SECONDS))
        admin.rollback()
        assert connections.rows("sales", table, Deadline(60)).to_pylist() == [{"bids": 1}]
