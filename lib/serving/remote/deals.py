"""A remote deals service: its format, its features, emulation of missing ones, visible seats.

Restricts a person to the deals of some seats, for services that only know the desk's token.

What is read there with the desk's token is cut here, by the rules of our own service (deals/store: work.py,
history.py), as far as the service shows what they need. Who made a package is known only where the desk
remembers what was made through it.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Engine

from lib.deals.abilities import PLAIN, Abilities
from lib.deals.client import Changes, Deals, Entity, model_of
from lib.deals.compat import Dialect, Memory, PlainDeals, finds, has_lists, listed, seats_of
from lib.deals.models import (
    AppList,
    CreateDemandDeals,
    DemandDeal,
    DomainList,
    Dsp,
    Resource,
    Seat,
    SupplyPackage,
)
from lib.deals.reading import Page
from lib.people import Person
from lib.people.person import READ_ONLY
from lib.serving.remote.lines import Line
from lib.settings import Settings
from lib.wire.errors import BadRequest, DeadlineExceeded, Forbidden, InUse, Invalid, NotFound, ServiceProblem

LISTS: tuple[type[Resource], ...] = (DomainList, AppList)
SECONDS = 15.0
ONE_BY_ONE = frozenset({"supply_deals", "demand_deals"})
OTHERS = "others that you can't see depend on it"
SHARED = "The supply package {} is sold to others too, so only its deals may be changed with your permissions"
LOOKS_AGAIN_SECONDS = 300.0
NEEDS_CONFIRMATION = (
    "Deals are read-only until an administrator has checked how this service writes targeting and fees "
    "(targeting_names, fee_types), and says so in the settings (deals_mapping_confirmed)"
)


class SomeSeats(Deals):
    """A caller of `deals` who may see the deals of these seats, and the packages of `own_ids`."""

    _takes_many = False

    def __init__(self, deals: Deals, seats: frozenset[int], own_ids: frozenset[int] = frozenset()) -> None:
        self._all, self._seats, self._own_ids = deals, seats, own_ids
        does = deals.abilities
        self.abilities = replace(
            does,
            creates=does.creates & (ONE_BY_ONE | {model.entity for model in LISTS}),
            changes=does.changes & ONE_BY_ONE,
            removes=does.removes & ONE_BY_ONE,
            finds=True,
            syncs=False,
            is_own=False,  # no several at once: each is checked here by itself
            sees_all_seats=False,
        )
        self._cache: tuple[float, tuple[DemandDeal, ...]] = (float("-inf"), ())

    def get(self, entity: type[Resource] | str, entity_id: int) -> Any:
        """The entity, if it may be seen; NotFound otherwise."""
        model = model_of(entity)
        with suppress(NotFound):  # in the service's own words: hidden and missing must not differ
            resource = self._all.get(model, entity_id)
            if self._is_visible(resource):
                return self._redact(resource)
        raise NotFound(f"There is no {model.noun} {entity_id}")

    def list(self, entity: type[Resource] | str, **params: Any) -> Page[Any]:
        """As `Deals.list`, of visible entities: reads all of them, then searches, filters and sorts here."""
        model = model_of(entity)
        if model in LISTS:
            return self._all.list(model, **params)
        visible = [self._redact(resource) for resource in self._everything(model)]
        deals = {deal.id: deal for deal in self._deals()}

        def links(resource: Resource) -> Sequence[Resource]:
            if isinstance(resource, SupplyPackage):
                return [deals[deal.id] for deal in resource.demand_deals if deal.id in deals]
            return resource.supply_deals if isinstance(resource, DemandDeal) else ()

        return listed(model, visible, params, links)

    def create(
        self, entity: type[Resource] | str, model: Resource, idempotency_key: str | None = None
    ) -> Any:
        """As `Deals.create`, for own seats, and linked with visible entities only."""
        kind = model_of(entity)
        self.abilities.check("create", kind.entity)
        self._check(model.body())
        resource = self._all.create(kind, model, idempotency_key)
        self._forget()
        if isinstance(resource, SupplyPackage):
            self._own_ids |= {resource.id or 0}
        return self._redact(resource)

    def change(
        self, entity: Entity[Any], entity_id: int, fields: Mapping[str, Any], if_match: str | None = None
    ) -> Sequence[str]:
        """As `Deals.change`. Links to hidden deals are kept; Forbidden if other seats are affected."""
        model = model_of(entity)
        self.abilities.check("change", model.entity)
        self._all.change(model, entity_id, self._body(model, entity_id, fields), if_match)
        self._forget()
        return ()  # what the service warns of compares with deals that are hidden

    def add_deals(
        self, package_id: int, deals: CreateDemandDeals, idempotency_key: str, if_match: str | None = None
    ) -> None:
        """As `Deals.add_deals`, for own seats; Forbidden if the package is sold to others too."""
        self._body(SupplyPackage, package_id, {"create_demand_deals": deals.body()})
        self._all.add_deals(package_id, deals, idempotency_key, if_match)
        self._forget()

    def remove(self, entity: Entity[Any], entity_id: int, if_match: str | None = None) -> None:
        """As `Deals.remove`; InUse names visible deals only."""
        model = model_of(entity)
        self.abilities.check("delete", model.entity)
        current = self.get(model, entity_id)
        if model is SupplyPackage and self._hidden_deals(entity_id):
            own = [f"{deal.id} '{deal.name}'" for deal in current.demand_deals]
            raise InUse(f"The supply package {entity_id} can't be deleted: {', '.join([*own, OTHERS])}")
        self._all.remove(model, entity_id, if_match)
        self._forget()

    def history(self, entity: Entity[Any], entity_id: int, **params: Any) -> Changes:
        """As `Deals.history`, without hidden parts; of a deal, since it moved to its current seat."""
        model = model_of(entity)
        self.get(model, entity_id)
        changes = self._all.history(model, entity_id, **params)
        if model is DemandDeal:
            # The latest ones, back to the one that moved the deal from another seat.
            latest = []
            for change in changes:
                before = (change.before or {}).get("seat") or {}
                if before and before.get("id") not in self._seats:
                    break
                latest.append(change)
            return latest
        if model is not SupplyPackage:
            return changes
        ids = self._ids(DemandDeal)

        def redact(fields: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
            if not fields or "demand_deals" not in fields:
                return fields
            return {
                **fields,
                "demand_deals": [deal for deal in fields["demand_deals"] or () if deal["id"] in ids],
            }

        return [
            change.model_copy(update={"before": redact(change.before), "after": redact(change.after)})
            for change in changes
        ]

    def _body(self, model: type[Resource], entity_id: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a change that this caller may make, with the links that they can't see."""
        self.get(model, entity_id)
        self._check(fields)
        body = dict(fields)
        if model is SupplyPackage and (hidden_ids := self._hidden_deals(entity_id)):
            if fields.keys() - {"demand_deals"}:
                raise Forbidden(SHARED.format(entity_id))
            body["demand_deals"] = [*fields["demand_deals"], *({"id": deal_id} for deal_id in hidden_ids)]
        return body

    def _is_visible(self, resource: Resource) -> bool:
        if isinstance(resource, DemandDeal):
            return resource.seat is not None and resource.seat.id in self._seats
        if isinstance(resource, SupplyPackage):
            return resource.id in self._ids(SupplyPackage) or bool(self._own(resource))
        if isinstance(resource, Seat):
            return resource.id in self._seats
        if isinstance(resource, Dsp):
            return resource.id in {seat.dsp.id for seat in self._everything(Seat) if seat.dsp}
        return isinstance(resource, LISTS)

    def _redact(self, resource: Any) -> Any:
        if isinstance(resource, SupplyPackage):
            return resource.model_copy(update={"demand_deals": self._own(resource), "packages": ()})
        return resource

    def _own(self, package: SupplyPackage) -> tuple[Any, ...]:
        """Its visible deals, as far as the service includes them in the package."""
        ids = {deal.id for deal in self._deals()}
        return tuple(deal for deal in package.demand_deals if deal.id in ids)

    def _everything(self, model: type[Resource]) -> Sequence[Any]:
        if model is DemandDeal:
            return self._deals()
        if model is Dsp:
            dsps = {seat.dsp.id: seat.dsp for seat in self._everything(Seat) if seat.dsp}
            return [dsp for _, dsp in sorted(dsps.items(), key=str)]
        if model not in (Seat, SupplyPackage):
            return ()
        return [resource for resource in self._all.everything(model) if self._is_visible(resource)]

    def _deals(self) -> tuple[DemandDeal, ...]:
        """The deals of these seats, read again after some seconds and after a change."""
        at, deals = self._cache
        if time.monotonic() - at > SECONDS:
            try:
                # All deals if the service can't filter by seat.
                listed_deals = [*self._all.everything(DemandDeal, seat=sorted(self._seats))]
            except (Invalid, BadRequest):
                listed_deals = [*self._all.everything(DemandDeal)]
            deals = tuple(deal for deal in listed_deals if self._is_visible(deal))
            self._cache = (time.monotonic(), deals)
        return deals

    def _hidden_deals(self, package_id: int) -> Sequence[int]:
        whole: SupplyPackage = self._all.get(SupplyPackage, package_id)
        ids = {deal.id for deal in self._own(whole)}
        return [deal.id for deal in whole.demand_deals if deal.id is not None and deal.id not in ids]

    def _check(self, fields: Mapping[str, Any]) -> None:
        """Raise Invalid for a seat, a deal or a package that this caller can't see."""
        new_deals = fields.get("create_demand_deals") or {}
        options = [option.get("seat") for option in new_deals.get("demand_deals_options", ())]
        for seat in (*options, fields.get("seat")):
            if seat and seat["id"] not in self._seats:
                raise Invalid({"seat": {"id": [f"There is no seat {seat['id']}."]}})
        for field, model in (("demand_deals", DemandDeal), ("supply_deals", SupplyPackage)):
            for reference in fields.get(field) or ():
                if reference["id"] not in self._ids(model):
                    raise Invalid({field: [f"There is no {model.noun} {reference['id']}."]})

    def _ids(self, model: type[Resource]) -> set[int | None]:
        if model is SupplyPackage:
            return {*self._own_ids, *(package.id for deal in self._deals() for package in deal.supply_deals)}
        return {deal.id for deal in self._deals()}

    def _forget(self) -> None:
        self._cache = (float("-inf"), ())


class RemoteDeals:
    """The deals service at `curate_url`: a client for each person, all over one line.

    The service knows the desk's token and not the person, so what a person may do is checked here.
    """

    def __init__(self, settings: Settings, line: Line, engine: Engine) -> None:
        self.line = line
        self._settings, self._engine = settings, engine
        self.dialect = Dialect.of(settings.remote.targeting_names, settings.remote.fee_types)
        self._service = line.http, line.credential, line.patience
        self._options: dict[str, Any] = {
            "header": settings.remote.token_header,
            "scheme": settings.remote.token_scheme,
            "codec": self.dialect,
            "honors_keys": settings.remote.deals_keys,
        }
        self._lock = threading.Lock()
        self._lists: bool | None = None
        self._finds = False
        self._looked_at = 0.0

    def of(self, person: Person) -> Deals:
        """This person's client. Checks from time to time whether the service has lists: ServiceProblem."""
        if not person.deals.reads:
            raise Forbidden("You have no access to deals; an administrator can grant it")
        memory = Memory(self._engine, self.line.address, person.username)
        # A service without lists is checked again after some minutes. While it does not answer, what is
        # remembered of it shows that it keeps none.
        with self._lock:
            lists, is_old = self._lists, time.monotonic() - self._looked_at > LOOKS_AGAIN_SECONDS
        if lists is None or (not lists and is_old):
            try:
                does_find = finds(self.client(Abilities()))
                lists = does_find or has_lists(self.client(Abilities()))
            except (ServiceProblem, DeadlineExceeded):
                if lists is None and not memory.newest():
                    raise
                lists = does_find = False
            with self._lock:
                self._lists, self._finds, self._looked_at = lists, does_find, time.monotonic()
        refuses = "" if self._settings.remote.deals_mapping_confirmed else NEEDS_CONFIRMATION
        refuses = refuses if person.deals.writes else READ_ONLY
        does = Abilities(finds=self._finds, syncs=self._finds) if lists else PLAIN
        does = replace(does, fees=self.dialect.fees, refuses=refuses, is_own=False)
        if lists:
            whole = self.client(does)
        else:
            seats = seats_of(self._settings.remote.seats)
            whole = PlainDeals(memory, seats, *self._service, **self._options, abilities=does)
        if person.deals.seats is None:
            return whole
        return SomeSeats(whole, person.deals.seats, memory.created_ids(SupplyPackage, person.added))

    def client(self, abilities: Abilities) -> Deals:
        """A client without a journal, as if the service had lists."""
        return Deals(*self._service, **self._options, abilities=abilities)
