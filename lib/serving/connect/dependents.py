"""What depends on a slicer: views, metrics, share links, alerts, notes, leaderboards, questions, grants."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, update

from lib.database import DatabaseScope
from lib.deals.package_records import package_questions
from lib.deals.store.tables import health_reports
from lib.people import Grant, People
from lib.people.person import without_places
from lib.people.tokens.access import Access
from lib.people.tokens.store import tokens
from lib.slicers.warehouse import Warehouse
from lib.views.board_copies import BoardCopy
from lib.views.tables import alerts, chosen_cards, notes, own_metrics, saved_views, share_links

SECONDS, EMBEDDED = 30, ""
Pair = tuple[str, str]


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
            grants=len(_holders(access.people, pair)),
            tokens=len(_tokens(connection, pair)),
        )

    return DatabaseScope(access.store.engine).read(read, SECONDS)


def remove(warehouse: Warehouse, access: Access, pair: Pair, by: str) -> None:
    """Remove a slicer, and what depends on it. A token loses its grant; one that has no other is removed.

    Without grants it would open all that its owner may see. `by` is who does it. Errors of the warehouse.
    """
    grant = Grant(*pair)
    warehouse.remove(*pair)
    with DatabaseScope(access.store.engine).write(SECONDS) as connection:
        for table in (saved_views, own_metrics, share_links, chosen_cards, notes):
            connection.execute(delete(table).where(*_about(table, pair)))
        connection.execute(delete(package_questions).where(*_question_of(pair)))
        connection.execute(delete(health_reports).where(*_is_of(health_reports, pair)))
        for number, grants in _tokens(connection, pair).items():
            remaining = [str(other) for other in without_places(grants, [grant])]
            statement = update(tokens).values(grants=remaining) if remaining else delete(tokens)
            connection.execute(statement.where(tokens.c.id == number))
    for username in _holders(access.people, pair):
        access.regrant(username, [grant], by, takes=True)


def rename(warehouse: Warehouse, access: Access, pair: Pair, to: Pair, by: str) -> None:
    """Rename a slicer, and let what depends on it follow. `by` is who does it. Errors of the warehouse."""
    warehouse.rename(*pair, *to)
    values = {"project": to[0], "slicer": to[1]}
    with DatabaseScope(access.store.engine).write(SECONDS) as connection:
        for table in (saved_views, own_metrics, share_links, chosen_cards, notes):
            connection.execute(update(table).where(*_about(table, pair)).values(values))
        _rename_in_boards(connection, pair, to)
        connection.execute(update(package_questions).where(*_question_of(pair)).values(values))
        connection.execute(update(health_reports).where(*_is_of(health_reports, pair)).values(values))
        for number, grants in _tokens(connection, pair).items():
            new_grants = [str(_under_name(grant, pair, to)) for grant in grants]
            connection.execute(update(tokens).where(tokens.c.id == number).values(grants=new_grants))
    for username in _holders(access.people, pair):
        own_grants = access.people.require(username).grants
        access.change(username, by, grants=[_under_name(grant, pair, to) for grant in own_grants])


def _rename_in_boards(connection: Connection, pair: Pair, to: Pair) -> None:
    """Let the share links of boards follow, whose copies of views name their slicers."""
    rows = connection.execute(select(share_links).where(*_about(share_links, ("", "")))).all()
    for row in rows:
        copy = BoardCopy.from_params(row.params)
        if copy is not None and pair in copy.slicers:
            params = copy.rename_slicer(pair, to).to_params()
            connection.execute(update(share_links).where(share_links.c.id == row.id).values(params=params))


def _under_name(grant: Grant, pair: Pair, to: Pair) -> Grant:
    return replace(grant, project=to[0], slicer=to[1]) if _is_for(grant, pair) else grant


def _is_for(grant: Grant, pair: Pair) -> bool:
    """Whether the grant is for this slicer alone, for all of its rows or some."""
    return (grant.project, grant.slicer) == pair


def _holders(people: People, pair: Pair) -> list[str]:
    """People with a grant of their own for this slicer; those of company accounts come from the settings."""
    everyone = people.everyone()
    return [
        person.username
        for person in everyone
        if not person.company and any(_is_for(grant, pair) for grant in person.grants)
    ]


def _tokens(connection: Connection, pair: Pair) -> Mapping[int, list[Grant]]:
    """The grants of the tokens that have one for this slicer, by the token's number."""
    rows = connection.execute(select(tokens.c.id, tokens.c.grants))
    grants = {row.id: [Grant.parse(text) for text in row.grants] for row in rows}
    return {number: own for number, own in grants.items() if any(_is_for(grant, pair) for grant in own)}


def _about(table: Table, pair: Pair) -> tuple[ColumnElement[bool], ...]:
    return (table.c.service == EMBEDDED, *_is_of(table, pair))


def _question_of(pair: Pair) -> tuple[ColumnElement[bool], ...]:
    return (package_questions.c.reporting == EMBEDDED, *_is_of(package_questions, pair))


def _is_of(table: Table, pair: Pair) -> tuple[ColumnElement[bool], ...]:
    return table.c.project == pair[0], table.c.slicer == pair[1]


def _count(connection: Connection, table: Table, *conditions: Any) -> int:
    return connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()
