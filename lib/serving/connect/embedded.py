"""The reporting client over the service of this process: queries and answers as values, not as HTTP.

What is checked is the same: token and grants at every call, the query, the deadline, and the fair share of
a person. So are the errors. Files still go over the in-process transport, and so do the tests of the API's
specification.
"""

import logging
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, TimeoutError
from dataclasses import replace
from typing import Any, TypeVar

import httpx
import pandas as pd

from lib.reporting.answers import Audience
from lib.reporting.answers.as_json import EXTRAS
from lib.reporting.answers.records import RecordTable
from lib.reporting.answers.responses import error_of
from lib.reporting.client import Reporting, describe, for_records, for_service, where
from lib.reporting.models import AudienceQuery, InfoQuery, RecordsQuery
from lib.reporting.service import AuthorizedRequest, ReportingService
from lib.serving.operations import Meter
from lib.serving.operations.meter import NO_CLIENT
from lib.slicers.models import Slicer
from lib.wire.call import Credential, Patience, in_the_name_of
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, InternalError, TrancheError
from lib.wire.problems import public

OK = 200
OPTIONAL = (*EXTRAS, "descriptions", "currencies")
Result = TypeVar("Result")
Work = Callable[[AuthorizedRequest, Deadline], Result]
log = logging.getLogger(__name__)


class EmbeddedReporting(Reporting):
    """A client with a token of the service in this process.

    Calls run on the service's threads, shared fairly among people. Those within a deadline of the caller's
    (Patience.within) run on its own thread, which people share fairly: they are the questions of one screen,
    and share one look at token and grants.
    """

    def __init__(
        self,
        http: httpx.Client,
        token: str | Credential,
        patience: Patience,
        service: ReportingService,
        meter: Meter,
    ) -> None:
        super().__init__(http, token, patience)
        self._service, self._meter = service, meter
        self._first: dict[Hashable, AuthorizedRequest] = {}

    def info(self, query: InfoQuery) -> Slicer:
        return describe(self._answer("info", query, self._service.info))

    def audience(self, query: AudienceQuery, slicer: Slicer | None = None) -> Audience:
        """The figures; see Reporting. This service knows every extension: nothing is left to do here."""
        query = for_service(query, slicer or self.info(where(query)))
        audience = self._answer("audience", query, self._service.audience)
        # Frames of its own, which share their memory until one is changed (copy on write); as over HTTP, an
        # optional one without columns is None.
        parts = {name: getattr(audience, name) for name in audience.__dataclass_fields__}
        frames: dict[str, Any] = {
            name: part.copy(deep=False) if part.shape[-1] or name not in OPTIONAL else None
            for name, part in parts.items()
            if isinstance(part, pd.DataFrame | pd.Series)
        }
        return replace(audience, **{"keys": audience.names} | frames)

    def records(self, query: RecordsQuery, slicer: Slicer) -> RecordTable:
        """The records behind a figure; see Reporting."""
        return self._answer("records", for_records(query, slicer), self._service.records)

    def _answer(self, verb: str, query: InfoQuery, work: "Work[Result]") -> Result:
        """What `work` makes of the query, with the errors that a client of the API raises.

        Within a deadline of the caller's token and grants are looked at once for all queries about a slicer.
        """
        deadline = self._patience.deadline().part(self._service.settings.deadline_seconds)
        is_within = self._patience.within is not None

        def attempt(token: str) -> Result:
            began, status, slicer = time.perf_counter(), OK, ""
            about = token, query.project_name, query.slicer_name
            try:
                if (first := self._first.get(about)) is not None:
                    request = replace(first, query=query)
                else:
                    request = self._service.authorize(token, query)
                    if is_within:
                        self._first[about] = request
                slicer = f"{request.slicer.project}/{request.slicer.name}"

                def run() -> Result:
                    deadline.check()
                    return work(request, deadline)

                if is_within:
                    return run()
                return _await_result(self._service.queries.submit(request.who, run), deadline)
            except Abandoned:
                status = NO_CLIENT
                raise
            except TrancheError as error:
                status = error.http
                raise error_of(public(verb, error)) from error
            except Exception as error:
                log.exception("%s failed", verb)
                status = InternalError.http
                raise public(verb, InternalError()) from error
            finally:
                self._meter.note(verb, status, time.perf_counter() - began, slicer)

        return in_the_name_of(self._credential, attempt)


SECONDS_BETWEEN_CHECKS = 0.25


def _await_result(future: "Future[Result]", deadline: Deadline) -> Result:
    """The result, unless the caller leaves before its turn comes. Work under way ends with its deadline."""
    while True:
        try:
            return future.result(SECONDS_BETWEEN_CHECKS)
        except TimeoutError:
            if future.done():
                raise
            if deadline.is_abandoned and future.cancel():
                deadline.check()
