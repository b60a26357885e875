"""Makes the clients of a person from the settings; the only folder that knows embedded from remote.

`Reports` are for the desk's own work, in nobody's name; their results are for those who may see the slicer.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx

from lib.deals.abilities import Abilities
from lib.deals.bulk_actions import BulkActions
from lib.deals.buyer_counts import BuyerCounts
from lib.deals.client import Deals
from lib.deals.health_store import HealthStore
from lib.deals.negotiation import Negotiations
from lib.deals.package_records import Drafts, PackageNotes, PackageQuestions
from lib.deals.proposals.store import Proposals
from lib.deals.supply.store import SupplyFiles
from lib.deals.sync.push import pushing
from lib.people import Person
from lib.people.tokens.desk_tokens import NoToken
from lib.people.tokens.store import Caller
from lib.reporting.answers import Audience
from lib.reporting.client import ONCE, Answer, Download, FileQuery, Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.service import AuthorizedRequest
from lib.serving.connect import own_metrics
from lib.serving.connect.embedded import EmbeddedReporting
from lib.serving.connect.opening import Installation, installation, note_event
from lib.settings import Settings
from lib.slicers.models import Slicer
from lib.views import ViewStore
from lib.views.entries import Scope
from lib.wire import private
from lib.wire.call import Credential, Patience
from lib.wire.deadline import Deadline
from lib.wire.errors import LIMITED, AccessError, Misconfigured, TrancheError

log = logging.getLogger(__name__)
WHO, SLOW_MINUTES = "tranche", 15
__all__ = [
    "Clients",
    "Installation",
    "Reports",
    "connect",
    "deal_pushes",
    "installation",
    "of_tokens",
    "one_desk",
    "startup_warnings",
]


class Reports:
    """The slicers of the desk's reporting service, embedded or remote."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        line = installation.lines.reporting
        self._remote = None if line is None else Reporting(line.http, line.credential, line.patience)

    def slicers(self) -> list[tuple[str, str]]:
        """Project and name of each."""
        return sorted(_slicers(self._installation))

    def info(self, project: str, slicer: str) -> Slicer:
        """The slicer. Raises why it can't be read."""
        if self._remote is None:
            return self._installation.warehouse.open(project, slicer).info()
        return self._remote.info(InfoQuery(project_name=project, slicer_name=slicer))

    def version(self, project: str, slicer: str) -> str:
        """A text that differs once the data do; of a remote service, every quarter of an hour."""
        if self._remote is None:
            return self._installation.warehouse.open(project, slicer).version
        return str(int(datetime.now(UTC).timestamp() // (60 * SLOW_MINUTES)))

    @property
    def is_remote(self) -> bool:
        return self._remote is not None

    def is_quick(self, project: str, slicer: str) -> bool:
        """Whether answers about the slicer are computed in this process, in milliseconds."""
        if self._remote is not None:
            return False
        return self._installation.warehouse.open(project, slicer).definition.source is None

    def audience(self, query: AudienceQuery, slicer: Slicer) -> Audience:
        """The answer, within the deadline of any question."""
        if self._remote is not None:
            return self._remote.audience(query, slicer)
        service = self._installation.reporting
        stored_slicer = self._installation.warehouse.open(query.project_name, query.slicer_name)
        return service.audience(AuthorizedRequest(WHO, stored_slicer, query, ()), service.deadline())


@dataclass(frozen=True)
class Clients:
    """The clients of one person: one per API, the slicers (project, name) that they may see, their draft.

    `healths` is the stored health of deals, None for a remote deals service, whose deals are not stored.
    `package_questions` are the questions that packages came from, `package_notes` their owners and notes,
    `bulk_actions` what can be undone, `proposals` changes to approve, `supply_files` who may sell what,
    `buyer_counts` what buyers entered, `negotiations` what they answered, `view_store` saved views and
    notes on dates: all in the desk's own database whatever service answers.
    `reporting_address` and `deals_address` say where a remote service is; empty for one of this process.
    What a slicer is may be kept for `slicer_seconds` before it is asked again. `price_unit` is that of
    prices, `usual_terms` what a term of deals means that is not set, by its field.
    """

    reporting: Reporting
    open_deals: Callable[[], Deals]
    slicers: tuple[tuple[str, str], ...]
    drafts: Drafts
    package_questions: PackageQuestions
    package_notes: PackageNotes
    bulk_actions: BulkActions
    proposals: Proposals
    supply_files: SupplyFiles
    view_store: ViewStore
    buyer_counts: BuyerCounts
    negotiations: Negotiations
    healths: HealthStore | None = None
    reporting_address: str = ""
    deals_address: str = ""
    slicer_seconds: float = 0
    price_unit: str = ""
    usual_terms: Mapping[str, str] = field(default_factory=dict)

    @property
    def currency(self) -> str:
        """That of the report, and of deals that have none of their own."""
        return self.usual_terms.get("currency", "")

    def with_own(self, slicer: Slicer, project: str, name: str) -> Slicer:
        """What the slicer is, with the person's own metrics among its data fields.

        Without those that don't fit it any more, and without any where the database fails (see the log).
        """
        try:
            metrics = self.view_store.metrics.of(project, name)
        except TrancheError as error:
            log.warning("Own metrics could not be read: %s", error.reason)
            return slicer
        fields = (own_metrics.field(metric, slicer) for metric in metrics)
        return slicer.with_own(field for field in fields if field is not None)

    @property
    def own(self) -> tuple[str, ...]:
        """The embedded APIs, for which tokens can be issued here."""
        return tuple(api for api in ("reporting", "deals") if api not in self.remote_addresses)

    @property
    def remote_addresses(self) -> dict[str, str]:
        """The remote APIs, and the address of each."""
        addresses = {"reporting": self.reporting_address, "deals": self.deals_address}
        return {api: address for api, address in addresses.items() if address}

    @property
    def deals(self) -> Deals:
        """The client of the deals API. Probes a remote service's features: ServiceProblem if that fails."""
        return self.open_deals()


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
    engine, service = resources.access.store.engine, settings.remote.curate_url
    note = partial(note_event, resources.access, person)
    questions = PackageQuestions(engine, service, settings.remote.base_url, person)
    line = resources.lines.reporting
    patience = replace(ONCE if line is None else line.patience, session=session_id, within=within)
    reporting: Reporting
    if line is None:
        token = resources.desk_tokens.of(person, "reporting")
        reporting = EmbeddedReporting(resources.http, token, patience, resources.reporting, resources.meter)
    else:
        reporting = LimitedReporting(line.http, line.credential, patience, person)
    return Clients(
        reporting=reporting,
        open_deals=partial(_deals, resources, person),
        slicers=tuple(pair for pair in _slicers(resources) if person.may_see(*pair)),
        drafts=Drafts(engine, service, person),
        package_questions=questions,
        package_notes=PackageNotes(engine, service, person),
        bulk_actions=BulkActions(engine, service, person),
        proposals=Proposals(
            engine,
            service,
            person,
            note=note,
            questions=questions,
            approves_own=settings.approve_own_proposals,
        ),
        supply_files=SupplyFiles(engine, person, note),
        view_store=ViewStore(Scope(engine, settings.remote.base_url, person), service, note),
        buyer_counts=BuyerCounts(engine, service),
        negotiations=Negotiations(engine, service),
        healths=None if service else HealthStore(engine),
        reporting_address=settings.remote.base_url,
        deals_address=service,
        slicer_seconds=0 if line is None else SLICER_SECONDS,
        price_unit=settings.price_unit,
        usual_terms=settings.usual_terms,
    )


def deal_pushes(settings: Settings) -> AbstractContextManager[None]:
    """Send deals to the DSPs of the settings in the background during the block."""
    return pushing(settings, lambda: installation(settings).access.store.engine)


def of_tokens(
    settings: Settings, reporting: Caller | None, deals: Caller | None
) -> tuple[Reporting, Deals, Callable[[], Sequence[tuple[str, str]]]]:
    """The clients of the embedded APIs for callers whose tokens were checked, and the slicers they may see.

    They open no more than these tokens. AccessError, once it is used, for the API whose token is missing.
    """
    resources = installation(settings)
    clients = EmbeddedReporting(
        resources.http, _within(resources, reporting, "reporting"), ONCE, resources.reporting, resources.meter
    )
    does = Abilities(sees_all_seats=deals is not None and deals.deals.seats is None)
    deals_client = Deals(resources.http, _within(resources, deals, "deals"), ONCE, abilities=does)
    if reporting is None:
        return clients, deals_client, NoToken("reporting").token
    pairs = sorted(pair for pair in resources.warehouse.slicers() if reporting.may_see(*pair))
    return clients, deals_client, lambda: pairs


@contextmanager
def one_desk(settings: Settings) -> Iterator[None]:
    """Lock this data directory, and restrict its files; Misconfigured if another desk runs over it.

    Desks with a database of PostgreSQL share a data directory with each other. The command line and `tranche
    serve` may work beside a desk.
    """
    is_shared = settings.database_url.startswith("postgresql")
    with private.process_lock(settings.home / "desk.lock", is_shared=is_shared) as other:
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
    if names := installation(settings).people.locked_names():
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


def _within(installation: Installation, caller: Caller | None, api: str) -> Credential:
    return NoToken(api) if caller is None else installation.desk_tokens.of(caller.person, api, caller.token)


def _deals(installation: Installation, person: Person) -> Deals:
    remote_deals = installation.lines.deals
    if remote_deals is not None:
        return remote_deals.of(person)
    does = Abilities(sees_all_seats=person.deals.seats is None)
    return Deals(installation.http, installation.desk_tokens.of(person, "deals"), ONCE, abilities=does)


def _slicers(installation: Installation) -> Iterable[tuple[str, str]]:
    """All slicers; of a remote service, those that the settings name."""
    if installation.lines.reporting is None:
        return installation.warehouse.slicers()
    return (
        (project, name)
        for project, _, name in (slicer.partition("/") for slicer in installation.settings.remote.slicers)
    )


class LimitedReporting(Reporting):
    """Refuses whatever is about a slicer of which the person may see only some rows.

    A remote service answers the desk, not the person, and tells days and numbers of records of all rows:
    until it can be asked for some rows alone, a grant with filters opens nothing there.
    """

    def __init__(
        self, http: httpx.Client, token: str | Credential, patience: Patience, person: Person
    ) -> None:
        super().__init__(http, token, patience)
        self._person = person

    def _request(
        self, verb: str, fields: Mapping[str, Any], accept: str, read: Callable[[httpx.Response], Answer]
    ) -> Answer:
        if "slicer_name" in fields:
            self._check(fields["project_name"], fields["slicer_name"])
        return super()._request(verb, fields, accept, read)

    def _file(self, verb: str, query: FileQuery) -> Download:
        self._check(query.project_name, query.slicer_name)
        return super()._file(verb, query)

    def _check(self, project: str, slicer: str) -> None:
        if self._person.row_filters(project, slicer):
            raise AccessError(
                f"{LIMITED} {project}/{slicer}, and the remote reporting service can't be asked for these "
                "alone. Ask an administrator"
            )
