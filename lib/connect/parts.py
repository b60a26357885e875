"""The parts of an installation: lines to remote services, routes, and what is measured."""

from dataclasses import dataclass

from fastapi import APIRouter

from lib import operations, remote
from lib.deals import routes as deals_service
from lib.deals.admission import Admission
from lib.deals.service import DealsService
from lib.deals.sync import routes as sync_service
from lib.deals.sync.service import DealSync
from lib.deals.sync.settings import selling_side
from lib.people.sessions import Sessions
from lib.remote import Line, RemoteDeals
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.tokens.access import Access
from lib.tokens.passes import Passes
from lib.wire.breaker import Breaker
from lib.wire.throttle import Throttle


@dataclass(frozen=True)
class Lines:
    """The lines to remote services; None for an embedded service."""

    reporting: Line | None
    deals: RemoteDeals | None

    @property
    def breakers(self) -> list[Breaker]:
        """The circuit breakers of the remote services, shared by everybody at the desk."""
        lines = [self.reporting, self.deals and self.deals.line]
        return [breaker for line in lines if line for breaker in line.breakers]


def remote_lines(settings: Settings, access: Access) -> Lines:
    """The lines to the remote services of the settings."""
    return Lines(
        remote.reporting_line(settings) if settings.base_url else None,
        RemoteDeals(settings, remote.deals_line(settings), access.store.engine)
        if settings.curate_url
        else None,
    )


def usage_meter(settings: Settings, answering: ReportingService, sessions: Sessions) -> operations.Meter:
    """What is measured of requests, and of what the reporting service and people do."""
    meter, cached = operations.Meter(names_slicers=settings.metrics_slicers), answering.answers
    meter.add_counter("tranche_rows_read", "Rows that queries read.", lambda: answering.rows_read)
    meter.add_counter("tranche_cache_hits", "Answers taken from the cache.", lambda: cached.hits)
    meter.add_counter("tranche_cache_misses", "Answers that had to be computed.", lambda: cached.misses)
    meter.add_gauge("tranche_cache_bytes", "Bytes of the cached answers.", lambda: cached.bytes)
    meter.add_gauge("tranche_sessions", "Sign-ins that have not ended.", sessions.count)
    return meter


def operations_routes(settings: Settings, access: Access, lines: Lines, meter: operations.Meter) -> APIRouter:
    """The routes that tell whether the process is well, and what it does."""
    remotes = (lines.reporting, lines.deals and lines.deals.line)
    parts = operations.probes(access.store.engine, settings.warehouse, (line for line in remotes if line))
    return operations.routes(operations.Readiness(parts), meter, settings.metrics_token)


def deals_routes(access: Access, passes: Passes, settings: Settings) -> APIRouter:
    """The routes of the deals API, and of the documents that DSPs poll."""
    reads = Throttle(settings.throttle_reads, share=access.tally("reads"))
    writes = Throttle(settings.throttle_writes, share=access.tally("writes"))
    admission = Admission(access, settings.deals_service, reads, writes, is_exempt=passes.made)
    router = deals_service.routes(
        DealsService(access.store.engine),
        admission,
        settings.deadline_seconds,
        with_packages=settings.legacy_packages,
    )
    sync = DealSync(access.store.engine, selling_side(settings))
    router.include_router(sync_service.routes(sync, admission, settings.deadline_seconds))
    return router
