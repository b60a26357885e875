"""The context of a request beside Streamlit's: no session, and caches of its own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lib import connect
from lib.people import Person
from lib.reporting.client import Reporting
from lib.ui.kit.frame import PageContext

Cache = TypeVar("Cache")


@dataclass(frozen=True)
class RequestContext(PageContext):
    """What a screen has, for one request. Whoever makes it has checked the person and what they may see.

    `language` is the browser's; `caches` are by name.
    """

    language: str = ""
    caches: dict[str, Any] = field(default_factory=dict)

    @property
    def reporting(self) -> Reporting:
        """The client of the reporting API."""
        return self.drawn_with.reporting

    @property
    def clients(self) -> connect.Clients:
        """The clients of the person."""
        return self.drawn_with

    def now(self) -> Person:
        """The person of the request."""
        return self.person

    @property
    def locale(self) -> str | None:
        """The language of the browser, such as `de-CH`."""
        return self.language

    def cache(self, name: str, make: Callable[[], Cache]) -> Cache:
        """What is cached under this name for the request; `make` creates it empty."""
        cached: Cache = self.caches.setdefault(name, make())
        return cached
