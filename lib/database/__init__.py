"""The one database of tokens and deals: engine, tables' metadata, transactions, migrations."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime

from sqlalchemy import Engine

from lib.database.columns import (
    Amount,
    Document,
    Instant,
    Key,
    from_row,
    keys,
    metadata,
    numbered_table,
    optional,
    required,
)
from lib.database.engine import engine, migrate, upgrade
from lib.database.transaction import DatabaseScope, process_lock, reading, transact, writing
from lib.wire.errors import TrancheError

__all__ = [
    "Amount", "DatabaseScope", "Document", "Instant", "Key", "Look", "background", "engine", "from_row",
    "keys", "metadata", "migrate", "numbered_table", "optional", "process_lock", "reading", "required",
    "transact", "upgrade", "writing",
]  # fmt: skip


log = logging.getLogger(__name__)
POLL_SECONDS = 10.0
IsAlone = Callable[[], bool]
Look = Callable[[datetime, IsAlone], object]


@contextmanager
def background(
    work: str, failure: str, engine: Callable[[], Engine], start: Callable[[], AbstractContextManager[Look]]
) -> Iterator[None]:
    """Look every ten seconds during the block, in a thread, while no other process over the database does.

    `work` names it among the processes. `start` prepares, once this process is the one, and gives what looks:
    it gets the time and whether to go on. The others wait, and go on where it ends. What goes wrong is logged
    as `failure`, and the next look is tried.
    """
    ending = threading.Event()

    def wait() -> None:
        while not ending.wait(POLL_SECONDS):
            try:
                with process_lock(engine(), work) as is_alone:
                    if is_alone():
                        with start() as run_once:
                            run(run_once, lambda: is_alone() and not ending.is_set())
            except TrancheError as error:
                log.warning("%s: %s", failure, error.reason)

    def run(run_once: Look, is_alone: IsAlone) -> None:
        while is_alone():
            try:
                run_once(datetime.now(UTC), is_alone)
            except TrancheError as error:
                log.warning("%s: %s", failure, error.reason)
            except Exception:
                log.exception(failure)
            ending.wait(POLL_SECONDS)

    threading.Thread(target=wait, name=work, daemon=True).start()
    try:
        yield
    finally:
        ending.set()
