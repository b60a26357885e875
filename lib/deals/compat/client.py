"""The client for services with only the four calls of the deals specification.

It creates packages, reads and changes a demand deal of which the id is known, and lists nothing: what the
desk has made or seen there is remembered here (memory.py), and listed from here.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lib.deals.abilities import PLAIN, Abilities
from lib.deals.client import Changes, Deals, Entity, model_of, sent
from lib.deals.codec import Model
from lib.deals.compat import states
from lib.deals.compat.memory import Body, Event, Memory
from lib.deals.compat.recalled import Recalled
from lib.deals.models import DemandDeal, Resource, Seat, SupplyPackage
from lib.deals.reading import Page
from lib.wire.errors import (
    BadRequest,
    DeadlineExceeded,
    Garbled,
    InternalError,
    Invalid,
    NotFound,
    ServiceProblem,
    TooLarge,
    TrancheError,
    Unreadable,
    Unsupported,
)

log = logging.getLogger(__name__)
READ_LIVE: tuple[type[Resource], ...] = (DemandDeal, SupplyPackage)
SECONDS_FOR_READING = 10.0
NOT_THERE = (NotFound, Invalid, BadRequest, Unreadable)
NO_ANSWER = (ServiceProblem, DeadlineExceeded)


def finds(deals: Deals) -> bool:
    """Whether the service searches and counts its lists as our own does (Abilities.finds)."""
    try:
        return "status" in deals.list(SupplyPackage, limit=1, counts="status").counts
    except (Garbled, TooLarge):
        raise
    except NOT_THERE:
        return False


def has_lists(deals: Deals) -> bool:
    """Whether the service lists its packages; raises an error if it can't be reached."""
    try:
        deals.list(SupplyPackage, limit=1)
    except (Garbled, TooLarge):
        raise
    except NOT_THERE:
        return False
    return True


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
        self._recalled = Recalled(memory, self._codec, tuple(seats))

    def get(self, entity: type[Resource] | str, entity_id: int) -> Any:
        """The current state; of a package that the service does not return, the last known one.

        NotFound for a deal that the service does not have any more, and for what was never seen here.
        """
        model = model_of(entity)
        if model not in READ_LIVE:
            return self._recalled.one(model, entity_id)
        try:
            found = super().get(model, entity_id)
        except NOT_THERE as error:
            if isinstance(error, NotFound) and self._was_there(model, entity_id):
                self._gone(model, entity_id)
            if model is DemandDeal:
                raise
            return self._recalled.one(model, entity_id)
        self._note("seen", model, [found.raw])
        return self._recalled.completed(found.known_as(etag=states.digest(found)))

    def list(self, entity: type[Resource] | str, **params: Any) -> Page[Any]:
        """A page of entities created or seen here, and of seats and DSPs in the settings."""
        return self._recalled.page(model_of(entity), params)

    def create(
        self, entity: type[Resource] | str, model: Resource, idempotency_key: str | None = None
    ) -> Any:
        """As `Deals.create`. Records the new entity, with its deals as the service returns them."""
        kind, body = model_of(entity), self._codec.write(model.sent())
        made = self._create(kind, body, idempotency_key)
        asked = {name: part for name, part in body.items() if name != "create_demand_deals"}
        whole = {**asked, **made.raw, "id": made.id}
        self._note("created", kind, [whole])
        event: Event = "seen" if body.get("demand_deals") else "created"
        self._note(event, DemandDeal, self._deals_of(kind, whole))
        return self._recalled.read(kind, whole)

    def change(
        self, entity: Entity[Any], entity_id: int, fields: Mapping[str, Any], if_match: str | None = None
    ) -> None:
        """As `Deals.change`, for a deal. Reads it before, so that nothing is overwritten unseen, and after.

        Unsupported, naming the fields, if the service says that it saved and did not.
        """
        model = model_of(entity)
        self.abilities.check("change", model.entity)
        before = super().get(model, entity_id)
        self._note("seen", model, [before.raw])
        if if_match not in (None, states.digest(before)):
            raise states.conflict(model, before, if_match, self._memory.entries(model, entity_id))
        body = self._codec.write(sent(fields), before)
        doubt: Unreadable | None = None
        try:
            self._change(model, entity_id, body, before.etag)
        except Unreadable as error:
            doubt = error
        self._look_after(model, before, body, doubt)

    def history(self, entity: Entity[Any], entity_id: int, **params: Any) -> Changes:
        """The changes recorded here, latest first."""
        found = self._memory.history(model_of(entity), entity_id)
        if not found:
            raise NotFound("Tranche has no record of it")
        return found

    def _look_after(
        self, model: type[Resource], before: Resource, body: Body, doubt: Unreadable | None
    ) -> None:
        """Record the result of a change. `doubt` is why the response leaves it unknown."""
        try:
            after = super().get(model, before.id or 0)
        except TrancheError:
            if doubt is not None:
                raise doubt from None
            self._note("changed", model, [{**before.raw, **body}])
            return
        self._note("changed" if states.digest(after) != states.digest(before) else "seen", model, [after.raw])
        asked = self._codec.read(model, {**before.raw, **body})
        if kept := states.kept(body, before, asked, after):
            raise doubt or Unsupported(
                f"The service accepted the change, but left {', '.join(kept)} as it was"
            )

    def _deals_of(self, kind: type[Resource], whole: Body) -> Iterator[Body]:
        """The deals of a new entity, read one by one; a short note if that fails."""
        ends, answers = time.monotonic() + SECONDS_FOR_READING, True
        for deal in whole.get("demand_deals") or ():
            try:
                known = self._codec.read(DemandDeal, deal)
            except Unreadable:
                continue
            if known.id is None:
                continue
            answers = answers and time.monotonic() < ends
            try:
                yield super().get(DemandDeal, known.id).raw if answers else self._in_brief(kind, whole, deal)
            except TrancheError as error:
                answers = not isinstance(error, NO_ANSWER)
                yield self._in_brief(kind, whole, deal)

    def _in_brief(self, kind: type[Resource], whole: Body, deal: Body) -> Body:
        of = {"id": whole["id"], "name": whole.get("name")}
        return {**deal, "supply_deals": [of]} if kind is SupplyPackage else deal

    def _was_there(self, model: type[Resource], entity_id: int) -> bool:
        """Whether the service has ever returned it; if not, a 404 means that it returns none of its kind."""
        entries = self._memory.entries(model, entity_id)
        return bool(entries) and (model is DemandDeal or any(one.action == "seen" for one in entries))

    def _gone(self, model: type[Model], entity_id: int) -> None:
        last = self._memory.last(model, entity_id)
        if last is not None and last.action != "removed":
            self._note("removed", model, [last.body])

    def _note(self, event: Event, model: type[Resource], bodies: Iterable[Body]) -> None:
        """Record it. A failure is only logged, as the service has made the change already."""
        try:
            self._memory.note(event, model, bodies)
        except (InternalError, DeadlineExceeded):
            log.exception("What the deals service did could not be stored")
