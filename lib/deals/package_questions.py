"""The questions that packages came from, kept in the desk's own database for every service."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Engine, String, Table, delete, insert, select

from lib.database import Document, Instant, metadata, reading, transact
from lib.people import Person
from lib.wire.deadline import Deadline

SECONDS = 10

package_questions = Table(
    "package_questions",
    metadata,
    Column("service", String(500), primary_key=True),
    Column("package_id", BigInteger, primary_key=True, autoincrement=False),
    Column("reporting", String(500), nullable=False),
    Column("project", String(200), nullable=False),
    Column("slicer", String(200), nullable=False),
    Column("params", Document, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("at", Instant, nullable=False),
)


@dataclass(frozen=True)
class PackageQuestion:
    """A question about a slicer of a project, as the parameters of its link."""

    project: str
    slicer: str
    params: Mapping[str, str]


@dataclass(frozen=True)
class PackageQuestions:
    """The questions of packages of the deals service at `service`, about slicers of the one at `reporting`
    (empty: the embedded ones), as far as this person may see their slicers.

    Its methods raise StoreUnavailable or DeadlineExceeded where the database can't be used.
    """

    engine: Engine
    service: str
    reporting: str
    person: Person

    def get(self, package: int) -> PackageQuestion | None:
        """The question that this package came from; None without one, or where its slicer may not be seen."""

        def within(connection: Connection) -> PackageQuestion | None:
            row = connection.execute(select(package_questions).where(*self._of(package))).one_or_none()
            return None if row is None else PackageQuestion(row.project, row.slicer, row.params)

        package_question = reading(self.engine, within, Deadline(SECONDS))
        return (
            package_question
            if package_question is not None
            and self.person.may_see(package_question.project, package_question.slicer)
            else None
        )

    def keep(self, package: int, question: PackageQuestion) -> None:
        """Store the question that this package came from."""

        def within(connection: Connection) -> None:
            table = package_questions
            old = (table.c.service == self.service, table.c.package_id == package)
            connection.execute(delete(table).where(*old))
            connection.execute(
                insert(table).values(
                    service=self.service,
                    package_id=package,
                    reporting=self.reporting,
                    project=question.project,
                    slicer=question.slicer,
                    params=dict(question.params),
                    owner=self.person.username,
                    at=datetime.now(UTC),
                )
            )

        transact(self.engine, within, Deadline(SECONDS))

    def _of(self, package: int) -> tuple[Any, ...]:
        table = package_questions
        return (
            table.c.service == self.service,
            table.c.reporting == self.reporting,
            table.c.package_id == package,
        )
