"""The creation of packages and deals, by a file or a form, as a source of the plan of changes: all, or none.

The desk's own service creates several deals at once; the others are created one by one, a package before its
deals. What was created is deleted again if a later one is refused; if a request is left without an answer,
the plan goes on with the same keys, so that nothing is created twice.
"""

import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from lib.deals import fields
from lib.deals.bulk_actions import ActionRow
from lib.deals.client import Deals
from lib.deals.fields import TERMS
from lib.deals.models import (
    CreateDemandDeals,
    DealTerms,
    DemandDeal,
    DemandDealOption,
    PackageOrDeal,
    Seat,
    SupplyPackage,
    generated_name,
)
from lib.figures.deals.deal_names import seat_name
from lib.figures.error_text import is_open
from lib.ui.deals.changes.plan import ChangePlan, Outcome, PlannedChange, WholeSource, with_full_stop
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import PER_SEAT, Draft
from lib.wire.errors import Invalid, NotFound, TrancheError

log = logging.getLogger(__name__)
TOGETHER, FEW = 500, 20


@dataclass(frozen=True, kw_only=True)
class PlannedCreation(PlannedChange):
    """A package or deal to create for a line of a file or form; its key has the line, as there is no id yet.

    A deal has its seat, and its package, or the line of that in the same file. A form gives it a `title`.
    `deals` are those that the request of a package creates with it; `later_terms` what these have of their
    own by seat, where the service takes it only once they are there.
    """

    request: DemandDeal | SupplyPackage
    line: int
    seat: Seat | None = None
    package: SupplyPackage | None = None
    package_line: int | None = None
    title: str = ""
    deals: Sequence["PlannedCreation"] = ()
    later_terms: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, line: int, request: DemandDeal | SupplyPackage, **parts: Any) -> "PlannedCreation":
        """That of a line, with `parts` of it by name."""
        after = {name: getattr(request, name) for name in request.model_fields_set}
        key, name = (request.entity, -line), request.name or ""
        return cls(key=key, name=name, after=after, line=line, request=request, **parts)

    @property
    def label(self) -> str:
        """What it is called in questions: names may be alike, or not given."""
        return self.title or f"Line {self.line}"

    @property
    def is_package(self) -> bool:
        return isinstance(self.request, SupplyPackage)

    @property
    def new_package(self) -> SupplyPackage:
        """The request for a package. TypeError for that of a deal."""
        if not isinstance(self.request, SupplyPackage):
            raise TypeError(f"Line {self.line} is a deal")
        return self.request

    @property
    def deal(self) -> DemandDeal:
        """The request for a deal. TypeError for that of a package."""
        if not isinstance(self.request, DemandDeal):
            raise TypeError(f"Line {self.line} is a package")
        return self.request

    def model(self, packages: Mapping[int, int]) -> DemandDeal | SupplyPackage:
        """The request; `packages` are the ids of packages that were created, by their lines."""
        if self.package_line is None:
            return self.request
        links = (SupplyPackage(id=packages[self.package_line]),)
        return self.request.model_copy(update={"supply_deals": links})


@dataclass(kw_only=True)
class FormSource(WholeSource):
    """What a form asks for, which is known at once."""

    creations: Sequence[PlannedCreation]

    def read(self, client: Deals) -> list[PlannedChange]:
        self.is_over = True
        return [*self.creations]


@dataclass(kw_only=True)
class CreationPlan(ChangePlan[WholeSource]):
    """A plan that creates; `entities` are those created in the order of its changes, as far as it has come.

    `idempotency_key` begins the keys of its requests; a try after something was deleted has another. More
    than `few` deals are sent together. `error` is why the last try failed, `failed` at which. `gaps` are
    sentences on what was created and is not as it was asked for.
    """

    entities: list[PackageOrDeal] = field(default_factory=list)
    idempotency_key: str = field(default_factory=lambda: str(uuid.uuid4()))
    few: int = FEW
    error: TrancheError | None = None
    failed: PlannedCreation | None = None
    gaps: list[str] = field(default_factory=list)

    def finish(self, client: Deals) -> int:
        """Create all of it now, for a form whose questions are answered; returns the first id.

        Raises why it failed.
        """
        self.begin().read(client)
        self.start()
        while self.is_running:
            self.write(client)
        if self.error is not None:
            raise self.error
        return self.entities[0].id or 0

    def write(self, client: Deals) -> None:
        """Create the next ones, or delete the last one again."""
        if self.phase == "undoing":
            self._delete_last(client)
            return
        # Several deals whose packages are there, else one.
        rest = [change for change in self.to_send[:TOGETHER] if isinstance(change, PlannedCreation)]
        has_packages = all(creation.package is not None for creation in rest)
        are_together = client.abilities.is_own and has_packages and len(rest) > self.few
        creations = rest if are_together else rest[:1]
        # A package alone has the bare key: of a proposal, which may be approved elsewhere with the same one.
        is_alone = len(self.changes) == 1 and creations[0].is_package
        of_line = "" if is_alone else f"-{creations[0].key[0]}-{creations[0].line}"
        key = self.idempotency_key + of_line
        package_of_line = {
            -outcome.change.key[1]: entity.id
            for outcome, entity in zip(self.outcomes, self.entities, strict=True)
            if isinstance(entity, SupplyPackage) and entity.id
        }
        try:
            model = creations[0].model(package_of_line)
            entities: Sequence[PackageOrDeal] = (
                [client.create(model.entity, model, key)]
                if len(creations) == 1
                else client.create_all([creation.deal for creation in creations], key)
            )
        except TrancheError as error:
            self._stop_at(client, creations, error)
            return
        self.entities += entities
        self.outcomes += [Outcome(creation) for creation in creations]
        self.to_send = self.to_send[len(creations) :]
        pairs = zip(creations, entities, strict=True)
        action_rows = [row for creation, entity in pairs for row in _action_rows(creation, entity)]
        try:
            self.record.add(action_rows)
        except TrancheError as error:  # they stay, and can be deleted one by one
            count = len(action_rows)
            log.warning("%d that were created can't be undone together: %s", count, error.reason)
        if isinstance(package := entities[0], SupplyPackage) and creations[0].later_terms:
            self.gaps += _change_deals(client, package, creations[0])
        self.phase = self.phase if self.to_send else "done"

    def stop(self) -> None:
        """Create no more, and delete what was created. A callback."""
        if self.phase == "writing":
            self.phase, self.problem = "undoing", "Stopped."

    @property
    def verb(self) -> str:
        return {"reading": "lines checked", "undoing": "left to delete"}.get(self.phase, "created")

    def _stop_at(self, client: Deals, creations: Sequence[PlannedCreation], error: TrancheError) -> None:
        """Give up, or wait for a retry. Of several, the error tells which one is wrong."""
        self.error = error
        creation, reason = creations[0], error.reason
        if isinstance(error, Invalid) and (index := next(iter(error.fields), "")).isdecimal():
            creation, reason = creations[int(index)], Invalid(error.fields[index]).reason
        self.failed = creation
        self.problem = f"{creation.label}: {with_full_stop(reason)}"
        if not is_open(error):
            self.phase = "undoing"
        elif client.abilities.repeats:
            count = f"{len(self.entities):,} created; whether this one was is unknown."
            self.problem += f" {count} Retry to continue: nothing is created twice."
            self.phase = "preview"
        else:
            reason = f"{self.problem} It may have been created; the lines after it were not sent."
            self._end(creation, reason, is_unknown=True)

    def _delete_last(self, client: Deals) -> None:
        """Delete the last that was created; a next try starts over, with a key of its own."""
        if not self.entities:
            self.phase = "preview"
            self.problem += " Nothing was created."
            return
        entity, outcome = self.entities[-1], self.outcomes[-1]
        try:
            with suppress(NotFound):  # somebody else deleted it
                client.remove(entity.entity, entity.id or 0)
        except TrancheError as error:
            reason = error.sentence
            self._end(outcome.change, f"{self.problem} It could not be deleted again: {reason}")
            return
        # By the old key the service would answer that it is there. Where nothing was deleted the key stays: a
        # package that was created without an answer would be created twice.
        self.idempotency_key = str(uuid.uuid4())
        self.entities.pop()
        self.outcomes.pop()
        self._drop([(entity.entity, entity.id or 0)])

    def _end(self, change: PlannedChange, reason: str, is_unknown: bool = False) -> None:
        """End with some of it created, which has to be looked at by hand."""
        self.outcomes = [outcome for outcome in self.outcomes if outcome.change is not change]
        self.outcomes.append(Outcome(change, reason, is_unknown))
        self.phase, self.problem = "done", ""


def package_creation(draft: Draft, client: Deals, seats: Mapping[int, Seat]) -> PlannedCreation:
    """The package of a form with all of its deals, as one request.

    Another's service takes the same terms for all: there deals whose terms differ are changed afterwards.
    """
    package, terms = draft.package(), dict[int, dict[str, Any]]()
    new_deals = package.create_demand_deals
    deals = deal_creations(package, new_deals, seats) if new_deals is not None else []
    has_own_terms = any(terms_of_seat.own for terms_of_seat in draft.seats.values())
    if new_deals is not None and has_own_terms and not client.abilities.is_own:
        whole = {seat: draft.new_deals.of(seat) for seat in draft.seats}
        first = {**next(iter(whole.values())), "is_active": True}
        alike = {seat: replace(terms_of_seat, own={}) for seat, terms_of_seat in draft.seats.items()}
        package = replace(draft, seats=alike, terms={name: first[name] for name in TERMS}).package()
        for seat, of_seat in whole.items():
            own = {name: of_seat[name] for name in PER_SEAT if of_seat[name] != first[name]}
            terms |= {seat: inputs.terms_request(own)} if own else {}
    return PlannedCreation.of(1, package, title="The package", deals=deals, later_terms=terms)


def deal_creations(
    package: SupplyPackage, new_deals: CreateDemandDeals, seats: Mapping[int, Seat]
) -> list[PlannedCreation]:
    """The deals that `create_demand_deals` of this package asks for, each named as the service names it."""
    common = {name: getattr(new_deals, name, None) for name in DealTerms.model_fields}
    creations = []
    for line, option in enumerate(new_deals.demand_deals_options, start=1):
        seat = seats.get(option.seat.id) or Seat(id=option.seat.id)
        label = seat_name(seat, option.seat.id)
        own = {name: getattr(option, name, None) for name in DemandDealOption.model_fields if name != "seat"}
        terms = {**common, **{name: value for name, value in own.items() if value is not None}}
        request = DemandDeal.model_construct(
            name=generated_name(package.name or "", label), seat=Seat(id=option.seat.id),
            supply_deals=(SupplyPackage(id=package.id),),
            **{name: value for name, value in terms.items() if value is not None},
        )  # fmt: skip
        creations.append(PlannedCreation.of(line, request, seat=seat, package=package, title=label))
    return creations


def _change_deals(client: Deals, package: SupplyPackage, creation: PlannedCreation) -> Iterator[str]:
    """Give the deals of a new package the terms of their own; a sentence for each where that failed."""
    waiting = dict(creation.later_terms)
    for link in package.demand_deals:
        try:
            deal = client.get(DemandDeal, link.id)
            terms = waiting.pop(deal.seat.id, None) if deal.seat and deal.seat.id is not None else None
            if terms is not None:
                client.change(DemandDeal, link.id, terms)
        except TrancheError as error:
            yield f"Deal {link.id} has the terms of the first seat: {error.reason.rstrip('.')}"
    names = {deal.seat.id: deal.title for deal in creation.deals if deal.seat is not None}
    for seat in waiting:
        yield f"The deal for {names.get(seat) or seat_name(None, seat)} may have the terms of the first seat"


def _action_rows(creation: PlannedCreation, entity: PackageOrDeal) -> Iterator[ActionRow]:
    """What Undo deletes: an entity, and the deals that were created with it.

    Where the fields that were asked for are others by now, Undo leaves the entity alone. A package that links
    older deals is not among it: a service deletes none that has deals.
    """
    has_old_deals = isinstance(entity, SupplyPackage) and entity.demand_deals and not creation.deals
    if not has_old_deals:
        key = entity.entity, entity.id or 0
        yield ActionRow(key, entity.name or creation.name, {}, _plain(creation))
    deal_of_name = {deal.name: deal for deal in creation.deals}
    for link in entity.demand_deals if isinstance(entity, SupplyPackage) and creation.deals else ():
        deal = deal_of_name.get(link.name or "")
        after = {"name": link.name} if deal is None else _plain(deal)
        yield ActionRow((fields.DEALS, link.id), link.name or f"Deal {link.id}", {}, after)


def _plain(creation: PlannedCreation) -> dict[str, Any]:
    names = fields.writable(creation.key[0])
    return {name: value for name, value in creation.after.items() if name in names and value is not None}
