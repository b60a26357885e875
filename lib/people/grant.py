"""A grant: a project, or one slicer of it, and of the slicer maybe only the rows that pass its filters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from pydantic import TypeAdapter, ValidationError

from lib.wire import text
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter, describe

EVERYTHING, FILTERS_BEGIN = "*", "/[{"
MOST_FILTERS, LONGEST = 20, 100_000
GRANT_HELP = "write project, project/slicer, project/slicer/[filters as JSON], or * for everything"
_FILTERS = TypeAdapter(tuple[Filter, ...])


@dataclass(frozen=True, slots=True)
class Grant:
    """A project, or one slicer of it. The project `*` is all.

    As text `project`, `project/slicer`, or `project/slicer/[{"name": …, "value": […], "match": …}]` with the
    filter objects of the reporting API. Of several filters all hold.
    """

    project: str
    slicer: str | None = None
    filters: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        if not self.project or self.slicer == "" or (self.project == EVERYTHING and self.slicer is not None):
            raise BadRequest(f"'{self}' is not a grant: {GRANT_HELP}")
        if not text.DOTS.isdisjoint((self.project, self.slicer)):
            raise BadRequest(f"'{self}' is not a grant: no project or slicer is called . or ..")
        if self.filters and self.slicer is None:
            raise BadRequest(f"Filters belong to one slicer: grant {self.project}/SLICER with them")
        if len(self.filters) > MOST_FILTERS or len(str(self)) > LONGEST:
            raise BadRequest(f"A grant has at most {MOST_FILTERS} filters, and {LONGEST:,} characters")
        for filter_ in self.filters:
            if not filter_.value:
                raise BadRequest(f"The filter on {filter_.name} needs a value")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The grant that a text means; BadRequest for another text."""
        project, slash, rest = text.strip().partition("/")
        slicer, has_filters, filters = rest.partition(FILTERS_BEGIN)
        own = parse_filters(f"{FILTERS_BEGIN[1:]}{filters}") if has_filters else ()
        return cls(project, slicer if slash else None, own)

    def __str__(self) -> str:
        if not self.filters:
            return self.place
        return f"{self.place}/{_FILTERS.dump_json(self.filters, exclude_defaults=True).decode()}"

    @property
    def place(self) -> str:
        """Project and slicer alone, as text."""
        return self.project if self.slicer is None else f"{self.project}/{self.slicer}"

    @property
    def label(self) -> str:
        """It for people to read: `demo/curation (only seat equals 3, 7)`."""
        return f"{self.place} (only {describe(self.filters)})" if self.filters else self.place

    def covers(self, project: str, slicer: str | None = None) -> bool:
        """Whether the slicer lies within this grant; without a slicer: whether the whole project does."""
        return self.project == EVERYTHING or (self.project == project and self.slicer in (None, slicer))


def parse_filters(text: str) -> tuple[Filter, ...]:
    """The filters of a JSON list of filter objects; BadRequest for another text, or none in it.

    For the keyboard also one object, or `name=value,value` for a filter by equal values without commas.
    """
    name, equals, values = text.partition("=")
    if equals and not text.startswith(("[", "{")):
        return (Filter(name=name.strip(), value=tuple(values.split(",")), match="equals"),)
    try:
        if text.startswith("{"):
            text = f"[{text}]"
        filters = _FILTERS.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRequest(f"These are no filters: {f'{where}: ' if where else ''}{first['msg']}") from None
    if not filters:
        raise BadRequest("The list of filters is empty; leave it out to grant all rows")
    return filters


def labels(grants: Iterable[Grant]) -> str:
    """Several of them for people to read; empty without any."""
    return ", ".join(grant.label for grant in grants)


def row_filters(grants: Iterable[Grant], project: str, slicer: str) -> tuple[Filter, ...]:
    """The filters of the grants for this very slicer, all of which hold.

    A grant for its whole project beside them does not lift them: whoever narrows one slicer means it.
    """
    own = [grant for grant in grants if (grant.project, grant.slicer) == (project, slicer)]
    return tuple(dict.fromkeys(filter_ for grant in own for filter_ in grant.filters))


def with_grants(grants: Iterable[Grant], more: tuple[Grant, ...]) -> list[Grant]:
    """The grants and more of them, each in place of one for the same project or slicer."""
    places = {grant.place for grant in more}
    others = (grant for grant in grants if grant in more or grant.place not in places)
    return [*dict.fromkeys((*others, *more))]


def without_places(grants: Iterable[Grant], others: Iterable[Grant]) -> list[Grant]:
    """The grants but those for the projects and slicers of the others, whatever their filters."""
    places = {grant.place for grant in others}
    return [grant for grant in grants if grant.place not in places]
