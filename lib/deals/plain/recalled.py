"""The lists of a service that keeps none: what is remembered of it here, as the models of an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lib.deals.dialect import Dialect, Model
from lib.deals.models import DemandDeal, Dsp, Package, Resource, Seat, SupplyPackage
from lib.deals.plain import derived, listing, seats
from lib.deals.plain.memory import Body, Memory
from lib.deals.reading import Page
from lib.wire.errors import NotFound

REMEMBERED: tuple[type[Resource], ...] = (SupplyPackage, DemandDeal, Package)


@dataclass(frozen=True)
class Recalled:
    """What is remembered, read as its service writes; `configured` are the seats of the settings."""

    memory: Memory
    dialect: Dialect
    configured: tuple[Seat, ...] = ()
    _kept: dict[type[Resource], tuple[int, list[Any]]] = field(default_factory=dict)

    def page(self, model: type[Resource], params: Mapping[str, Any]) -> Page[Any]:
        """Part of the list, as `Deals.list` gives it; page after page it is put together once."""
        newest = self.memory.newest()
        if self._kept.get(model, (None,))[0] != newest:
            self._kept[model] = (newest, self._all(model))
        return listing.page(model, self._kept[model][1], params)

    def one(self, model: type[Resource], entity_id: int) -> Any:
        """An entity as it was last known. NotFound for one that is not known here, or is gone."""
        if model in REMEMBERED:
            entry = self.memory.last(model, entity_id)
            if entry is not None and entry.action != "removed":
                return self.read(model, entry.body, entry.at)
        else:
            for found in self._all(model):
                if found.id == entity_id:
                    return found
        raise NotFound(f"Nothing is known here of {model.entity.replace('_', ' ')} {entity_id}")

    def read(self, model: type[Model], body: Body, since: datetime | None = None) -> Model:
        """The entity that a remembered body stands for; `since` is when it was known so."""
        found = self.dialect.read(model, body)
        found._raw, found._as_of = body, since
        return self.completed(found)

    def completed(self, found: Model) -> Model:
        """With the status and the seat's name, where the service does not tell them."""
        now = datetime.now(UTC)
        if isinstance(found, SupplyPackage):
            return found.model_copy(update={"status": derived.of_package(found, now)})
        if isinstance(found, DemandDeal):
            return self._deal(found, self._linked(found), now)  # type: ignore[return-value]
        return found

    def _all(self, model: type[Resource]) -> list[Any]:
        if model is SupplyPackage:
            return self._packages()
        if model is DemandDeal:
            return self._deals()
        if model is Package:
            return [self.dialect.read(Package, entry.body) for entry in self.memory.known(Package)]
        if model not in (Seat, Dsp):
            return []
        known = seats.together(self.configured, self._deals())
        return [*(known if model is Seat else seats.dsps(known.values())).values()]

    def _packages(self) -> list[SupplyPackage]:
        now = datetime.now(UTC)
        found = [self.dialect.read(SupplyPackage, one.body) for one in self.memory.known(SupplyPackage)]
        return [one.model_copy(update={"status": derived.of_package(one, now)}) for one in found]

    def _deals(self) -> list[DemandDeal]:
        packages = {one.id: one for one in self._packages() if one.id is not None}
        now = datetime.now(UTC)
        read = [self.dialect.read(DemandDeal, entry.body) for entry in self.memory.known(DemandDeal)]
        return [self._deal(one, packages, now) for one in read]

    def _linked(self, deal: DemandDeal) -> dict[int, SupplyPackage]:
        """The packages of a deal, as far as they are known here."""
        ids = [one.id for one in deal.supply_deals if one.id is not None]
        entries = [entry for one in ids if (entry := self.memory.last(SupplyPackage, one)) is not None]
        return {entry.entity_id: self.dialect.read(SupplyPackage, entry.body) for entry in entries}

    def _deal(self, deal: DemandDeal, packages: Mapping[int, SupplyPackage], now: datetime) -> DemandDeal:
        configured = {seat.id: seat for seat in self.configured}
        seat = deal.seat
        if seat is not None and seat.id in configured:
            told = {name: getattr(seat, name) for name in ("name", "dsp") if getattr(seat, name) is not None}
            seat = configured[seat.id].model_copy(update=told)
        return deal.model_copy(update={"seat": seat, "status": derived.of_deal(deal, packages, now)})
