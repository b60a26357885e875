"""The models: a saved view is a named question about a slicer, a note is a text on one of its days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, get_args

from lib.wire.errors import BadRequest
from lib.wire.text import readable_line

AlertRule = Literal["above", "below", "changed"]
DealEntryKind = Literal["list", "template"]
AlertState = Literal["new", "ok", "firing", "lost"]
ALERT_RULES: tuple[AlertRule, ...] = get_args(AlertRule)
LONGEST_NAME, LONGEST_NOTE, LONGEST_PARAMS = 100, 300, 20_000


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """What is stored under a name, of which a person has one of each name.

    `owner` is a user name, `is_mine` whether that is the person who reads it; times are in UTC.
    """

    id: int
    name: str
    owner: str
    is_shared: bool
    created: datetime
    changed: datetime
    is_mine: bool


@dataclass(frozen=True, slots=True)
class SavedView(NamedEntry):
    """A question about a slicer: `params` are its URL parameters, without project and slicer."""

    project: str
    slicer: str
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OwnMetric(NamedEntry):
    """A formula over data fields of a slicer, and how its figures are written."""

    project: str
    slicer: str
    formula: str
    unit: str
    digits: int


@dataclass(frozen=True, slots=True)
class DealEntry(NamedEntry):
    """A list of deals or a template of a package."""

    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a day of a slicer, visible to everybody who may see the slicer; or on a view, to who sees it.

    `day` of a note on the view `view_id` is when it was written. `is_for_me`: it mentions who reads it.
    """

    id: int
    project: str
    slicer: str
    day: date
    text: str
    owner: str
    created: datetime
    view_id: int | None
    is_mine: bool
    is_for_me: bool


@dataclass(frozen=True, slots=True)
class Alert:
    """A figure of a saved view that a person watches: its data field, and when it is to fire.

    `figure` are the facts of the data field that a number of it is written by. `bound` is None for `changed`,
    whose bounds `low` and `high` the last check found. `since` is when the state began, `value` the figure of
    the last check, `problem` why that found none. A view that its owner can't see any more has no name here.
    `rows_key` says which rows the last check was about (`Person.rows_key`).
    """

    id: int
    view_id: int
    view_name: str
    project: str
    slicer: str
    params: Mapping[str, str]
    owner: str
    created: datetime
    field: str
    figure: Mapping[str, Any]
    rule: AlertRule
    bound: float | None
    state: AlertState
    since: datetime | None
    value: float | None
    low: float | None
    high: float | None
    problem: str
    checked: datetime | None
    rows_key: str | None


def checked_name(name: str) -> str:
    """The name in one line; BadRequest for one that is empty, too long or not valid."""
    return readable_line(name, "The name", LONGEST_NAME)


def fitting(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters to store; BadRequest if they are larger than any question needs."""
    length = sum(len(name) + len(text) for name, text in params.items())
    if length > LONGEST_PARAMS:
        size = f"{length:,} characters, {LONGEST_PARAMS:,} at most"
        raise BadRequest(f"The question is too long to save: {size}")
    return dict(params)
