"""The client for services with only the specification's four calls: lists from the journal, own status.

It creates packages, reads and changes a demand deal of which the id is known, and lists nothing: what the
desk has made or seen there is remembered here (memory.py), and listed from here.

The status of packages and deals of services that don't return it is by the rules of our own service
(store/status.py; tests/deals/test_status.py holds the two together). Without is_active it is unknown.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lib.deals.abilities import PLAIN, Abilities
from lib.deals.client import Changes, Deals, Entity, model_of, to_json
from lib.deals.compat import listing, memory
from lib.deals.compat.memory import Body, Event, Memory
from lib.deals.models import DemandDeal, Dsp, Package, Resource, Seat, Status, SupplyPackage
from lib.deals.reading import Codec, Model, Page
from lib.wire.errors import (
    BadRequest,
    DeadlineExceeded,
    InternalError,
    Invalid,
    MalformedResponse,
    NotFound,
    ServiceProblem,
    TooLarge,
    TrancheError,
    Unreadable,
    Unsupported,
)

JOURNAL_MODELS: tuple[type[Resource], ...] = (SupplyPackage, DemandDeal, Package)
LINKED_MODELS: tuple[type[Resource], ...] = (SupplyPackage, DemandDeal)
"""The models that name each other, and that a service shows by their id."""
REFUSALS = (NotFound, Invalid, BadRequest, Unreadable)
log = logging.getLogger(__name__)


def package_status(package: SupplyPackage, now: datetime) -> str | None:
    """The status that the service returns, or else the one by its dates."""
    if package.status is not None or package.is_active is None:
        return package.status
    if package.end_date is not None and package.end_date <= now:
        return "complete"
    if not package.is_active:
        return "paused"
    return "pending" if package.start_date is None or package.start_date > now else "active"


BY_RANK: tuple[Status, ...] = ("active", "pending", "paused", "complete")


def deal_status(deal: DemandDeal, packages: Mapping[int, SupplyPackage], now: datetime) -> str | None:
    """The status that the service returns, or else the one by its known packages (by id)."""
    if deal.status is not None or deal.is_active is None:
        return deal.status
    mine = [packages.get(package.id or 0, package) for package in deal.supply_deals]
    statuses = [status for package in mine if (status := package_status(package, now)) in BY_RANK]
    furthest = min(statuses, key=lambda status: [*BY_RANK].index(status), default="pending")
    return "paused" if not deal.is_active and furthest != "complete" else furthest


@dataclass(frozen=True)
class Journal:
    """The entities in the journal, in the format of their service; `seats`: seats in the settings."""

    memory: Memory
    codec: Codec
    seats: tuple[Seat, ...] = ()
    _cache: dict[type[Resource], tuple[int, list[Any]]] = field(default_factory=dict)

    def page(self, model: type[Resource], params: Mapping[str, Any]) -> Page[Any]:
        """Part of the list, as `Deals.list` gives it."""
        links = self._links() if model in LINKED_MODELS else listing.no_links
        return listing.page(model, self._everything(model), params, links)

    def _everything(self, model: type[Resource]) -> list[Any]:
        """All known entities of a kind, built once for all pages."""
        newest = self.memory.newest()
        if self._cache.get(model, (None,))[0] != newest:
            self._cache[model] = (newest, self._all(model))
        return self._cache[model][1]

    def _links(self) -> listing.Links:
        """Links between packages and deals, as far as known here; either may name the other."""
        packages: dict[int, SupplyPackage] = {
            package.id: package for package in self._everything(SupplyPackage)
        }
        deals: dict[int, DemandDeal] = {deal.id: deal for deal in self._everything(DemandDeal)}
        pairs = {(package.id, deal_id) for deal_id, deal in deals.items() for package in deal.supply_deals}
        pairs |= {
            (package_id, deal.id) for package_id, package in packages.items() for deal in package.demand_deals
        }
        of_package: dict[int | None, list[Resource]] = defaultdict(list)
        of_deal: dict[int | None, list[Resource]] = defaultdict(list)
        for package_id, deal_id in sorted(pairs, key=str):
            if package_id in packages and deal_id in deals:
                of_package[package_id].append(deals[deal_id])
                of_deal[deal_id].append(packages[package_id])
        return lambda resource: (of_package if isinstance(resource, SupplyPackage) else of_deal).get(
            resource.id, ()
        )

    def entity(self, model: type[Resource], entity_id: int) -> Any:
        """An entity's last known state. NotFound if it is unknown or deleted."""
        if model in JOURNAL_MODELS:
            entry = self.memory.last(model, entity_id)
            if entry is not None and entry.action != "removed":
                return self.read(model, entry.body, entry.at)
        else:
            for candidate in self._all(model):
                if candidate.id == entity_id:
                    return candidate
        raise NotFound(f"Tranche has no record of {model.entity.replace('_', ' ')} {entity_id}")

    def read(self, model: type[Model], body: Body, since: datetime | None = None) -> Model:
        """The entity that a remembered body stands for; `since` is when it was known so."""
        resource = self.codec.read(model, body)
        return self.complete(resource.known_as(raw=body, as_of=since))

    def complete(self, model: Model, packages: Mapping[int, SupplyPackage] | None = None) -> Model:
        """With the status and the seat's name, where the service does not tell them.

        `packages` are those of a deal by id, where they are at hand.
        """
        now = datetime.now(UTC)
        if isinstance(model, SupplyPackage):
            return model.model_copy(update={"status": package_status(model, now)})
        if not isinstance(model, DemandDeal):
            return model
        if packages is None:
            entries = [
                self.memory.last(SupplyPackage, package.id) for package in model.supply_deals if package.id
            ]
            packages = {
                entry.entity_id: self.codec.read(SupplyPackage, entry.body)
                for entry in entries
                if entry is not None
            }
        seat = model.seat
        own = next((own for own in self.seats if seat is not None and own.id == seat.id), None)
        if seat is not None and own is not None:
            fields = {name: getattr(seat, name) for name in ("name", "dsp")}
            seat = own.model_copy(update={name: value for name, value in fields.items() if value is not None})
        return model.model_copy(update={"seat": seat, "status": deal_status(model, packages, now)})

    def _all(self, model: type[Resource]) -> list[Any]:
        if model in JOURNAL_MODELS:
            of_deals = self._all(SupplyPackage) if model is DemandDeal else []
            packages = {package.id: package for package in of_deals}
            resources = (self.codec.read(model, entry.body) for entry in self.memory.latest(model))
            return [self.complete(resource, packages) for resource in resources]
        if model not in (Seat, Dsp):
            return []
        seats_of_all = memory.all_seats(self.seats, self._all(DemandDeal))
        return [*(seats_of_all if model is Seat else memory.dsps(seats_of_all.values())).values()]


def finds(deals: Deals) -> bool:
    """Whether the service searches and counts its lists as our own does (Abilities.finds)."""
    page = _first_page(deals, counts="status")
    return page is not None and "status" in page.counts


def has_lists(deals: Deals) -> bool:
    """Whether the service lists its packages; raises an error if it can't be reached."""
    return _first_page(deals) is not None


def _first_page(deals: Deals, **params: Any) -> Page[SupplyPackage] | None:
    """A list of one package; None where the service refuses it."""
    try:
        return deals.list(SupplyPackage, limit=1, **params)
    except (MalformedResponse, TooLarge):
        raise
    except REFUSALS:
        return None


SECONDS_FOR_READING = 10.0


class PlainDeals(Deals):
    """A client with the verbs of `Deals`. Unsupported for features that the service lacks."""

    def __init__(
        self,
        memory: Memory,
        seats: Iterable[Seat],
        *service: Any,
        abilities: Abilities = PLAIN,
        **options: Any,
    ) -> None:
        """`seats` are those of the settings; `service` and `options` as `Deals` takes them."""
        super().__init__(*service, abilities=abilities, **options)
        self._memory = memory
        self._journal = Journal(memory, self._codec, tuple(seats))

    def get(self, entity: type[Resource] | str, entity_id: int) -> Any:
        """The current state; of a package that the service does not return, the last known one.

        NotFound for a deal that the service does not have any more, and for what was never seen here.
        """
        model = model_of(entity)
        if model not in LINKED_MODELS:
            return self._journal.entity(model, entity_id)
        try:
            resource = super().get(model, entity_id)
        except REFUSALS as error:
            entries = self._memory.entries(model, entity_id) if isinstance(error, NotFound) else []
            # A 404 for what the service has never returned means that it returns none of its kind.
            was_there = model is DemandDeal or any(entry.action == "seen" for entry in entries)
            if entries and was_there and entries[-1].action != "removed":
                self._note("removed", model, [entries[-1].body])
            if model is DemandDeal:
                raise
            return self._journal.entity(model, entity_id)
        self._note("seen", model, [resource.raw])
        return self._journal.complete(resource.known_as(etag=memory.digest(resource)))

    def list(self, entity: type[Resource] | str, **params: Any) -> Page[Any]:
        """A page of entities created or seen here, and of seats and DSPs in the settings."""
        return self._journal.page(model_of(entity), params)

    def create(
        self, entity: type[Resource] | str, model: Resource, idempotency_key: str | None = None
    ) -> Any:
        """As `Deals.create`. Records the new entity, with its deals as the service returns them."""
        kind, body = model_of(entity), self._codec.write(model.body())
        resource = self._create(kind, body, idempotency_key)
        fields = {name: part for name, part in body.items() if name != "create_demand_deals"}
        whole = {**fields, **resource.raw, "id": resource.id}
        self._note("created", kind, [whole])
        event: Event = "seen" if body.get("demand_deals") else "created"
        self._note(event, DemandDeal, self._deals_of(kind, whole))
        return self._journal.read(kind, whole)

    def change(
        self, entity: Entity[Any], entity_id: int, fields: Mapping[str, Any], if_match: str | None = None
    ) -> Sequence[str]:
        """As `Deals.change`, for a deal. Reads it before, so that nothing is overwritten unseen, and after.

        Unsupported, naming the fields, if the service says that it saved and did not.
        """
        model = model_of(entity)
        self.abilities.check("change", model.entity)
        before = super().get(model, entity_id)
        self._note("seen", model, [before.raw])
        if if_match not in (None, memory.digest(before)):
            raise memory.conflict(model, before, if_match, self._memory.entries(model, entity_id))
        body = self._codec.write(to_json(fields), before)
        doubt: Unreadable | None = None  # why the response leaves the result unknown
        warnings: Sequence[str] = ()
        try:
            warnings = self._change(model, entity_id, body, before.etag)
        except Unreadable as error:
            doubt = error
        try:
            after = super().get(model, entity_id)
        except TrancheError:
            if doubt is not None:
                raise doubt from None
            self._note("changed", model, [{**before.raw, **body}])
            return warnings
        self._note("changed" if memory.digest(after) != memory.digest(before) else "seen", model, [after.raw])
        resource = self._codec.read(model, {**before.raw, **body})
        if names := memory.unchanged_fields(body, before, resource, after):
            sentence = f"The service accepted the change, but left {', '.join(names)} as it was"
            raise doubt or Unsupported(sentence)
        return warnings

    def history(self, entity: Entity[Any], entity_id: int, **params: Any) -> Changes:
        """The changes recorded here, latest first."""
        entity_changes = self._memory.history(model_of(entity), entity_id)
        if not entity_changes:
            raise NotFound("Tranche has no record of it")
        return entity_changes

    def _deals_of(self, kind: type[Resource], whole: Body) -> Iterator[Body]:
        """The deals of a new entity, read one by one; a short note if that fails."""
        ends, answers = time.monotonic() + SECONDS_FOR_READING, True
        package = {"supply_deals": [{"id": whole["id"], "name": whole.get("name")}]}
        for deal in whole.get("demand_deals") or ():
            try:
                resource = self._codec.read(DemandDeal, deal)
            except Unreadable:
                continue
            if resource.id is None:
                continue
            brief = {**deal, **package} if kind is SupplyPackage else deal
            answers = answers and time.monotonic() < ends
            try:
                yield super().get(DemandDeal, resource.id).raw if answers else brief
            except TrancheError as error:
                answers = not isinstance(error, ServiceProblem | DeadlineExceeded)
                yield brief

    def _note(self, event: Event, model: type[Resource], bodies: Iterable[Body]) -> None:
        """Record it. A failure is only logged, as the service has made the change already."""
        try:
            self._memory.note(event, model, bodies)
        except (InternalError, DeadlineExceeded):
            log.exception("What the deals service did could not be stored")
