"""How a proposal reaches the deals service: by a client of it, or by the service itself for its routes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from lib.deals.client import Deals, model_of, to_json
from lib.deals.proposals.models import Fields, Proposal, same
from lib.deals.service import DealsRequest, DealsService
from lib.wire.errors import Conflict

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
    def create(self, entity: str, fields: Fields, key: str) -> int:
        """Create an entity, once per idempotency key; returns its id."""

    @abstractmethod
    def change(self, key: tuple[str, int], fields: Fields, etag: str | None) -> None:
        """Change these fields; Conflict if there was a change since the ETag was read."""

    def apply(self, proposal: Proposal, overwrites: bool = False) -> int:
        """Create the package, or write the proposed fields over the present state; returns the entity's id.

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
        if fields:
            self.change((proposal.entity, proposal.entity_id), fields, etag)
        return proposal.entity_id


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

    def create(self, entity: str, fields: Fields, key: str) -> int:
        """The same, where the service honors keys."""
        model = model_of(entity)
        return int(self.deals.create(entity, model.model_validate(fields), key).id or 0)

    def change(self, key: tuple[str, int], fields: Fields, etag: str | None) -> None:
        """A partial update."""
        model = model_of(key[0]).model_validate(fields)
        self.deals.change(*key, {name: getattr(model, name) for name in fields}, etag)


@dataclass(frozen=True)
class ServiceWriter(ProposalWriter):
    """Over our own service, for the caller and within the deadline of a request without a body."""

    deals: DealsService
    request: DealsRequest

    def read(self, entity: str, entity_id: int) -> tuple[Fields, str | None]:
        """As GET returns it."""
        response = self.deals.get((entity, entity_id), self.request)
        return response.body, response.etag

    def create(self, entity: str, fields: Fields, key: str) -> int:
        """As POST does."""
        request = replace(self.request, body=fields, idempotency_key=key)
        return int(self.deals.create(entity, request).body["id"])

    def change(self, key: tuple[str, int], fields: Fields, etag: str | None) -> None:
        """As PUT does."""
        self.deals.change(key, replace(self.request, body=fields, if_match=etag))
