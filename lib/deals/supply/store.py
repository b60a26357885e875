"""The imported supply files in the desk's own database, whichever deals service answers.

A file replaces the one of its kind and domain. Whoever may see deals may see them; whoever may change the
deals of all seats may import and remove them, since they are about everybody's packages.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    Row,
    String,
    Table,
    UniqueConstraint,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
)

from lib.database import DatabaseScope, Document, Instant, Key, keys, metadata, numbered_table, required
from lib.deals.supply.formats import (
    ADS,
    APP_ADS,
    KINDS,
    LIMITS,
    LONGEST_ACCOUNT,
    LONGEST_APP,
    LONGEST_DOMAIN,
    SELLERS,
    Account,
    LineProblem,
    SupplyFile,
    file_title,
    identify,
    read,
)
from lib.deals.supply.states import AdsFile, SupplyIndex
from lib.people import Person
from lib.wire.errors import Forbidden, ImportRefused, TrancheError
from lib.wire.text import count_of

IMPORT_SECONDS, MOST_FILES, BATCH_SIZE = 120, 50_000, 20
ROW_BATCH = 5_000
NOT_YOURS = "Only people who may change the deals of all seats can import or remove supply files"
NO_ACCESS = "You may see no deals, and no supply files"
HOST = String(LONGEST_DOMAIN)

supply_files = numbered_table(
    "supply_files",
    *required(kind=String(20), domain=HOST, records=Integer, variables=Document, problems=Document),
    *required(problem_count=Integer, who=String(100), at=Instant), UniqueConstraint("kind", "domain"),
)  # fmt: skip
supply_accounts = Table(
    "supply_accounts", metadata,
    Column("file_id", Key, ForeignKey("supply_files.id", ondelete="CASCADE"), nullable=False),
    *required(system=HOST, account=String(LONGEST_ACCOUNT), relation=String(20), domain=HOST),
    Index(None, "file_id"), Index(None, "system", "account"),
)  # fmt: skip
supply_apps = Table(
    "supply_apps", metadata, *keys(app=String(LONGEST_APP)),
    Column("file_id", Key, ForeignKey("supply_files.id", ondelete="CASCADE"), nullable=False, index=True),
    *required(domain=HOST),
)  # fmt: skip


@dataclass(frozen=True)
class ImportedFile:
    """An imported file: its records, the lines that can't be read, who imported it, and when (UTC)."""

    id: int
    kind: str
    domain: str
    records: int
    problems: tuple[LineProblem, ...]
    problem_count: int
    who: str
    at: datetime


@dataclass(frozen=True)
class ImportOutcome:
    """What became of a file: its records and the lines that were not read, or why it was refused."""

    name: str
    kind: str = ""
    records: int = 0
    problems: tuple[LineProblem, ...] = ()
    problem_count: int = 0
    refusal: str = ""


@dataclass(frozen=True)
class SupplyFiles(DatabaseScope):
    """The supply files for one person; for the desk itself where `person` is None, then `who` imports them.

    `note` writes into the audit log. Its methods raise Forbidden, and StoreUnavailable where the
    database can't be used.
    """

    person: Person | None
    note: Callable[[str, str], None] = lambda event, detail: None
    who: str = "tranche"

    @property
    def may_change(self) -> bool:
        """Whether they may import and remove files."""
        return self.person is None or (self.person.deals.writes and self.person.deals.seats is None)

    def add(self, files: Iterable[tuple[str, bytes | Path]], host: str = "") -> list[ImportOutcome]:
        """Import files by name (see `identify`), each whole or not at all; `host` is where those are from
        whose names don't say it."""
        self._check(self.may_change, NOT_YOURS)
        outcomes: list[ImportOutcome] = []
        titles: list[str] = []
        rest = iter(files)
        while batch := [_read(name, data, host) for name, data in islice(rest, BATCH_SIZE)]:
            outcomes += [outcome for outcome, _ in batch]
            read_files = [file for _, file in batch if file is not None]
            with self.write(IMPORT_SECONDS) as connection:
                for file in read_files:
                    old = supply_files.c.kind == file.kind, supply_files.c.domain == file.domain
                    connection.execute(delete(supply_files).where(*old))
                    problems = [[problem.line, problem.text, problem.why] for problem in file.problems]
                    values = {
                        "kind": file.kind, "domain": file.domain, "records": file.records,
                        "problems": problems, "variables": file.variables,
                        "problem_count": file.problem_count, "at": datetime.now(UTC),
                        "who": self.who if self.person is None else self.person.username,
                    }  # fmt: skip
                    adding = insert(supply_files).values(values).returning(supply_files.c.id)
                    number = connection.execute(adding).scalar_one()
                    accounts = [
                        {"file_id": number, "system": account.system, "account": account.account}
                        | {"relation": account.relation, "domain": account.domain}
                        for account in file.accounts
                    ]
                    _insert(connection, supply_accounts, accounts)
                    apps = [
                        {"file_id": number, "app": app, "domain": host} for app, host in file.apps.items()
                    ]
                    _insert(connection, supply_apps, apps)
            titles += [file_title(file.kind, file.domain) for file in read_files]
        if titles:
            self.note("supply file added", _words(titles))
        return outcomes

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove these files; those that are not there any more are passed over."""
        self._check(self.may_change, NOT_YOURS)
        removal = delete(supply_files).where(supply_files.c.id.in_(numbers))
        with self.write(IMPORT_SECONDS) as connection:
            rows = connection.execute(removal.returning(supply_files.c.kind, supply_files.c.domain))
            titles = [file_title(row.kind, row.domain) for row in rows]
        if titles:
            self.note("supply file removed", _words(titles))

    def files(self, search: str = "", limit: int = MOST_FILES) -> tuple[int, list[ImportedFile]]:
        """How many files have this text in their domain or kind, and the first of them: ours come first."""
        self._check(self.person is None or self.person.deals.reads, NO_ACCESS)
        table, text = supply_files.c, search.strip().lower()
        matches = or_(*(column.contains(text, autoescape=True) for column in (table.domain, table.kind)))
        count = select(func.count()).select_from(supply_files).where(matches)
        order = (table.kind != SELLERS, table.domain, table.kind)
        query = select(supply_files).where(matches).order_by(*order).limit(limit)

        def read_files(connection: Connection) -> tuple[int, list[ImportedFile]]:
            rows = connection.execute(query)
            return connection.execute(count).scalar_one(), [_from_row(row) for row in rows]

        return self.read(read_files)

    def get(self, number: int) -> ImportedFile | None:
        """The file of this number; None if it was removed or replaced."""
        self._check(self.person is None or self.person.deals.reads, NO_ACCESS)
        row = self.row(select(supply_files).where(supply_files.c.id == number))
        return None if row is None else _from_row(row)

    def version(self) -> tuple[int, int]:
        """Differs once a file was imported or removed: the last id, and how many there are."""
        last = func.coalesce(func.max(supply_files.c.id), 0).label("last")
        query = select(last, func.count().label("files")).select_from(supply_files)
        row = self.rows(query)[0]
        return row.last, row.files

    def index(self) -> SupplyIndex:
        """All that sites and apps are judged by."""
        self._check(self.person is None or self.person.deals.reads, NO_ACCESS)
        return self.read(_index, IMPORT_SECONDS)

    def _check(self, is_allowed: bool, why_not: str) -> None:
        if not is_allowed:
            raise Forbidden(why_not)


def folder_files(folder: Path) -> tuple[list[tuple[str, Path]], int]:
    """The supply files in a folder and the folders in it, by their paths within it, and how many others there
    are. Links to folders are not followed. ImportRefused for more than 50,000 files."""
    names: list[tuple[str, Path]] = []
    others = 0
    for parent, _, files in os.walk(folder.resolve()):
        for name in sorted(files):
            title, path = f"{Path(parent).name}/{name}", Path(parent, name)
            is_ours = any(name.lower() == kind or name.lower().endswith(f".{kind}") for kind in KINDS)
            if is_ours and title.isprintable() and path.is_file():
                names.append((title, path))
            else:
                others += 1
            if len(names) + others > MOST_FILES:
                raise ImportRefused(f"{folder} holds more than {MOST_FILES:,} files")
    return names, others


def _read(name: str, data: bytes | Path, host: str) -> tuple[ImportOutcome, SupplyFile | None]:
    try:
        kind, domain = identify(name, host)
        if isinstance(data, Path):
            with data.open("rb") as stream:
                data = stream.read(LIMITS[kind][0] + 1)
        file = read(kind, domain, data)
    except TrancheError as error:
        return ImportOutcome(name, refusal=error.reason), None
    except OSError as error:
        return ImportOutcome(name, refusal=f"{name} can't be read: {error.strerror or error}"), None
    return ImportOutcome(name, kind, file.records, tuple(file.problems), file.problem_count), file


def _words(titles: Sequence[str]) -> str:
    return f"{count_of(len(titles), 'file')}: {', '.join(titles[:BATCH_SIZE])}"


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    for first in range(0, len(rows), ROW_BATCH):
        connection.execute(insert(table), rows[first : first + ROW_BATCH])


def _from_row(row: Row[Any]) -> ImportedFile:
    problems = tuple(LineProblem(*problem) for problem in row.problems)
    return ImportedFile(
        row.id, row.kind, row.domain, row.records, problems, row.problem_count, row.who, row.at
    )


def _index(connection: Connection) -> SupplyIndex:
    """The files, of their accounts those that name our systems, and the sellers that these name."""
    files, accounts = supply_files.c, supply_accounts.c
    systems = select(files.domain).where(files.kind == SELLERS)
    ours = select(supply_accounts).join(supply_files).where(files.kind.in_((ADS, APP_ADS)))
    lines: dict[int, list[Account]] = {}
    for row in connection.execute(ours.where(accounts.system.in_(systems))):
        lines.setdefault(row.file_id, []).append(_account(row))
    others = supply_accounts.alias()
    is_match = exists().where(
        others.c.system == accounts.system, others.c.account == accounts.account,
        others.c.file_id != accounts.file_id,
    )  # fmt: skip
    sellers = select(supply_accounts).join(supply_files).where(files.kind == SELLERS, is_match)
    columns = (files.id, files.kind, files.domain, files.variables, files.records)
    return SupplyIndex(
        systems=frozenset(connection.execute(systems).scalars()),
        sellers={(row.system, row.account): _account(row) for row in connection.execute(sellers)},
        files={
            (row.kind, row.domain): AdsFile(row.domain, lines.get(row.id, ()), row.variables, row.records > 0)
            for row in connection.execute(select(*columns).where(files.kind.in_((ADS, APP_ADS))))
        },
        developers={row.app: row.domain for row in connection.execute(select(supply_apps))},
    )


def _account(row: Row[Any]) -> Account:
    return Account(row.system, row.account, row.relation, row.domain)
