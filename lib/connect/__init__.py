"""Makes the clients of a person from the settings; the only folder that knows embedded from remote."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from sqlalchemy import make_url

from lib import private
from lib.connect.clients import Clients
from lib.connect.embedded import EmbeddedReporting
from lib.connect.opening import Installation, installation
from lib.connect.reports import Reports
from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.healths import HealthStore
from lib.deals.package_records import Drafts, PackageNotes, PackageQuestions
from lib.people import Person
from lib.reporting.client import ONCE, Reporting
from lib.settings import Settings
from lib.views import ViewStore
from lib.views.scope import Scope
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured

__all__ = ["Clients", "Installation", "Reports", "connect", "installation", "one_desk", "startup_warnings"]
SLICER_SECONDS = 60


def connect(
    person: Person, settings: Settings, session_id: str = "", within: Deadline | None = None
) -> Clients:
    """The clients of this person: each over the embedded service or a remote one.

    Queries of the session `session_id` stop when its tab is closed, and all of them when `within` ends.

    Embedded services get a token of this person. Remote services get the desk's own token, so permissions
    are checked here.
    """
    resources = installation(settings)
    return Clients(
        _reporting(resources, person, session_id, within),
        partial(_deals, resources, person),
        tuple(pair for pair in _slicers(resources) if person.may_see(*pair)),
        Drafts(resources.access.store.engine, settings.curate_url, person),
        PackageQuestions(resources.access.store.engine, settings.curate_url, settings.base_url, person),
        PackageNotes(resources.access.store.engine, settings.curate_url, person),
        BulkActions(resources.access.store.engine, settings.curate_url, person),
        ViewStore(Scope(resources.access.store.engine, settings.base_url, person), settings.curate_url),
        None if settings.curate_url else HealthStore(resources.access.store.engine),
        settings.base_url,
        settings.curate_url,
        0 if resources.lines.reporting is None else SLICER_SECONDS,
        settings.price_currency,
        settings.price_unit,
        {"price_type": settings.price_type},
    )


@contextmanager
def one_desk(settings: Settings) -> Iterator[None]:
    """Lock this data directory, and restrict its files; Misconfigured if another desk runs over it.

    Desks with a database of PostgreSQL share a data directory with each other. The command line and `tranche
    serve` may work beside a desk.
    """
    is_shared = make_url(settings.database_url).get_backend_name() == "postgresql"
    with private.process_lock(settings.home / "desk.lock", shared=is_shared) as other:
        if other:
            whose = f" (process {other})" if other > 0 else ""
            raise Misconfigured(
                f"A desk is running over {settings.home} already{whose}: stop it, or give this one a home of "
                "its own by TRANCHE_HOME. Only desks over PostgreSQL (database_url) can share one"
            )
        private.close(settings.home)
        yield


def startup_warnings(settings: Settings) -> Iterator[str]:
    """Sentences for whoever starts the desk: who can't sign in, and what a setting leaves open."""
    if names := installation(settings).people.locked():
        yield (
            f"Demo mode is off, and {', '.join(names)} can't sign in or use tokens: everybody knows their "
            "password. Give each another (tranche user password NAME) or remove them (tranche user remove "
            "NAME)."
        )
    if settings.origins and not settings.trusted_proxies:
        yield (
            "origins is set and trusted_proxies is empty: if people come through a proxy, all seem to come "
            "from its address. Wrong passwords of one then slow down the others, and the audit log has the "
            "proxy's address. Set trusted_proxies to the address of the proxy."
        )


def _reporting(
    installation: Installation, person: Person, session_id: str, within: Deadline | None
) -> Reporting:
    line = installation.lines.reporting
    patience = replace(ONCE if line is None else line.patience, session=session_id, within=within)
    if line is None:
        token = installation.passes.of(person, "reporting")
        service, meter = installation.reporting, installation.meter
        return EmbeddedReporting(installation.http, token, patience, service, meter)
    return Reporting(line.http, line.credential, patience)


def _deals(installation: Installation, person: Person) -> Deals:
    elsewhere = installation.lines.deals
    return (
        Deals(installation.http, installation.passes.of(person, "deals"), ONCE)
        if elsewhere is None
        else elsewhere.of(person)
    )


def _slicers(installation: Installation) -> Iterable[tuple[str, str]]:
    """All slicers; of a remote service, those that the settings name."""
    if installation.lines.reporting is None:
        return installation.warehouse.slicers()
    return (
        (project, name) for project, _, name in (one.partition("/") for one in installation.settings.slicers)
    )
