"""How a proposal reaches the deals service: by a client of it, or by the service itself for its routes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lib.deals.client import Deals, model_of, to_json
from lib.deals.proposals.models import Fields, Proposal, same
from lib.deals.service import DealsRequest, DealsService
from lib.wire.errors import Conflict

Written = tuple[int, Sequence[str]]
"""The id of the entity that was written, and the service's warnings about it."""
STALE = "Changed since it was proposed, so nothing was applied: {}"


class ProposalWriter(ABC):
    """The entities of a deals service, for one person: what they may not do is refused there.

    `repeats`: a creation may be asked for again with its key.
    """

    repeats: bool = True

    @abstractmethod
    def read(self, entity: str, entity_id: int) -> tuple[Fields, str | None]:
        """The entity as JSON, and its ETag. NotFound without it."""

    @abstractmethod
    def create(self, entity: str, fields: Fields, key: str) -> Written:
        """Create an entity, once per idempotency key."""

    @abstractmethod
    def change(self, key: tuple[str, int], fields: Fields, etag: str | None) -> Written:
        """Change these fields; Conflict if there was a change since the ETag was read."""

    def warnings(self, entity: str, entity_id: int | None, fields: Fields) -> Sequence[str]:
        """What is unwise in a write; nothing where a form has shown it already."""
        return ()

    def apply(self, proposal: Proposal, overwrites: bool = False) -> Written:
        """Create the package, or write the proposed fields over the present state.

        Fields that others changed stay as they are now. Conflict, naming them, for those that the proposal
        changes as well, unless it `overwrites` them. Fields that have their value already are not written.
        """
        if proposal.entity_id is None:
            return self.create(proposal.entity, proposal.fields, proposal.key)
        now, etag = self.read(proposal.entity, proposal.entity_id)
        conflicts = [drift.field for drift in proposal.drifts(now) if drift.is_conflict]
        if conflicts and not (overwrites or proposal.is_edited):
            raise Conflict(STALE.format(", ".join(conflicts)))
        fields = {
            name: value for name, value in proposal.fields.items() if not same(name, value, now.get(name))
        }
        key = proposal.entity, proposal.entity_id
        return self.change(key, fields, etag) if fields else (proposal.entity_id, ())


@dataclass(frozen=True)
class ClientWriter(ProposalWriter):
    """Over any service, by a client of it."""

    deals: Deals

    @property
    def repeats(self) -> bool:  # type: ignore[override]
        """Whether the service honors idempotency keys."""
        return self.deals.abilities.repeats

    def read(self, entity: str, entity_id: int) -> tuple[Fields, str | None]:
        """The entity in our own words, whatever the service's are."""
        resource = self.deals.get(entity, entity_id)
        return to_json(resource.model_dump(exclude_unset=True)), resource.etag

    def create(self, entity: str, fields: Fields, key: str) -> Written:
        """The same, where the service honors keys."""
        answer = self.deals.create(entity, model_of(entity).model_validate(fields), key)
        return int(answer.id or 0), getattr(answer, "warnings", ())

    def change(self, key: tuple[str, int], fields: Fields, etag: str | None) -> Written:
        """A partial update."""
        model = model_of(key[0]).model_validate(fields)
        return key[1], self.deals.change(*key, {name: getattr(model, name) for name in fields}, etag)


@dataclass(frozen=True)
class ServiceWriter(ProposalWriter):
    """Over our own service, for the caller and within the deadline of a request without a body."""

    deals: DealsService
    request: DealsRequest

    def read(self, entity: str, entity_id: int) -> tuple[Fields, str | None]:
        """As GET returns it."""
        response = self.deals.get((entity, entity_id), self.request)
        return response.body, response.etag

    def create(self, entity: str, fields: Fields, key: str) -> Written:
        """As POST does."""
        request = replace(self.request, body=fields, idempotency_key=key)
        body = self.deals.create(entity, request).body
        return int(body["id"]), body.get("warnings", ())

    def change(self, key: tuple[str, int], fields: Fields, etag: str | None) -> Written:
        """As PUT does."""
        response = self.deals.change(key, replace(self.request, body=fields, if_match=etag))
        return key[1], response.body.get("warnings", ())

    def warnings(self, entity: str, entity_id: int | None, fields: Fields) -> Sequence[str]:
        """As a dry run says; of a new deal with its seat."""
        sentences = dict[str, None]()
        for result in self.dry_run(entity, entity_id, fields):
            seat = (result["would"] or {}).get("seat") if result["place"] else None
            label = f"{seat['name']}: " if seat else ""
            sentences |= dict.fromkeys(label + warning["sentence"] for warning in result["warnings"])
        return [*sentences]

    def dry_run(self, entity: str, entity_id: int | None, fields: Fields) -> list[Fields]:
        """What the write would make, as `results` of a dry run."""
        request = replace(self.request, body=fields, is_dry_run=True)
        if entity_id is None:
            response = self.deals.create(entity, request)
        else:
            response = self.deals.change((entity, entity_id), request)
        results: list[Fields] = response.body["results"]
        return results
