"""The context of a question: the person, their clients, the slicer, and how they write numbers and dates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar
from urllib.parse import unquote

from lib.deals.client import Deals
from lib.people import Person
from lib.reporting.client import Reporting
from lib.serving import connect
from lib.slicers import zones
from lib.slicers.models import Slicer
from lib.wire.errors import TrancheError
from lib.wire.filters import Filter
from lib.wire.text import write_day

Cache = TypeVar("Cache")
NO_SLICER = Slicer()


@dataclass(frozen=True)
class RequestContext:
    """The context of one request, download or document. Whoever makes it has checked the person's rights.

    A screen's is a PageContext, whose person may have lost rights since it was made.

    Where the slicer could not be loaded `trouble` says why; `slicer` is then the last one loaded, or empty.
    It is empty too where there is no slicer that the person may see (and nameless), and where the slicer
    `is_missing`: one of this name does not exist, or they may not see it.

    `language` is the one in which numbers are written, such as `de-CH`, `chosen_zone` the cookie of their own
    time zone; `caches` are by name.
    """

    person: Person
    project: str
    slicer_name: str
    slicer: Slicer
    drawn_with: connect.Clients
    trouble: TrancheError | None = None
    is_missing: bool = False
    language: str = ""
    chosen_zone: str = ""
    caches: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def reporting(self) -> Reporting:
        return self.drawn_with.reporting

    @property
    def clients(self) -> connect.Clients:
        return self.drawn_with

    @property
    def deals(self) -> Deals:
        return self.clients.deals

    def now(self) -> Person:
        """The person with their current role and grants."""
        return self.person

    def without_session(self) -> "RequestContext":
        """The same for a thread, which has no session."""
        return self

    @property
    def viewer(self) -> tuple[str, tuple[Filter, ...]]:
        """With what the key of a cached answer begins: whose it is, and which rows they may see now."""
        return self.person.username, self.person.row_filters(self.project, self.slicer_name)

    @property
    def locale(self) -> str | None:
        """The language in which numbers are written for the reader, such as `de-CH`."""
        return self.language

    @property
    def own_zone(self) -> str:
        """The time zone in which the reader's new questions ask; empty: in the slicer's."""
        return read_zone(self.chosen_zone)

    def cache(self, name: str, make: Callable[[], Cache]) -> Cache:
        """What is cached under this name as long as role and grants are the same; `make` creates it empty."""
        # In one step: parts of a page ask on threads of their own, and share the cache of the first.
        cached: Cache = self.caches.setdefault(name, make())
        return cached

    @property
    def is_loading(self) -> bool:
        """Whether the service has not described the slicer yet, and may still do."""
        return self.slicer is NO_SLICER and self.trouble is None and not self.is_missing

    @property
    def freshness(self) -> str:
        """A sentence with the last date of the data, its time zone, and whether these are some rows only."""
        if self.is_missing:
            return "No slicer"
        if self.slicer is NO_SLICER:
            return "The report is still loading" if self.is_loading else "The report is unavailable"
        about = "by default" if self.slicer.knows("time_zones") else "fixed, no DST"
        about = "· some rows only" if self.slicer.restrictions else about
        zone = f"UTC{self.slicer.timezone:+d} {about}"
        if self.slicer.last_date is None:
            return f"No data yet · {zone}" if "last_date" in self.slicer.model_fields_set else zone
        return f"Data to {write_day(date.fromisoformat(self.slicer.last_date))} · {zone}"


def read_zone(cookie: str) -> str:
    """The zone in the value of its cookie; empty for what is none."""
    name = unquote(cookie)
    return name if name in zones.names() else ""
