"""What depends on a slicer: views, metrics, share links, alerts, notes, leaderboards, questions, grants."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, String, Table, delete, func, insert, select, update

from lib.database import DatabaseScope, keys, metadata, required
from lib.deals.package_records import package_questions
from lib.deals.store.tables import health_reports
from lib.people import Grant
from lib.people.company import ClaimRule
from lib.people.person import labels, person_of, with_name, without_slicer
from lib.people.tables import people
from lib.people.tokens.access import Access
from lib.people.tokens.store import tokens
from lib.serving.connect.known_slicers import known_slicers
from lib.slicers.warehouse import Warehouse
from lib.views.board_copies import BoardCopy
from lib.views.tables import alerts, chosen_cards, mail_messages, notes, own_metrics, saved_views, share_links
from lib.wire.errors import BadRequest, TrancheError

log = logging.getLogger(__name__)
SECONDS, EMBEDDED = 30, ""
Pair = tuple[str, str]
Changes = dict[str, str]
"""What was granted and is now, in words, by user name."""
NAME = String(200)
slicer_renames = Table(
    "slicer_renames",
    metadata,
    *keys(project=NAME, slicer=NAME),
    *required(to_project=NAME, to_slicer=NAME, who=String(100)),
)


@dataclass(frozen=True)
class Dependents:
    """How many of each depend on a slicer; `grants` are those of people for this slicer alone."""

    views: int
    metrics: int
    share_links: int
    alerts: int
    notes: int
    leaderboards: int
    packages: int
    grants: int
    tokens: int

    def sentence(self) -> str:
        """They as words: "2 views, 1 alert"; empty without any."""
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return ", ".join(
            f"{count} {(name.removesuffix('s') if count == 1 else name).replace('_', ' ')}"
            for name, count in counts.items()
            if count
        )


def count(access: Access, pair: Pair) -> Dependents:
    """What depends on the slicer of this project and name, of the reporting service of this desk."""

    def read(connection: Connection) -> Dependents:
        views = select(saved_views.c.id).where(*_about(saved_views, pair))
        return Dependents(
            views=_count(connection, saved_views, *_about(saved_views, pair)),
            metrics=_count(connection, own_metrics, *_about(own_metrics, pair)),
            share_links=_count(connection, share_links, *_about(share_links, pair)),
            alerts=_count(connection, alerts, alerts.c.view_id.in_(views)),
            notes=_count(connection, notes, *_about(notes, pair)),
            leaderboards=_count(connection, chosen_cards, *_about(chosen_cards, pair)),
            packages=_count(connection, package_questions, *_question_of(pair)),
            grants=sum(
                any(grant.is_for(pair) for grant in person.grants) for person in access.people.everyone()
            ),
            tokens=len(_narrow_grants(connection, tokens, pair)),
        )

    return DatabaseScope(access.store.engine).read(read, SECONDS)


def remove(warehouse: Warehouse, access: Access, pair: Pair, by: str) -> None:
    """Remove a slicer, and what depends on it; a filter stays that narrows what a wider grant opens.

    A token loses its grant; one that has no other is removed: without grants it would open all that its owner
    may see. So does the share link of a board: what is imported again is not on it. `by` is who does it.
    Errors of the warehouse.

    Rights go first: whoever is killed meanwhile leaves rows that nobody sees by them.
    """
    finish_renames(warehouse, access)
    with warehouse.remove(*pair):
        with DatabaseScope(access.store.engine).write(SECONDS) as connection:
            for table in (saved_views, own_metrics, share_links, chosen_cards, notes):
                connection.execute(delete(table).where(*_about(table, pair)))
            connection.execute(delete(package_questions).where(*_question_of(pair)))
            for table in (health_reports, mail_messages, known_slicers):
                connection.execute(delete(table).where(*_is_of(table, pair)))
            changes = _regrant(connection, pair, lambda grants: without_slicer(grants, pair))
        _note(access, changes, by)


def rename(
    warehouse: Warehouse, access: Access, pair: Pair, to: Pair, by: str, rules: Iterable[ClaimRule]
) -> None:
    """Rename a slicer, and let what depends on it follow. `by` is who does it. Errors of the warehouse.

    BadRequest, with the lines to change, while one of the `rules` of company accounts grants the slicer and
    not its new name: at the next sign-in a filter would be gone.

    Rights go first, with an entry in the journal, and hold for both names until the rows have moved: whoever
    is killed meanwhile shows nobody more, and the next start finishes the rename.
    """
    finish_renames(warehouse, access)
    lines = [
        f"In the rule for {rule.claim} = {rule.value} add '{new}' beside '{grant}'."
        for rule in rules
        for grant in rule.rights.grants
        for new in with_name([grant], pair, to)
        if new not in rule.rights.grants
    ]
    if lines:
        raise BadRequest(
            f"Rules of company accounts ([[oidc.rules]] in the settings) grant {'/'.join(pair)} by name. "
            f"Nothing was renamed. {' '.join(lines)} Then restart Tranche, and rename again"
        )
    with warehouse.rename(*pair, *to):
        with DatabaseScope(access.store.engine).write(SECONDS) as connection:
            # Let what is stored about a slicer follow it to its new name.
            values = {"project": to[0], "slicer": to[1]}
            for table in (saved_views, own_metrics, share_links, chosen_cards, notes):
                connection.execute(update(table).where(*_about(table, pair)).values(values))
            # The share links of boards, whose copies of views name their slicers.
            boards = select(share_links).where(*_about(share_links, ("", "")))
            for row in connection.execute(boards).all():
                copy = BoardCopy.from_params(row.params)
                if copy is not None and pair in copy.slicers:
                    params = copy.rename_slicer(pair, to).to_params()
                    statement = update(share_links).where(share_links.c.id == row.id)
                    connection.execute(statement.values(params=params))
            connection.execute(update(package_questions).where(*_question_of(pair)).values(values))
            for table in (health_reports, mail_messages):
                connection.execute(update(table).where(*_is_of(table, pair)).values(values))
            changes = _regrant(connection, pair, lambda grants: with_name(grants, pair, to))
            connection.execute(delete(slicer_renames).where(*_is_of(slicer_renames, pair)))
            connection.execute(insert(slicer_renames).values((*pair, *to, by)))
        _note(access, changes, by)
    _end(access, pair, by)


def finish_renames(warehouse: Warehouse, access: Access) -> None:
    """Finish the renames whose process was killed. One that is under way is left alone; see the log."""
    for row in DatabaseScope(access.store.engine).rows(select(slicer_renames)):
        pair, to = (row.project, row.slicer), (row.to_project, row.to_slicer)
        try:
            if warehouse.has(*pair):
                with warehouse.rename(*pair, *to):
                    pass
            _end(access, pair, row.who)
        except TrancheError as error:
            log.warning("Renaming %s to %s is not finished: %s", "/".join(pair), "/".join(to), error.reason)


def _end(access: Access, pair: Pair, by: str) -> None:
    """Take away the rights under the old name, and the entry in the journal."""
    with DatabaseScope(access.store.engine).write(SECONDS) as connection:
        changes = _regrant(connection, pair, lambda grants: without_slicer(grants, pair))
        connection.execute(delete(slicer_renames).where(*_is_of(slicer_renames, pair)))
    _note(access, changes, by)


def _regrant(connection: Connection, pair: Pair, change: Callable[[Sequence[Grant]], list[Grant]]) -> Changes:
    """Change the grants of people, tokens and share links that have one for this slicer; returns those of
    people.

    People with company accounts have those of their last sign-in, and others by the rules at the next.
    """
    for table in (tokens, share_links):
        for number, grants in _narrow_grants(connection, table, pair).items():
            texts = [str(grant) for grant in change(grants)]
            statement = update(table).values(grants=texts) if texts else delete(table)
            connection.execute(statement.where(table.c.id == number))
    changes = {}
    for row in connection.execute(select(people)).all():
        before = person_of(row.username, row.record).grants
        after = change(before)
        if tuple(after) != before:
            record = {**row.record, "grants": [str(grant) for grant in after]}
            connection.execute(update(people).where(people.c.username == row.username).values(record=record))
            changes[row.username] = f"sees {labels(before) or 'nothing'} → {labels(after) or 'nothing'}"
    return changes


def _note(access: Access, changes: Changes, by: str) -> None:
    for username, detail in changes.items():
        access.audit.note("person changed", by, username, detail)


def _narrow_grants(connection: Connection, table: Table, pair: Pair) -> Mapping[int, list[Grant]]:
    """The grants of the tokens, or share links, that have one for this slicer, by their number."""
    ours = [table.c.service == EMBEDDED] if table is share_links else []
    rows = connection.execute(select(table.c.id, table.c.grants).where(*ours))
    grants = {row.id: [Grant.parse(text) for text in row.grants or ()] for row in rows}
    return {number: own for number, own in grants.items() if any(grant.is_for(pair) for grant in own)}


def _about(table: Table, pair: Pair) -> tuple[ColumnElement[bool], ...]:
    return (table.c.service == EMBEDDED, *_is_of(table, pair))


def _question_of(pair: Pair) -> tuple[ColumnElement[bool], ...]:
    return (package_questions.c.reporting == EMBEDDED, *_is_of(package_questions, pair))


def _is_of(table: Table, pair: Pair) -> tuple[ColumnElement[bool], ...]:
    return table.c.project == pair[0], table.c.slicer == pair[1]


def _count(connection: Connection, table: Table, *conditions: Any) -> int:
    return connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()
