"""The lists of a service without lists, from the journal."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lib.deals.codec import Codec, Model
from lib.deals.compat import derived, listing, seats
from lib.deals.compat.memory import Body, Memory
from lib.deals.models import DemandDeal, Dsp, Package, Resource, Seat, SupplyPackage
from lib.deals.reading import Page
from lib.wire.errors import NotFound

LINKED: tuple[type[Resource], ...] = (SupplyPackage, DemandDeal)
REMEMBERED: tuple[type[Resource], ...] = (SupplyPackage, DemandDeal, Package)


@dataclass(frozen=True)
class Recalled:
    """The entities in the journal, in the format of their service; `configured`: seats in the settings."""

    memory: Memory
    codec: Codec
    configured: tuple[Seat, ...] = ()
    _kept: dict[type[Resource], tuple[int, list[Any]]] = field(default_factory=dict)

    def page(self, model: type[Resource], params: Mapping[str, Any]) -> Page[Any]:
        """Part of the list, as `Deals.list` gives it."""
        linked = self._links() if model in LINKED else listing.alone
        return listing.page(model, self._everything(model), params, linked)

    def _everything(self, model: type[Resource]) -> list[Any]:
        """All known entities of a kind, built once for all pages."""
        newest = self.memory.newest()
        if self._kept.get(model, (None,))[0] != newest:
            self._kept[model] = (newest, self._all(model))
        return self._kept[model][1]

    def _links(self) -> listing.Linked:
        """Links between packages and deals, as far as known here; either may name the other."""
        packages: dict[int, SupplyPackage] = {one.id: one for one in self._everything(SupplyPackage)}
        deals: dict[int, DemandDeal] = {one.id: one for one in self._everything(DemandDeal)}
        pairs = {(of.id, deal) for deal, one in deals.items() for of in one.supply_deals}
        pairs |= {(package, one.id) for package, found in packages.items() for one in found.demand_deals}
        of_package: dict[int | None, list[Resource]] = defaultdict(list)
        of_deal: dict[int | None, list[Resource]] = defaultdict(list)
        for package, deal in sorted(
            (one for one in pairs if one[0] in packages and one[1] in deals), key=str
        ):
            of_package[package].append(deals[deal])
            of_deal[deal].append(packages[package or 0])
        return lambda one: (of_package if isinstance(one, SupplyPackage) else of_deal).get(one.id, ())

    def one(self, model: type[Resource], entity_id: int) -> Any:
        """An entity's last known state. NotFound if it is unknown or deleted."""
        if model in REMEMBERED:
            entry = self.memory.last(model, entity_id)
            if entry is not None and entry.action != "removed":
                return self.read(model, entry.body, entry.at)
        else:
            for found in self._all(model):
                if found.id == entity_id:
                    return found
        raise NotFound(f"Tranche has no record of {model.entity.replace('_', ' ')} {entity_id}")

    def read(self, model: type[Model], body: Body, since: datetime | None = None) -> Model:
        """The entity that a remembered body stands for; `since` is when it was known so."""
        found = self.codec.read(model, body)
        return self.completed(found.known_as(raw=body, as_of=since))

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
            return [self.codec.read(Package, entry.body) for entry in self.memory.known(Package)]
        if model not in (Seat, Dsp):
            return []
        known = seats.together(self.configured, self._deals())
        return [*(known if model is Seat else seats.dsps(known.values())).values()]

    def _packages(self) -> list[SupplyPackage]:
        now = datetime.now(UTC)
        found = [self.codec.read(SupplyPackage, one.body) for one in self.memory.known(SupplyPackage)]
        return [one.model_copy(update={"status": derived.of_package(one, now)}) for one in found]

    def _deals(self) -> list[DemandDeal]:
        packages = {one.id: one for one in self._packages() if one.id is not None}
        now = datetime.now(UTC)
        read = [self.codec.read(DemandDeal, entry.body) for entry in self.memory.known(DemandDeal)]
        return [self._deal(one, packages, now) for one in read]

    def _linked(self, deal: DemandDeal) -> dict[int, SupplyPackage]:
        """The packages of a deal, as far as they are known here."""
        ids = [one.id for one in deal.supply_deals if one.id is not None]
        entries = [entry for one in ids if (entry := self.memory.last(SupplyPackage, one)) is not None]
        return {entry.entity_id: self.codec.read(SupplyPackage, entry.body) for entry in entries}

    def _deal(self, deal: DemandDeal, packages: Mapping[int, SupplyPackage], now: datetime) -> DemandDeal:
        configured = {seat.id: seat for seat in self.configured}
        seat = deal.seat
        if seat is not None and seat.id in configured:
            told = {name: getattr(seat, name) for name in ("name", "dsp") if getattr(seat, name) is not None}
            seat = configured[seat.id].model_copy(update=told)
        return deal.model_copy(update={"seat": seat, "status": derived.of_deal(deal, packages, now)})
