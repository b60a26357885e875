"""What the desk keeps of packages and deals for every service: drafts of packages and of changes, owner and
note, the question that a package came from.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, String, Table, Text, delete, insert, select

from lib.database import DatabaseScope, Document, Instant, keys, metadata, required
from lib.people import Person
from lib.wire import text
from lib.wire.errors import Conflict, Invalid

Key = tuple[str, int]
BATCH_SIZE = 500
LONGEST_OWNER, LONGEST_NOTE = 100, 2_000
drafts = Table(
    "drafts", metadata, *keys(username=String(64), service=String(500)), *required(at=Instant, body=Document)
)
change_drafts = Table(
    "change_drafts", metadata,
    *keys(username=String(64), service=String(500), entity=String(40), entity_id=BigInteger),
    *required(at=Instant, body=Document),
)  # fmt: skip
package_questions = Table(
    "package_questions", metadata, *keys(service=String(500), package_id=BigInteger),
    *required(reporting=String(500), project=String(200), slicer=String(200)),
    *required(params=Document, owner=String(64), at=Instant),
)  # fmt: skip
package_notes = Table(
    "package_notes", metadata, *keys(service=String(500), package_id=BigInteger),
    *required(owner=String(LONGEST_OWNER), note=Text, who=String(64), at=Instant),
)  # fmt: skip


@dataclass(frozen=True)
class KeptDraft:
    """A stored draft."""

    at: datetime
    body: dict[str, Any]


@dataclass(frozen=True)
class Drafts(DatabaseScope):
    """What a person has begun at the deals service at `service` (empty: the embedded one) and not saved.

    Of each package or deal (`key`) one change, and one new package, without a key. Nobody else gets them.
    """

    service: str
    person: Person

    def get(self, key: Key | None = None) -> KeptDraft | None:
        """The draft, or None; those of an earlier person of the same name don't count."""
        table, mine = self._mine(key)
        row = self.row(select(table).where(*_are(table, mine)))
        return KeptDraft(row.at, row.body) if row is not None and self.person.had_name(row.at) else None

    def keep(self, body: dict[str, Any], key: Key | None = None) -> None:
        """Store this in place of what was there."""
        table, mine = self._mine(key)
        values = {**mine, "at": datetime.now(UTC), "body": body}
        self.execute(delete(table).where(*_are(table, mine)), insert(table).values(values))

    def discard(self, key: Key | None = None) -> None:
        table, mine = self._mine(key)
        self.execute(delete(table).where(*_are(table, mine)))

    def _mine(self, key: Key | None) -> tuple[Table, dict[str, Any]]:
        mine = {"username": self.person.username, "service": self.service}
        if key is None:
            return drafts, mine
        return change_drafts, {**mine, "entity": key[0], "entity_id": key[1]}


def _are(table: Table, values: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in values.items()]


@dataclass(frozen=True)
class PackageQuestion:
    """A question about a slicer of a project, as the parameters of its link."""

    project: str
    slicer: str
    params: Mapping[str, str]


@dataclass(frozen=True)
class PackageQuestions(DatabaseScope):
    """The questions of packages of the deals service at `service`, about slicers of the one at `reporting`
    (empty: the embedded ones), as far as this person may see their slicers."""

    service: str
    reporting: str
    person: Person

    def get(self, package: int) -> PackageQuestion | None:
        """The question that this package came from; None without one, or where its slicer may not be seen."""
        table = package_questions.c
        mine = table.service == self.service, table.reporting == self.reporting, table.package_id == package
        row = self.row(select(package_questions).where(*mine))
        if row is None or not self.person.may_see(row.project, row.slicer):
            return None
        return PackageQuestion(row.project, row.slicer, row.params)

    def keep(self, package: int, question: PackageQuestion) -> None:
        """Store the question that this package came from."""
        table = package_questions
        values = {
            "service": self.service, "package_id": package, "reporting": self.reporting,
            "project": question.project, "slicer": question.slicer, "params": dict(question.params),
            "owner": self.person.username, "at": datetime.now(UTC),
        }  # fmt: skip
        old = (table.c.service == self.service, table.c.package_id == package)
        self.execute(delete(table).where(*old), insert(table).values(values))


@dataclass(frozen=True)
class PackageNote:
    """Who looks after a package and what is noted of it, either may be empty; who wrote that, and when."""

    owner: str = ""
    note: str = ""
    who: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class PackageNotes(DatabaseScope):
    """The notes of packages of the deals service at `service` (empty: the embedded one).

    It knows no packages: ask only for those that the person may see.
    """

    service: str
    person: Person

    def get(self, package: int) -> PackageNote:
        """What is kept of this package; empty where nothing is."""
        return self.of([package]).get(package, PackageNote())

    def of(self, packages: Collection[int]) -> dict[int, PackageNote]:
        """What is kept of these packages, by id."""
        ids = sorted(set(packages))

        def read(connection: Connection) -> dict[int, PackageNote]:
            notes: dict[int, PackageNote] = {}
            for first in range(0, len(ids), BATCH_SIZE):
                query = select(package_notes).where(*self._of(ids[first : first + BATCH_SIZE]))
                notes |= {row.package_id: _note(row) for row in connection.execute(query)}
            return notes

        return self.read(read) if ids else {}

    def keep(self, package: int, owner: str, note: str, before: PackageNote) -> PackageNote:
        """Store both in place of `before`; Conflict if somebody else has changed them since.

        Forbidden for who may not change deals; Invalid for long or unreadable texts.
        """
        self.person.check_writes_deals()
        new_note = PackageNote(" ".join(owner.split()), note.strip(), self.person.username, datetime.now(UTC))
        wrong: dict[str, list[str]] = {}
        for name, longest in (("owner", LONGEST_OWNER), ("note", LONGEST_NOTE)):
            value = getattr(new_note, name)
            if len(value) > longest:
                wrong[name] = [f"At most {longest:,} characters; this has {len(value):,}."]
            elif sentence := text.fault(re.sub(r"[\n\t\r]", " ", value)):
                wrong[name] = [f"This {sentence}."]
        if wrong:
            raise Invalid(wrong)
        with self.write() as connection:
            row = connection.execute(select(package_notes).where(*self._of([package]))).one_or_none()
            current = PackageNote() if row is None else _note(row)
            if (current.owner, current.note, current.at) != (before.owner, before.note, before.at):
                raise Conflict(f"{current.who} has changed it meanwhile; nothing was saved")
            connection.execute(delete(package_notes).where(*self._of([package])))
            values = {"owner": new_note.owner, "note": new_note.note, "who": new_note.who, "at": new_note.at}
            if new_note.owner or new_note.note:
                keys = {"service": self.service, "package_id": package}
                connection.execute(insert(package_notes).values(**keys, **values))
        return new_note

    def _of(self, packages: Collection[int]) -> tuple[Any, ...]:
        table = package_notes
        return table.c.service == self.service, table.c.package_id.in_(packages)


def _note(row: Row[Any]) -> PackageNote:
    return PackageNote(row.owner, row.note, row.who, row.at)
