"""What the reports of a caller tell about a write to deals: what there is to promise, and what was won.

Asked with the caller's own grants, as far as they see all rows of a slicer, and for a second at most; what
was won is kept for some minutes.
"""

import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from lib.deals.comparisons import Promise, Supply, WinScales
from lib.deals.models import Seat, Targeting
from lib.deals.targeting.kinds import KINDS, key_field
from lib.insight import Insight
from lib.people.tokens.store import Caller
from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.service import AuthorizedRequest, ReportingService
from lib.serving.remote.lines import Line
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.slicers.roles import tells_deals
from lib.slicers.warehouse import Warehouse
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter

WHO = "tranche"
SECONDS = 1.0  # for all that one write asks
SECONDS_KEPT = 300.0
MOST_KEPT = 100
DAYS = 30
Pair = tuple[str, str]
Value = TypeVar("Value")


class ReportCache:
    """What reports told lately, by who asked for what; safe among threads."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[float, Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, ask: Callable[[], Value]) -> Value:
        """What was asked lately, else what is asked now."""
        with self._lock:
            at, value = self._entries.get(key, (float("-inf"), None))
        if time.monotonic() - at < SECONDS_KEPT:
            return cast(Value, value)
        value = ask()
        with self._lock:
            if len(self._entries) >= MOST_KEPT:
                self._entries.clear()
            self._entries[key] = (time.monotonic(), value)
        return value


class ReportSource(Protocol):
    """How slicers are read: those of this process, or of a remote service."""

    def pairs(self) -> Sequence[Pair]:
        """Project and name of each."""

    def info(self, pair: Pair, deadline: Deadline) -> Slicer:
        """What a slicer is. Raises why it can't be read."""

    def audience(self, pair: Pair, query: AudienceQuery, slicer: Slicer, deadline: Deadline) -> Audience:
        """The answer, of all rows. Raises why there is none in time."""


@dataclass(frozen=True)
class OwnReports:
    """The slicers of this process."""

    warehouse: Warehouse
    service: ReportingService

    def pairs(self) -> Sequence[Pair]:
        return sorted(self.warehouse.slicers())

    def info(self, pair: Pair, deadline: Deadline) -> Slicer:
        return self.warehouse.open(*pair).info()

    def audience(self, pair: Pair, query: AudienceQuery, slicer: Slicer, deadline: Deadline) -> Audience:
        request = AuthorizedRequest(WHO, self.warehouse.open(*pair), query, ())
        return self.service.audience(request, deadline)


@dataclass(frozen=True)
class RemoteReports:
    """The slicers of a remote service that the settings name; what one is is kept for some minutes."""

    line: Line
    names: Sequence[str]
    cache: ReportCache

    def pairs(self) -> Sequence[Pair]:
        return [(project, name) for project, _, name in (slicer.partition("/") for slicer in self.names)]

    def info(self, pair: Pair, deadline: Deadline) -> Slicer:
        query = InfoQuery(project_name=pair[0], slicer_name=pair[1])
        return self.cache.get(("info", pair), lambda: self._client(deadline).info(query))

    def audience(self, pair: Pair, query: AudienceQuery, slicer: Slicer, deadline: Deadline) -> Audience:
        return self._client(deadline).audience(query, slicer)

    def _client(self, deadline: Deadline) -> Reporting:
        patience = replace(self.line.patience, within=deadline)
        return Reporting(self.line.http, self.line.credential, patience)


@dataclass(frozen=True)
class ReportAvailability:
    """What reports tell this caller, in the currency of prices without one; `is_cpm`: prices are CPMs."""

    caller: Caller
    source: ReportSource
    cache: ReportCache
    currency: str
    is_cpm: bool
    deadline: Deadline = field(default_factory=lambda: Deadline(SECONDS))

    def supply(self, promise: Promise, now: datetime) -> Supply | None:
        """The forecast of the days that are left, as the panel of a targeting has it."""
        if (report := self._report()) is None:
            return None
        return report.available(promise.package, promise.lists, promise.buyers if self.is_cpm else (), now)

    def win_scales(self, seats: Callable[[], Sequence[Seat]]) -> WinScales:
        """The quartiles of the last 30 days; nothing where prices are no CPMs."""

        def fetch() -> WinScales:
            report = self._report()
            return WinScales({}) if report is None else report.win_scales(seats())

        person, token = self.caller.person, self.caller.token
        key = ("wins", person.username, person.role, person.grants, token.grants, self.caller.deals)
        return self.cache.get(key, fetch) if self.is_cpm else WinScales({})

    def lacks(self, targeting: Targeting) -> Mapping[str, Mapping[str, bool]]:
        """By the values of the last 30 days; what a sample has not is not known."""
        report = self._report()
        lacking: dict[str, dict[str, bool]] = {}
        for kind in KINDS if report is not None else ():
            codes = tuple(dict.fromkeys(kind.value(target) for target in kind.of(targeting)))
            key = None if kind.is_list or report is None else key_field(kind, report.slicer)
            if report is not None and codes and key is not None:
                only = (Filter(name=key.name, value=codes, match="equals"),)
                query = report.query(DAYS, filters=only, split_by=(key.name,), data_fields=())
                answer = report.ask(query)
                names = {*answer.names[key.name].tolist()}
                is_exact = answer.confidence_range is None
                lacking[kind.name] = {code: code not in names for code in codes if is_exact or code in names}
        return lacking

    def _report(self) -> Insight | None:
        """The first slicer that tells deals apart and whose rows the caller may all see; None without one."""
        for pair in self.source.pairs():
            if not self.caller.may_see(*pair) or self.caller.row_filters(*pair):
                continue
            about = self.source.info(pair, self.deadline)
            if tells_deals(about):
                ask = partial(self.source.audience, pair, slicer=about, deadline=self.deadline)
                sees_all_seats = self.caller.deals.seats is None
                return Insight(*pair, about, dates.today(about.timezone), ask, sees_all_seats, self.currency)
        return None
